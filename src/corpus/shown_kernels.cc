#include "corpus/shown_kernels.h"

#include <fmt/format.h>

#include <algorithm>

namespace gemmsmith {

namespace {

std::string VerdictText(const ShownKernel& kernel) {
  if (!kernel.kind) return "not judged";
  if (kernel.time_ns) return fmt::format("right, {:.2f} us", *kernel.time_ns / 1e3);
  std::string name(Name(*kernel.kind));
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

std::string PromptShowing(const std::string& prompt, std::span<const ShownKernel> kernels) {
  std::string text = prompt;
  for (size_t i = 0; i < kernels.size(); ++i)
    text += fmt::format("// kernel {}: {}\n{}{}", i + 1, VerdictText(kernels[i]), kernels[i].text,
                        kernels[i].text.ends_with('\n') ? "" : "\n");
  return text;
}

}  // namespace gemmsmith
