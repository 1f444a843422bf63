// The counterpart of a campaign that searches nothing: every plan of a list on every problem of a list. This makes the
// recorded spaces that replay answers from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/campaign.h"

namespace gemmsmith {

struct GridOptions {
  std::string name;            // campaign under which the trials are stored: the same name resumes
  std::vector<Gemm> problems;  // judged one after the other, so that the evaluator's session of a problem is reused
  std::vector<Plan> plans;
  Protocol protocol = Protocol::kScreen;
  ClockSet clocks = {Clock::kDevice};
  // Of each problem, the fastest that many of the screened are judged again, in one race: short protocol, both clocks.
  // For the screen protocol alone.
  int finalists = 0;
  bool counters = false;       // with each trial that passes; where there are finalists, with theirs alone
  bool skip_recorded = false;  // also cells that any campaign on this device has in the archive, in this protocol
  int compile_threads = 0;     // 0: all cores
  uint64_t seed = 0;
};

struct GridEvent {
  const Trial* trial = nullptr;  // just stored
  size_t done = 0;               // cells, skipped ones included
  size_t total = 0;
  size_t problem = 0;  // index in the list
  double seconds = 0;
};

struct GridResult {
  size_t total = 0;
  size_t judged = 0;                                    // of this call
  size_t skipped = 0;                                   // found in the archive
  std::vector<std::pair<OutcomeKind, int>> by_outcome;  // of this call
  std::string stop_reason;                              // empty: complete, with all finals
  double seconds = 0;
};

// Cells of one problem are judged in lists of what is compiled; a list is in the archive before the next exchange with
// the evaluator starts. Illegal plans are judged too: a record says where a space ends. InvalidArgument where trials
// of these problems that are stored under this name are of another device.
Result<GridResult> RunGrid(const GridOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive,
                           StopRule& stop, const std::function<void(const GridEvent&)>& on_event);

}  // namespace gemmsmith
