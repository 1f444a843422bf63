#include "report/timed_plans.h"

#include <limits>

namespace gemmsmith {
namespace {

bool IsTimed(const Trial& trial, Clock clock) {
  if (!trial.HasPlan() || trial.outcome.kind != OutcomeKind::kMeasured) return false;
  const Timing* ours = trial.outcome.Find("ours", clock);
  return ours != nullptr && ours->median_ns > 0 && ours->median_ns < std::numeric_limits<double>::infinity();
}

}  // namespace

std::map<RecordKey, TrialsByPlan> TimedPlans(const std::vector<Trial>& trials, Clock clock,
                                             const std::function<bool(const Trial&)>& is_wanted) {
  std::map<RecordKey, TrialsByPlan> by_key;
  for (const Trial& trial : trials) {
    if (!IsTimed(trial, clock) || !is_wanted(trial)) continue;
    const Trial*& slot = by_key[{trial.gemm, trial.setting.device_key, trial.outcome.protocol}][trial.plan()];
    if (slot == nullptr || trial.unix_ms >= slot->unix_ms) slot = &trial;
  }
  return by_key;
}

double TimeNs(const Trial& trial, Clock clock) { return trial.outcome.Find("ours", clock)->median_ns; }

}  // namespace gemmsmith
