#include "ship/remeasured.h"

#include <fmt/format.h>

#include "ship/promotion.h"

namespace gemmsmith {

namespace {

struct Last {
  const Trial* trial = nullptr;
  Result<Entry> entry = Unavailable("it did not pass");
};

}  // namespace

Remeasured Remeasure(const Catalogue& catalogue, std::span<const Trial> trials) {
  std::map<Gemm, Last> measured;
  for (const Trial& trial : trials) {
    if (!trial.HasPlan() || !IsThorough(trial.outcome.protocol) || trial.setting.device_key != catalogue.device_key())
      continue;
    const Entry* const entry = catalogue.Find(trial.gemm);
    if (entry == nullptr || entry->plan != trial.plan()) continue;
    const bool passed = trial.outcome.kind == OutcomeKind::kMeasured || trial.outcome.kind == OutcomeKind::kVerified;
    Result<Entry> now = EntryOf(trial);
    if (passed && !now.ok()) continue;  // without its device time, or AutoTuning beside it
    Last& last = measured[trial.gemm];
    if (last.trial == nullptr || last.trial->unix_ms <= trial.unix_ms) last = {&trial, std::move(now)};
  }
  Remeasured remeasured{.entries = measured.size()};
  for (const auto& [gemm, last] : measured) {
    if (!last.entry.ok()) {
      const Outcome& outcome = last.trial->outcome;
      remeasured.failures.emplace_back(gemm, fmt::format("{}: {}", Name(outcome.kind), outcome.reason));
      continue;
    }
    for (const ModeTime& time : last.entry->times)
      if (const ModeTime* then = catalogue.Find(gemm)->Find(time.mode))
        remeasured.by_mode[time.mode].push_back({gemm, time.ns / then->ns, time.speed_up / then->speed_up});
  }
  return remeasured;
}

}  // namespace gemmsmith
