// A call of a library that candidates race against: chosen, checked like a candidate, and ready to be raced.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "evaluate/time/device_clock.h"
#include "evaluate/time/ring.h"
#include "harness/operands.h"
#include "outcome/baseline_set.h"

namespace gemmsmith {

// The workspace that every baseline is offered.
inline constexpr uint64_t kBaselineWorkspaceBytes = uint64_t{64} << 20;

// Makes the call for operands that lie here.
using BindCall = std::function<Result<PutCall>(const CallAddresses& addresses)>;

struct Baseline {
  BaselineId id;
  std::string description;  // the algorithm and how many it was chosen from, or why the baseline is missing
  Layout layout = kTn;      // of the problem that it solves
  bool usable = false;      // it ran and its output was right
  double max_abs_error = 0;
  BindCall bind;
  // Its own, which it must leave zeroed after every call; null: the one that all libraries share.
  std::shared_ptr<const GuardedWorkspace> workspace;
  PutCall call;                                         // on the problem's own operands
  double call_ns = 0;                                   // roughly
  std::map<std::pair<Clock, Batch>, CallGraph> graphs;  // as far as they were needed
};

// The problem that a layout's baselines solve: the same shape, types and C; A and B as given where the problem itself
// stores them so, else packed.
Gemm BaselineGemm(const Gemm& gemm, const Layout& layout);

}  // namespace gemmsmith
