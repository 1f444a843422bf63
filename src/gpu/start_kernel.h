// Loads kernels and puts their launches on a stream. Has no context and no stream of its own: the context of the
// calling thread is used. The one launch path: what the judge measures starts as what programs call.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "gpu/driver.h"
#include "program/launch.h"

namespace gemmsmith {

// A loaded kernel. Raises its dynamic shared memory limit and allows non-portable clusters when needed.
class Kernel {
 public:
  Kernel() = default;
  static Result<Kernel> Load(const Driver& driver, std::span<const uint8_t> cubin, const std::string& entry,
                             uint32_t dynamic_smem_bytes, bool allows_large_clusters);
  Kernel(Kernel&& other) noexcept;
  Kernel& operator=(Kernel&& other) noexcept;
  ~Kernel();

  CUfunction function() const { return function_; }
  // The grid of a launch along x. Where it fills the GPU, that depends on how many CTAs are there at once: the driver
  // is asked once a kernel, because all its launches share block, cluster and memory.
  Result<uint32_t> GridFor(const Launch& launch, int multiprocessors) const;

 private:
  const Driver* driver_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  mutable int64_t ctas_at_once_ = 0;  // of launches that fill the GPU; 0: not asked yet
};

// The parameter block of one GEMM call: its tensor maps, then its GemmArguments. Bound to the addresses it was made
// for.
struct GemmParameters {
  // The driver copies as much as the kernel's parameter has, which is rounded up to its alignment.
  static constexpr size_t kBytes = (kMaxTensorMaps + 1) * kTensorMapBytes;
  alignas(kTensorMapBytes) std::array<std::byte, kBytes> bytes{};
};
Result<GemmParameters> ParametersFor(const Driver& driver, const Launch& launch, const GemmArguments& arguments);
// The same call with other operands.
Status ReplaceAddresses(const Driver& driver, const Launch& launch, const GemmArguments& arguments,
                        GemmParameters& parameters);

// Whether a launch may begin while the one before it still runs; only for kernels whose Launch is chainable.
enum class Chaining { kNone, kProgrammatic };

// CTAs of a launch that are resident at once on a GPU of so many multiprocessors. Asked with its cluster: 128 CTAs in
// clusters of 4 do not fit where 132 single ones do.
Result<int64_t> CtasAtOnce(const Driver& driver, CUfunction kernel, const Launch& launch, int multiprocessors);
// `grid_x` is what Kernel::GridFor() says.
CUresult StartOn(CUstream stream, const Driver& driver, CUfunction kernel, const Launch& launch, uint32_t grid_x,
                 void** arguments, Chaining chaining);

}  // namespace gemmsmith
