// Kernels of the same problem that a prompt shows.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "outcome/outcome.h"

namespace gemmsmith {

struct ShownKernel {
  std::string text;
  std::optional<OutcomeKind> kind;  // nullopt: it was not judged
  std::optional<double> time_ns;    // measured
};

// Behind the prompt each kernel stands under a line of its number, its verdict and its time.
std::string PromptShowing(const std::string& prompt, std::span<const ShownKernel> kernels);

}  // namespace gemmsmith
