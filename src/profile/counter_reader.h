// Reads a candidate's counters: through CUPTI in this process where that works, else through Nsight Compute, which
// watches a process of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "outcome/counters.h"
#include "profile/range_profiler.h"
#include "profile/readings.h"

namespace gemmsmith {

// How a process of this program makes two calls of a kernel.
struct OtherProcess {
  std::string kernel;
  std::vector<std::string> arguments;
};

// A candidate that stands on the GPU.
struct ObservedCandidate {
  Result<std::vector<KernelResidency>> kernels = std::vector<KernelResidency>();
  std::function<Status()> put;  // puts one call on the stream; every call does the same work
  // For Nsight Compute. Writes the files that the process reads into `folder`.
  std::function<Result<OtherProcess>(const std::filesystem::path& folder)> in_other_process;
};

class CounterReader {
 public:
  // `program` is this very program, which Nsight Compute watches in another process. The GPU outlives the reader.
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
  // For one kernel.
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
