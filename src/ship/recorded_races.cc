#include "ship/recorded_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// Trials of a race were stored one after the other: until November 2026 each with its own moment, a millisecond apart
// at most. The next race of a problem takes longer than that.
constexpr int64_t kOneRaceMs = 100;

using RecordedRace = std::vector<Trial>;

// The races of each problem, the earliest first.
std::map<Gemm, std::vector<RecordedRace>> RacesAmong(std::span<const Trial> trials, const std::string& device_key) {
  std::map<std::tuple<Gemm, std::string, Protocol>, std::vector<Trial>> stored;
  for (const Trial& trial : trials) {
    const bool has_raced = trial.HasPlan() && IsThorough(trial.outcome.protocol) &&
                           trial.outcome.kind != OutcomeKind::kVerified && trial.setting.device_key == device_key;
    if (has_raced) stored[{trial.gemm, trial.campaign, trial.outcome.protocol}].push_back(trial);
  }
  std::map<Gemm, std::vector<RecordedRace>> races;
  for (auto& [key, of_campaign] : stored) {
    std::vector<RecordedRace>& of_problem = races[std::get<Gemm>(key)];
    std::ranges::stable_sort(of_campaign, {}, &Trial::unix_ms);
    int64_t last_ms = of_campaign.front().unix_ms - kOneRaceMs - 1;
    for (Trial& trial : of_campaign) {
      if (trial.unix_ms - last_ms > kOneRaceMs) of_problem.emplace_back();
      last_ms = trial.unix_ms;
      of_problem.back().push_back(std::move(trial));
    }
  }
  for (auto& [gemm, of_problem] : races)
    std::ranges::stable_sort(of_problem, {}, [](const RecordedRace& race) { return race.front().unix_ms; });
  return races;
}

// An entry that names the day of its race alone may be later than any race of that day.
bool IsKnown(const RecordedRace& race, const std::optional<Entry>& entry) {
  return entry && RaceMoment(race.front().unix_ms).substr(0, entry->date.size()) <= entry->date;
}

// nullptr where it did not race.
const Trial* Find(const Plan& plan, const RecordedRace& race) {
  const auto found = std::ranges::find_if(race, [&](const Trial& trial) { return trial.plan() == plan; });
  return found == race.end() ? nullptr : &*found;
}

// A race of repeated calls does not decide on an entry of the ring.
bool IsOfOlderClock(const RecordedRace& race, const std::optional<Entry>& entry) {
  const auto timed = std::ranges::find_if(race, &Trial::IsTimedPlan);
  return entry && entry->times.front().mode == kLeadingMode && timed != race.end() &&
         timed->outcome.LeadingClock() != Clock::kDeviceCold;
}

std::string ModesThatGo(const Entry& before, const Entry& since) {
  std::vector<std::string> modes;
  for (const ModeTime& time : before.times)
    if (since.Find(time.mode) == nullptr) modes.push_back(time.mode);
  return modes.empty() ? "" : fmt::format("; its race was not timed on {}", Join(modes, ", "));
}

// A plan that fails in a race counts as failed in earlier races too; so does a plan that is illegal today.
std::vector<RecordedRace> WithFailures(std::vector<RecordedRace> races, const Device& device) {
  std::map<Plan, Outcome> failed;
  for (auto race = races.rbegin(); race != races.rend(); ++race)
    for (Trial& trial : *race) {
      const std::vector<std::string> reasons = Check(trial.plan(), trial.gemm, device);
      if (!reasons.empty())
        trial.outcome = {.kind = OutcomeKind::kIllegal, .reason = reasons.front(), .protocol = trial.outcome.protocol};
      else if (const auto later = failed.find(trial.plan()); later != failed.end())
        trial.outcome = later->second;
      if (trial.outcome.kind != OutcomeKind::kMeasured) failed.emplace(trial.plan(), trial.outcome);
    }
  return races;
}

// The combined decision of several races.
class Fate {
 public:
  explicit Fate(std::optional<Entry> entry) : before_(entry), entry_(std::move(entry)) {}

  const std::optional<Entry>& entry() const { return entry_; }
  void Add(EntryDecision decision, const RecordedRace& race) {
    const PromotionKind kind = decision.promotion.kind;
    const bool changes = kind != PromotionKind::kStands && kind != PromotionKind::kRefused;
    if (changes && entry_ && before_ && entry_->plan == before_->plan && !Find(entry_->plan, race)->IsTimedPlan())
      has_failed_ = true;
    if (changes) entry_ = std::move(decision.entering);
    if (changes || !has_changed_) told_ = std::move(decision.promotion);
    has_changed_ = has_changed_ || changes;
  }
  // Whether the entry is another one, or the same plan by another race since it failed.
  bool IsAnother() const {
    if (!before_ || !entry_) return before_.has_value() != entry_.has_value();
    return before_->plan != entry_->plan || has_failed_;
  }
  // Nothing where no race counted.
  std::optional<Promotion> Told() const {
    std::optional<Promotion> told = told_;
    if (!told || !has_changed_) return told;
    if (!IsAnother() && !before_) return Promotion{PromotionKind::kRefused, told->plan, told->reason};
    if (!IsAnother())
      return Promotion{PromotionKind::kStands, before_->plan, "another took its place, and lost it again"};
    told->kind = !before_ ? PromotionKind::kEntered : !entry_ ? PromotionKind::kWithdrawn : PromotionKind::kReplaced;
    if (before_ && entry_) told->reason += ModesThatGo(*before_, *entry_);
    if (before_ && entry_ && before_->plan == entry_->plan) told->reason += "; it had failed before that race";
    return told;
  }

 private:
  const std::optional<Entry> before_;
  std::optional<Entry> entry_;
  std::optional<Promotion> told_;
  bool has_changed_ = false;
  bool has_failed_ = false;  // the plan before, in one of the races
};

}  // namespace

Result<RecordedDecisions> DecideByRecords(CatalogueOnDisk& catalogue, std::span<const Trial> trials) {
  ASSIGN_OR_RETURN(const Device device, FindDevice(catalogue.device_key()));
  RecordedDecisions decisions;
  std::vector<Entry> entering;
  std::vector<Gemm> leaving;
  for (auto& [gemm, races] : RacesAmong(trials, catalogue.device_key())) {
    Fate fate(catalogue.Find(gemm));
    for (const RecordedRace& race : WithFailures(std::move(races), device)) {
      ++decisions.races;
      if (IsKnown(race, fate.entry()))
        ++decisions.known;
      else if (fate.entry() && Find(fate.entry()->plan, race) == nullptr)
        ++decisions.without_entry;
      else if (IsOfOlderClock(race, fate.entry()))
        ++decisions.of_older_clock;
      else
        fate.Add(Decide(gemm, fate.entry(), race), race);
    }
    if (std::optional<Promotion> told = fate.Told()) decisions.round.promotions.emplace_back(gemm, *std::move(told));
    if (!fate.IsAnother()) continue;
    if (fate.entry())
      entering.push_back(*fate.entry());
    else
      leaving.push_back(gemm);
  }
  if (!entering.empty() || !leaving.empty()) RETURN_IF_ERROR(catalogue.Change(std::move(entering), leaving));
  return decisions;
}

}  // namespace gemmsmith
