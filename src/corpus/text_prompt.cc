#include "corpus/text_prompt.h"

#include <fmt/format.h>

namespace gemmsmith {

std::string TextPrompt(const Gemm& gemm, const Device& device) {
  const auto& [m, n, k] = gemm.shape;
  return fmt::format("// m {} n {} k {} {} {} {}{}\n// {}, floor {:.2f} us\n", m, n, k, Name(gemm.kind.layout),
                     Name(gemm.kind.type), Name(gemm.kind.accumulation), gemm.kind.constant_b ? " constant_b" : "",
                     device.name, MakeTask(gemm).FloorNs(device) / 1e3);
}

}  // namespace gemmsmith
