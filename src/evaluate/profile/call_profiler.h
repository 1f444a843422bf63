// Counters of whatever one call launches, read in the process that makes it: for guests, whose calls are not ours.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "evaluate/counters.h"
#include "evaluate/isolate/observer.h"
#include "gpu/range_profiler.h"

namespace gemmsmith {

class CallProfiler {
 public:
  // Switches CUPTI's range profiler on, for as long as this lives; where it does not work the reason is kept. What
  // needs system calls that a guest gives up is done here. The GPU outlives it.
  explicit CallProfiler(Gpu& gpu);

  // Of all kernels that one `call` puts on the GPU's stream, combined. Calls it once for a capture, once to warm up and
  // once for each pass; every call must do the same work. What could not be read is absent and `lacks` says why. A
  // Status where the call failed.
  Result<Counters> Read(const std::function<Status()>& call);

 private:
  Result<std::vector<KernelReadings>> Profile(const std::function<Status()>& call);

  Gpu& gpu_;
  std::unique_ptr<RangeProfiler> cupti_;  // null where it does not work
  std::string why_no_cupti_;
};

// What is known of the kernels of a call by itself: of each what its launch tells and what the profiler read, either of
// which may be missing. Where both are there they must be of equally many kernels; else only the profiler is believed.
struct ObservedKernels {
  std::vector<Counters> launched, profiled;
  std::string why_not_launched, why_not_profiled;
};
Counters CountersOf(const ObservedKernels& kernels);

}  // namespace gemmsmith
