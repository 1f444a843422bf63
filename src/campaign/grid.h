// Measures every plan of a list on every problem of a list. Makes the recorded spaces that replay answers from.
#pragma once

#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/measured_list.h"

namespace gemmsmith {

struct GridOptions {
  std::string name;            // campaign of the trials: the same name resumes
  std::vector<Gemm> problems;  // judged one after the other, so that the evaluator's session of a problem is reused
  std::vector<Plan> plans;
  Protocol protocol = Protocol::kScreen;
  ClockSet clocks = {Clock::kDeviceCold};
  // For the screen protocol alone: so many of the fastest of each problem race again, in the short protocol on both
  // clocks.
  int finalists = 0;
  bool counters = false;       // of each trial that passes; where there are finalists, of those alone
  bool skip_recorded = false;  // also cells that another campaign on this device has in the archive, in this protocol
  int compile_threads = 0;     // 0: all cores
  uint64_t seed = 0;
};

// Cells of one problem are judged in lists of what is compiled. A list is in the archive before the next exchange with
// the evaluator starts. Illegal plans are judged too: a record says where a space ends. InvalidArgument where trials
// under this name are of another device. A Status where a cell cannot be judged.
Result<MeasuredList> RunGrid(const GridOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive,
                             StopRule& stop, const OnMeasured& on_event);

}  // namespace gemmsmith
