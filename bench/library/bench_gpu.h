// One GPU with memory for operands and the bench's kernels.
#pragma once

#include <memory>
#include <string>

#include "check_kernels.h"
#include "gpu/gpu.h"

namespace gemmsmith {

class BenchGpu {
 public:
  static Result<BenchGpu> Open();

  Gpu& gpu() const { return *gpu_; }
  // Words of 2 bytes, at any even address.
  Status Fill(CUdeviceptr memory, int64_t words, uint64_t seed, int type);
  Status FillF32(CUdeviceptr memory, int64_t count, uint64_t seed);
  // Both add to the report.
  Status Check(CheckArguments arguments);
  Status Untouched(UntouchedArguments arguments);
  // What was found since the last call.
  Result<CheckReport> TakeReport();
  const Kernel& nothing() const { return nothing_; }

 private:
  Status StartOver(const Kernel& kernel, int64_t items, void** arguments);
  std::unique_ptr<Gpu> gpu_;
  Kernel fill_, fill_f32_, check_, untouched_, nothing_;
  DeviceMemory report_;
};

}  // namespace gemmsmith
