// Reads a candidate's counters: through CUPTI in this process where that works, else through Nsight Compute, which
// watches a process of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evaluate/candidate_call.h"
#include "evaluate/isolate/messages.h"
#include "gpu/range_profiler.h"
#include "outcome/counters.h"

namespace gemmsmith {

// A candidate that stands on the GPU.
struct ObservedCandidate {
  const SingleCall* call = nullptr;  // for an observer in another process
  Result<std::vector<KernelResidency>> kernels = std::vector<KernelResidency>();
  std::function<Status()> put;  // puts one call on the stream; every call does the same work
};

class CounterReader {
 public:
  // `program` is this very program, whose verb `once` Nsight Compute watches. The GPU outlives the reader.
  // Without `may_use_cupti` it is as if CUPTI did not work.
  CounterReader(Gpu& gpu, std::filesystem::path program, bool may_use_cupti = true);
  ~CounterReader();

  // "cupti", "ncu" or "". The first call asks the machine; later ones remember, and what failed since.
  std::string Observer();
  // One line on which observer there is and why not a better one.
  std::string Describe();

  // Never fails: what could not be read is absent and `lacks` says why. `still_waiting` is called about once a second
  // while another process works.
  Counters Read(const ObservedCandidate& candidate, const std::function<void()>& still_waiting);
  // Switches CUPTI off, after which nothing it does touches a kernel. Read() switches it on.
  void Rest();

 private:
  void Probe();
  Result<std::vector<Counters>> ReadThroughCupti(const ObservedCandidate& candidate);
  // Of one kernel.
  Result<Counters> ReadThroughNsightCompute(const ObservedCandidate& candidate,
                                            const std::function<void()>& still_waiting);

  Gpu& gpu_;
  const std::filesystem::path program_;
  const bool may_use_cupti_;
  bool is_probed_ = false, is_enabled_ = false;
  std::unique_ptr<RangeProfiler> cupti_;  // null where it does not work
  std::string why_no_cupti_;
  std::optional<std::filesystem::path> ncu_;
};

}  // namespace gemmsmith
