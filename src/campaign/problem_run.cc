#include "campaign/problem_run.h"

#include <algorithm>
#include <limits>

#include "evaluate/time/race_rules.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

bool Better(Objective objective, const Trial* first, const Trial* second) {
  return std::pair(CostOf(objective, *first), first->plan()) < std::pair(CostOf(objective, *second), second->plan());
}

void KeepBetter(Objective objective, const Trial*& best, const Trial& trial) {
  if (trial.IsTimedPlan() && (best == nullptr || Better(objective, &trial, best))) best = &trial;
}

// For the order among those that raced beside AutoTuning, or among those that did not: infinite where it does not
// chain.
double ChainedTime(const Trial& trial) {
  if (const auto share = trial.outcome.TimeOver("lt_auto", ChainedOf(trial.outcome.LeadingClock()))) return *share;
  const Timing* chained = trial.outcome.OursChained();
  return chained == nullptr ? std::numeric_limits<double>::infinity() : chained->median_ns;
}

// The fastest in chains, if any chains, comes second unless it is the first anyway.
void MoveFastestInChainsForward(std::vector<const Trial*>& trials) {
  const auto fastest = std::min_element(trials.begin(), trials.end(), [](const Trial* first, const Trial* second) {
    return ChainedTime(*first) < ChainedTime(*second);
  });
  if (fastest - trials.begin() > 1) std::rotate(trials.begin() + 1, fastest, fastest + 1);
}

// So many of the trials, the fastest in chains first; those that do not chain keep their order behind them.
std::vector<const Trial*> FastestInChains(std::vector<const Trial*> trials, size_t count) {
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial* first, const Trial* second) { return ChainedTime(*first) < ChainedTime(*second); });
  trials.resize(std::min(trials.size(), count));
  return trials;
}

// A chained kernel waits for the launch before it, and its first loads are coherent ones. Calls of this length are a
// little faster without a trigger; longer calls do not show it.
constexpr double kShortCallNs = 5e3;
// More variants than cores are a second round of compilation before the heat.
constexpr size_t kPlansWithoutTrigger = 3;

constexpr Trigger kOverlapping[] = {Trigger::kEarly, Trigger::kSoon, Trigger::kLate};

// Trigger::kLast, where overlapping gains less than this. CTAs of an overlapping launch start one by one, so those that
// read the same lines are apart, and the main loop loses what the launch gains (docs/lab/latency.md).
constexpr double kWorthOverlapping = 0.95;
constexpr size_t kPlansThatEndFirst = 2;

// Calls below kShortCallNs gain by overlapping, and have variants enough.
bool LosesByOverlapping(const Trial& screened) {
  const Timing* plain = screened.outcome.Ours();
  const Timing* chained = screened.outcome.OursChained();
  return chained != nullptr && plain->median_ns >= kShortCallNs &&
         chained->median_ns > kWorthOverlapping * plain->median_ns;
}

// Many tiles and schedules enter a heat of long calls, and no variants that save a share of a microsecond.
constexpr size_t kLongHeatPlans = 12, kMaxOfOneTile = 2;
// Long products have openings that short searches miss (docs/lab/throughput.md).
constexpr size_t kOpeningsInALongHeat = 2;
// The family, the tile, and values that have device code of their own.
std::vector<int> TilingKey(const Plan& plan) {
  const Family& family = GetFamily(plan.family);
  const TileShape tile = family.TileOf(plan);
  std::vector<int> key = {int(plan.family), tile.m, tile.n};
  for (size_t axis = 0; axis < family.axes.size(); ++axis)
    if (family.axes[axis].makes_kernels) key.push_back(plan.values[axis]);
  return key;
}

// The first `count`, in their order; no third plan of one tiling while there are others.
std::vector<const Trial*> OfManyTiles(const std::vector<const Trial*>& trials, size_t count) {
  std::map<std::vector<int>, size_t> of_tiling;
  std::vector<const Trial*> chosen, others;
  for (const Trial* trial : trials)
    (of_tiling[TilingKey(trial->plan())]++ < kMaxOfOneTile ? chosen : others).push_back(trial);
  chosen.insert(chosen.end(), others.begin(), others.end());
  chosen.resize(std::min(chosen.size(), count));
  return chosen;
}

void AddOnce(const Plan& plan, std::vector<Plan>& plans) {
  if (std::find(plans.begin(), plans.end(), plan) == plans.end()) plans.push_back(plan);
}

const Trial* Find(const std::map<Plan, Trial>& trials, const Plan& plan) {
  const auto found = trials.find(plan);
  return found == trials.end() ? nullptr : &found->second;
}

}  // namespace

ProblemRun::ProblemRun(size_t index, const CampaignOptions& options, ProblemSearch search)
    : index_(index),
      options_(options),
      standing_(options.standing ? options.standing->find(gemm()) : std::nullopt),
      search_(std::move(search)) {}

std::vector<Plan> ProblemRun::Propose(int most) {
  if (space_is_exhausted_ || !stop_reason_.empty()) return {};
  const int left = LeftToScreen();
  const int count = std::min(most, left - std::min(left, outstanding_));
  if (count <= 0) return {};
  std::vector<Plan> plans = search_.proposer->Propose(count);
  space_is_exhausted_ = plans.empty();
  outstanding_ += int(plans.size());
  return plans;
}

void ProblemRun::Take(const Trial& trial, bool resumed) {
  if (HasFinals() && trial.outcome.protocol == Protocol::kHeat) heats_.emplace(trial.plan(), trial);
  if (HasFinals() && trial.outcome.protocol == Protocol::kShort)
    KeepBetter(options_.objective, best_final_, finals_.emplace(trial.plan(), trial).first->second);
  if (IsUnscreened(trial)) return;
  if (searched_.insert(trial.plan()).second) Account(trial, resumed);
}

// What was screened was searched before it raced. Where nobody joins later a race is all that may be known of a plan.
bool ProblemRun::IsUnscreened(const Trial& trial) const {
  const bool others_join = HasTwins() || options_.standing;
  return others_join && trial.outcome.protocol != Protocol::kScreen && !searched_.contains(trial.plan());
}

// What a first trial means for the proposer, the ranking and the budgets.
void ProblemRun::Account(const Trial& trial, bool resumed) {
  search_.proposer->Observe(trial.plan(), trial.outcome);
  ++by_outcome_[trial.outcome.kind];
  ++evaluations_;
  if (resumed)
    ++resumed_;
  else
    --outstanding_;
  if (!trial.IsTimedPlan()) return;
  const Screening& screening =
      measured_.emplace(trial.plan(), Screening{trial, pace_.TimeNs(trial.outcome)}).first->second;
  if (best_screened_ == nullptr || screening < *best_screened_) best_screened_ = &screening;
}

void ProblemRun::MissScreen() {
  ++misses_;
  --outstanding_;
}

bool ProblemRun::ScreenIsOver(double seconds) {
  if (!stop_reason_.empty()) return true;
  if (std::optional<std::string> reason = search_.stop->ShouldStop(ProgressAfter(seconds)))
    stop_reason_ = *std::move(reason);
  else if (space_is_exhausted_ && outstanding_ == 0)
    stop_reason_ = "every plan of the space is judged";
  if (!stop_reason_.empty()) outstanding_ = 0;
  return !stop_reason_.empty();
}

std::vector<const Trial*> ProblemRun::Screened() const {
  std::vector<const Screening*> screenings;
  for (const auto& [plan, screening] : measured_) screenings.push_back(&screening);
  std::sort(screenings.begin(), screenings.end(),
            [](const Screening* first, const Screening* second) { return *first < *second; });
  std::vector<const Trial*> trials;
  for (const Screening* screening : screenings) trials.push_back(&screening->trial);
  return trials;
}

std::vector<Plan> ProblemRun::TakeHeat() {
  if (!HasFinals() || heat_taken_) return {};
  heat_taken_ = true;
  std::vector<const Trial*> screened = Screened();
  // Where all reach the finals anyway there is nobody to choose from.
  if (HasLongCalls()) {
    const std::vector<Plan> plans = HeatOfLongCalls(screened);
    if (plans.size() > size_t(options_.finalists)) return NotRacedYet(plans);
    without_heat_ = plans;
    return {};
  }
  if (screened.size() <= size_t(options_.finalists)) return {};
  return NotRacedYet(HeatOfShortCalls(std::move(screened)));
}

std::vector<Plan> ProblemRun::NotRacedYet(const std::vector<Plan>& plans) const {
  std::vector<Plan> left;
  for (const Plan& plan : plans)
    if (!heats_.contains(plan) && !finals_.contains(plan)) AddOnce(plan, left);
  return left;
}

bool ProblemRun::HasLongCalls() const { return best_screened_ != nullptr && IsLongCall(best_screened_->time_ns); }

std::vector<Plan> ProblemRun::HeatOfShortCalls(std::vector<const Trial*> screened) const {
  const std::vector<const Trial*> in_chains = FastestInChains(screened, size_t(options_.chained_twins));
  screened.resize(std::min(screened.size(), size_t(options_.heat_candidates)));
  std::vector<Plan> plans;
  for (const Trial* trial : screened) plans.push_back(trial->plan());
  for (size_t rank = 0; rank < std::min(screened.size(), size_t(options_.fixed_twins)); ++rank) {
    const Plan fixed = WithFixed(screened[rank]->plan(), FixedDimensions::kAll);
    plans.push_back(fixed);
    if (rank < kPlansThatEndFirst && !in_chains.empty() && LosesByOverlapping(*screened[rank]))
      plans.push_back(WithTrigger(fixed, Trigger::kLast));
    if (rank < kPlansWithoutTrigger && best_screened_->time_ns < kShortCallNs)
      plans.push_back(WithTrigger(fixed, Trigger::kNone));
  }
  for (const Trial* trial : in_chains) {
    plans.push_back(trial->plan());
    const std::vector<Plan> shorter = RoomForNext(trial->plan());
    const Plan& overlapping = shorter.empty() ? trial->plan() : shorter.front();
    for (const Trigger trigger : kOverlapping) plans.push_back(WithTrigger(overlapping, trigger));
  }
  if (!in_chains.empty())
    for (const Plan& plan : RoomForNext(screened.front()->plan())) plans.push_back(plan);
  if (standing_) plans.push_back(*standing_);
  return plans;
}

// Forms that leave the next launch's CTAs room beside them.
std::vector<Plan> ProblemRun::RoomForNext(const Plan& plan) const {
  if (!options_.raced_on) return {};
  return GetFamily(plan.family)
      .Variants(plan, gemm(), *options_.raced_on,
                {RaceOccasion::Kind::kOverlapsNext, options_.raced_on->RoomForTwoBytes()});
}

std::vector<Plan> ProblemRun::HeatOfLongCalls(const std::vector<const Trial*>& screened) const {
  const size_t most = std::min(kLongHeatPlans, size_t(options_.heat_candidates));
  const std::optional<Device>& device = options_.raced_on;
  std::vector<Plan> plans;
  const auto add = [&](const Plan& plan) {
    AddOnce(plan, plans);
    if (!device) return;
    for (const Plan& variant :
         GetFamily(plan.family).Variants(plan, gemm(), *device, {RaceOccasion::Kind::kPowerCapped}))
      AddOnce(variant, plans);
  };
  if (standing_) add(*standing_);
  if (device)
    for (const Family& family : Families())
      for (const Plan& plan : family.LongCallOpenings(gemm(), *device, kOpeningsInALongHeat))
        if (plans.size() < most / 2) AddOnce(plan, plans);
  for (const Trial* trial : OfManyTiles(screened, most))
    if (plans.size() < most) add(trial->plan());
  plans.resize(std::min(plans.size(), most));
  return plans;
}

// A plan that stays longer in a heat was faster than those that dropped out, over rounds that all of them ran. Times
// compare only between plans with the same rounds: bare times favour plans that left while the GPU was cool. A plan
// raced without a heat ranks with those that stayed to the end.
void ProblemRun::SortByHeat(std::vector<const Trial*>& raced) const {
  struct HeatRank {
    int rounds = 0;
    double time_ns = 0;
    const Trial* trial = nullptr;
    bool operator<(const HeatRank& other) const {
      if (rounds != other.rounds) return rounds > other.rounds;
      return std::pair(time_ns, trial->plan()) < std::pair(other.time_ns, other.trial->plan());
    }
  };
  const auto rounds_in_heat = [this](const Trial* trial) -> std::optional<int> {
    if (trial->outcome.protocol != Protocol::kHeat) return std::nullopt;
    return trial->outcome.Ours()->sample_count;
  };
  int most_rounds = 0;
  for (const Trial* trial : raced) most_rounds = std::max(most_rounds, rounds_in_heat(trial).value_or(0));
  std::vector<HeatRank> ranks;
  for (const Trial* trial : raced)
    ranks.push_back({rounds_in_heat(trial).value_or(most_rounds), trial->outcome.TimeNs(), trial});
  std::sort(ranks.begin(), ranks.end());
  std::ranges::transform(ranks, raced.begin(), &HeatRank::trial);
}

std::vector<const Trial*> ProblemRun::RankedForFinals() const {
  std::vector<const Trial*> confirmed, screened;
  for (const Trial* trial : Screened()) {
    const Trial* heat = Find(heats_, trial->plan());
    if (heat == nullptr) heat = Find(finals_, trial->plan());
    if (heat == nullptr)
      screened.push_back(trial);
    else if (heat->IsTimedPlan())
      confirmed.push_back(heat);
  }
  for (const auto& [plan, trial] : heats_)
    if (!measured_.contains(plan) && IsUnscreened(trial) && trial.IsTimedPlan()) confirmed.push_back(&trial);
  SortByHeat(confirmed);
  if (options_.chained_twins > 0) MoveFastestInChainsForward(confirmed);
  confirmed.insert(confirmed.end(), screened.begin(), screened.end());
  return confirmed;
}

std::vector<Plan> ProblemRun::NextFinalists() const {
  std::vector<Plan> plans;
  if (!HasFinals()) return plans;
  std::vector<Plan> ranked;
  for (const Trial* trial : RankedForFinals()) AddOnce(trial->plan(), ranked);
  for (const Plan& plan : without_heat_) AddOnce(plan, ranked);
  int passed = 0;
  for (const Plan& plan : ranked) {
    if (passed + int(plans.size()) == options_.finalists) break;
    if (const Trial* final = Find(finals_, plan))
      passed += final->IsTimedPlan();
    else if (!without_final_.contains(plan))
      plans.push_back(plan);
  }
  if (!plans.empty() && standing_ && !finals_.contains(*standing_)) AddOnce(*standing_, plans);
  return plans;
}

std::vector<Trial> ProblemRun::Finals() const {
  std::vector<Trial> finals;
  for (const auto& [plan, trial] : finals_) finals.push_back(trial);
  return finals;
}

const Trial* ProblemRun::Best() const {
  if (best_final_ != nullptr) return best_final_;
  // The careful protocol has refused every finalist: nobody is left to be named.
  if (!finals_.empty() && NextFinalists().empty()) return nullptr;
  if (heats_.empty()) return best_screened_ == nullptr ? nullptr : &best_screened_->trial;
  const std::vector<const Trial*> ranked = RankedForFinals();
  return ranked.empty() ? nullptr : ranked.front();
}

ProblemResult ProblemRun::Finish(bool complete) const {
  ProblemResult result{.gemm = gemm(),
                       .complete = complete,
                       .evaluations = evaluations_ - resumed_,
                       .resumed = resumed_,
                       .misses = misses_,
                       .stop_reason = stop_reason_};
  if (const Trial* best = Best()) result.best = *best;
  for (const auto& [kind, count] : by_outcome_) result.by_outcome.emplace_back(kind, count);
  return result;
}

}  // namespace gemmsmith
