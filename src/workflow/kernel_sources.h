// The kernel of a plan as files: the text that is compiled here, and one that stands alone.
#pragma once

#include <filesystem>
#include <string>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// "gemm_256x512x4096_tn_f16_h200": what its files are called.
std::string KernelFileStem(const Gemm& gemm, const Device& device);

struct KernelSources {
  std::string thin_path, standalone_path;  // empty where the plan is not legal on the device
  std::string not_written;                 // why
};

// Into files that are named by problem and device. A Status where they cannot be written.
Result<KernelSources> WriteKernelSources(const std::filesystem::path& folder, const Plan& plan, const Gemm& gemm,
                                         const Device& device);

}  // namespace gemmsmith
