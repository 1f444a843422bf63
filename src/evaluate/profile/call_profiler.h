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
  // Switches CUPTI's range profiler on while this object lives; keeps the reason if that fails. Runs here all system
  // calls that a guest gives up later. The GPU outlives it.
  explicit CallProfiler(Gpu& gpu);

  // Combines the counters of all kernels that `call` puts on the GPU's stream. Calls it once for a capture, once to
  // warm up and once for each pass; every call must do the same work. A counter that could not be read is absent, and
  // `lacks` says why. Returns a Status if the call failed.
  Result<Counters> Read(const std::function<Status()>& call);

 private:
  Result<std::vector<KernelReadings>> Profile(const std::function<Status()>& call);

  Gpu& gpu_;
  std::unique_ptr<RangeProfiler> cupti_;  // null where it does not work
  std::string why_no_cupti_;
};

// Counters of a call's kernels from their launches and from the profiler's readings; either may be missing. If their
// numbers of kernels differ, only the profiler's readings count.
struct ObservedKernels {
  std::vector<Counters> launched, profiled;
  std::string why_not_launched, why_not_profiled;
};
Counters CountersOf(const ObservedKernels& kernels);

}  // namespace gemmsmith
