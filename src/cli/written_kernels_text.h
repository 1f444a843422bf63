// Tables of judged kernels that models wrote.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/judged_kernels.h"

namespace gemmsmith {

struct NamedKernels {
  std::string name;
  std::vector<JudgedKernel> kernels;
};

// A row each. `ratios` has each one's over the first; empty where there is one alone.
std::string WrittenKernelsText(std::span<const NamedKernels> all, std::span<const KernelRatio> ratios);

}  // namespace gemmsmith
