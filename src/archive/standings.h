// The best recorded kernel of each problem against cuBLASLt AutoTuning, by class of the paper's shapes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "archive/trial.h"
#include "problem/grids.h"

namespace gemmsmith {

// The measured problems of one layout and one class of paper1000, or off that grid. The speed-up of a problem is its
// fastest kernel's over the faster of AutoTuning's nn and tn: leading clock, paired samples of one run. The kernel is
// the one whose time beats the others' (RankedTime).
struct Standing {
  std::optional<ShapeClass> shape_class;  // nullopt: off the grid
  Layout layout;
  int problems = 0;
  double geometric_mean = 0;
  double minimum = 0;
  int wins = 0, losses = 0;              // the speed-up lies above 1, below 1
  int clear_wins = 0, clear_losses = 0;  // its whole 95 % interval does
  // Covers problems with kernels that were also timed in chains. It is the geometric mean of the faster AutoTuning's
  // plain time over the fastest kernel's time in a chain of overlapping calls. It is never part of the figures above.
  int chained_problems = 0;
  double chained_mean = 0;
};

// The ratio of a measured outcome to the AutoTuning variant that is hardest to beat on that clock, by default the
// leading one. Returns nullopt where none was measured.
std::optional<RatioEstimate> OverAutoTuning(const Outcome& outcome, Clock clock);
inline std::optional<RatioEstimate> OverAutoTuning(const Outcome& outcome) {
  return OverAutoTuning(outcome, outcome.LeadingClock());
}
// The same for our calls in chains: a plain ratio of medians, since the library's calls do not chain.
std::optional<double> ChainedOverAutoTuning(const Outcome& outcome);

// A time of ours among those of one problem that may come from several runs.
struct RankedTime {
  Clock clock = Clock::kDevice;
  Protocol protocol = Protocol::kScreen;
  double time_ns = 0;

  // Of a timed outcome, on its leading clock.
  static RankedTime Of(const Outcome& outcome) { return {outcome.LeadingClock(), outcome.protocol, outcome.TimeNs()}; }
  // The ring beats repeated calls, then the more careful protocol the less careful one, then the shorter time.
  bool Beats(const RankedTime& other) const;
};

// A problem and a plan for it.
struct PlannedGemm {
  Gemm gemm;
  Plan plan;
};

// The plan of one problem whose time beats the others'. Takes trials of timed plans only.
class BestPlan {
 public:
  explicit BestPlan(const Trial& trial);
  void Add(const Trial& trial);
  const Plan& plan() const { return plan_; }

 private:
  Plan plan_;
  RankedTime time_;
};

// The best plan of every problem.
class BestPlans {
 public:
  void Add(const Trial& trial);
  const Plan* Find(const Gemm& gemm) const;  // null where none was timed
  std::vector<PlannedGemm> All() const;
  size_t size() const { return best_.size(); }

 private:
  std::map<Gemm, BestPlan> best_;
};

// Off the grid first, then in the order of classes, nn before tn; f16 inputs only.
std::vector<Standing> StandingsOf(const std::vector<Trial>& trials);
// All classes of the grid together: one Standing for each layout, without a class.
std::vector<Standing> TotalsOf(const std::vector<Trial>& trials);

}  // namespace gemmsmith
