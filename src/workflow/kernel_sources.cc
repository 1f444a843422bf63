#include "workflow/kernel_sources.h"

#include <fmt/format.h>

#include "base/files.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {

std::string KernelFileStem(const Gemm& gemm, const Device& device) {
  return fmt::format("gemm_{}_{}_{}_{}", Print(gemm.shape), Name(gemm.kind.layout), PrintNumberTypes(gemm.kind),
                     device.key);
}

Result<KernelSources> WriteKernelSources(const std::filesystem::path& folder, const Plan& plan, const Gemm& gemm,
                                         const Device& device) {
  if (const std::vector<std::string> reasons = Check(plan, gemm, device); !reasons.empty())
    return KernelSources{.not_written = reasons.front()};
  const std::string stem = KernelFileStem(gemm, device);
  const std::filesystem::path thin = folder / (stem + ".cu"), standalone = folder / (stem + "_standalone.cu");
  RETURN_IF_ERROR(WriteFileAtomic(thin, Emit(plan, gemm).text));
  RETURN_IF_ERROR(WriteFileAtomic(standalone, EmitStandalone(plan, gemm)));
  return KernelSources{.thin_path = thin, .standalone_path = standalone};
}

}  // namespace gemmsmith
