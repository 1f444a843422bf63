#include "ship/remeasured.h"

#include <fmt/format.h>

#include "ship/promotion.h"

namespace gemmsmith {

Remeasured Remeasure(const Catalogue& catalogue, std::span<const Trial> trials) {
  std::map<Gemm, const Trial*> last;
  for (const Trial& trial : trials) {
    if (!trial.HasPlan() || !IsThorough(trial.outcome.protocol) || trial.setting.device_key != catalogue.device_key())
      continue;
    const Entry* const entry = catalogue.Find(trial.gemm);
    if (entry == nullptr || entry->plan != trial.plan()) continue;
    const bool passed = trial.outcome.kind == OutcomeKind::kMeasured || trial.outcome.kind == OutcomeKind::kVerified;
    if (passed && !EntryOf(trial).ok()) continue;  // without its device time, or AutoTuning beside it
    const Trial*& known = last[trial.gemm];
    if (known == nullptr || known->unix_ms <= trial.unix_ms) known = &trial;
  }
  Remeasured remeasured{.entries = last.size()};
  for (const auto& [gemm, trial] : last) {
    const Result<Entry> now = EntryOf(*trial);
    if (!now.ok()) {
      remeasured.failures.emplace_back(gemm, fmt::format("{}: {}", Name(trial->outcome.kind), trial->outcome.reason));
      continue;
    }
    for (const ModeTime& time : now->times)
      if (const ModeTime* then = catalogue.Find(gemm)->Find(time.mode))
        remeasured.by_mode[time.mode].push_back({gemm, time.ns / then->ns, time.speed_up / then->speed_up});
  }
  return remeasured;
}

}  // namespace gemmsmith
