// How the best recorded kernel of each problem stands against cuBLASLt AutoTuning, by class of the paper's shapes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "archive/trial.h"
#include "problem/grids.h"

namespace gemmsmith {

// Over the measured problems of one layout and one class of paper1000, or off that grid. The speed-up of a problem is
// that of its fastest kernel (among trials of the short protocol where there are any) over the faster of AutoTuning's
// nn and tn, device clock, paired samples of one run.
struct Standing {
  std::optional<ShapeClass> shape_class;  // nothing: off the grid
  Layout layout;
  int problems = 0;
  double geometric_mean = 0;
  double minimum = 0;
  int wins = 0, losses = 0;              // the speed-up lies above 1, below 1
  int clear_wins = 0, clear_losses = 0;  // so does its whole 95 % interval
  // Over the problems with kernels that were timed in chains too: geometric mean of the faster AutoTuning's device time
  // over that of the fastest of them in a chain of overlapping calls. A figure of its own, never part of those above.
  int chained_problems = 0;
  double chained_mean = 0;
};

// Of a measured outcome, against the AutoTuning variant that is hardest to beat on that clock; nothing where none was
// measured.
std::optional<RatioEstimate> OverAutoTuning(const Outcome& outcome, Clock clock = Clock::kDevice);
// The same of ours in chains: a plain ratio of medians, since the library's calls do not chain.
std::optional<double> ChainedOverAutoTuning(const Outcome& outcome);

// A problem and a plan for it.
struct PlannedGemm {
  Gemm gemm;
  Plan plan;
};

// Of one problem the plan that its most careful trials found fastest, device clock. Takes trials of timed plans only.
class BestPlan {
 public:
  explicit BestPlan(const Trial& trial);
  void Take(const Trial& trial);
  const Plan& plan() const { return plan_; }

 private:
  Plan plan_;
  Protocol protocol_;
  double time_ns_;
};

// The best plan of every problem.
class BestPlans {
 public:
  void Take(const Trial& trial);
  const Plan* Find(const Gemm& gemm) const;  // null where none was timed
  std::vector<PlannedGemm> All() const;
  size_t size() const { return best_.size(); }

 private:
  std::map<Gemm, BestPlan> best_;
};

// Off the grid first, then in the order of classes, nn before tn; f16 inputs only.
std::vector<Standing> StandingsOf(const std::vector<Trial>& trials);
// All classes of the grid together, one for each layout; without a class.
std::vector<Standing> TotalsOf(const std::vector<Trial>& trials);

}  // namespace gemmsmith
