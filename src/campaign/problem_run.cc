#include "campaign/problem_run.h"

#include <algorithm>
#include <limits>

#include "campaign/twins.h"
#include "campaign/wide_tiles.h"
#include "evaluate/time/race_rules.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

bool Better(Objective objective, const Trial* first, const Trial* second) {
  return std::pair(CostOf(objective, first->outcome), first->plan()) <
         std::pair(CostOf(objective, second->outcome), second->plan());
}

void KeepBetter(Objective objective, const Trial*& best, const Trial& trial) {
  if (trial.IsTimedPlan() && (best == nullptr || Better(objective, &trial, best))) best = &trial;
}

// For the order among those that raced beside AutoTuning, or among those that did not: infinite where it does not
// chain.
double ChainedTime(const Trial& trial) {
  if (const auto share = trial.outcome.TimeOver("lt_auto", Clock::kDeviceChained)) return *share;
  const Timing* chained = trial.outcome.Find("ours", Clock::kDeviceChained);
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

// A kernel that may be chained waits for the one before it, and what it loads around the copy engine it loads
// coherently. Tiny calls without a trigger are a little faster; longer calls do not show it.
constexpr double kShortCallNs = 5e3;
// More twins than cores are two rounds of compilation that the heat waits for.
constexpr size_t kTwinsWithoutTrigger = 3;

constexpr Trigger kOverlapping[] = {Trigger::kEarly, Trigger::kSoon, Trigger::kLate};

// Whether the next launch should rather find all places free (Trigger::kLast). Where the CTAs of the next launch take
// places one by one, those that read the same lines stand apart, and what is gained between launches is lost in the
// main loop: of 147 split-K shapes the best chain took 0.84 of the best plain call with k = 1024, 1.05 with k = 16384
// (H100, November 2026; docs/lab/latency.md).
constexpr double kWorthOverlapping = 0.95;
constexpr size_t kTwinsThatEndFirst = 2;

// Of the screened those that race in launches that alternate, too; the first of them also so that the next launch finds
// all places free, since CTAs should find there what those before them left.
constexpr size_t kTwinsThatAlternate = 3;

// Calls of less than 5 us gain by overlapping, and have twins enough.
bool LosesByOverlapping(const Trial& screened) {
  const Timing* plain = screened.outcome.Find("ours", Clock::kDevice);
  const Timing* chained = screened.outcome.Find("ours", Clock::kDeviceChained);
  return chained != nullptr && plain->median_ns >= kShortCallNs &&
         chained->median_ns > kWorthOverlapping * plain->median_ns;
}

// A heat of long calls is the first race of windows that the best of a screening meet in. Of as many tiles and
// schedules as there are, since their settled share is known within 1 %; no twins that save a share of a microsecond,
// but some in other places (docs/lab/neighbours.md), and those with squarer waves.
constexpr size_t kLongHeatPlans = 12, kMostOfOneTile = 2;
// By place a plan takes 1.001 of its time (197 pairs of heats, by 2 % up or down), so few are worth a turn.
constexpr int kPlacedInALongHeat = 2;
// Wide tiles that short searches miss win long products (docs/lab/throughput.md). The longest products have as many
// again that share what whole turns leave over; half of a heat is left to screened plans.
constexpr size_t kWideInALongHeat = 2;
// Beside the standing one of each layout and AutoTuning's two. With two of a layout that took 15.6 s with their tests
// (H200, November 2026), each plan 1.1 s.
constexpr int kLongFinalists = 3;

// So many, in their order; others before a third of one tile and schedule.
std::vector<const Trial*> OfManyTiles(const std::vector<const Trial*>& trials, size_t count) {
  std::map<std::vector<int>, size_t> of_tile;
  std::vector<const Trial*> chosen, others;
  for (const Trial* trial : trials) {
    const Family& family = GetFamily(trial->plan().family);
    std::vector<int> tile = {int(trial->plan().family)};
    for (const std::string_view name : {"tile_m", "tile_n", "schedule"})
      if (const int axis = family.IndexOf(name); axis >= 0) tile.push_back(trial->plan().values[size_t(axis)]);
    (of_tile[tile]++ < kMostOfOneTile ? chosen : others).push_back(trial);
  }
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

int FinalistsOf(const CampaignOptions& options, double call_ns) {
  const bool are_settled = IsLongCall(call_ns) && options.objective == Objective::kTime;
  return are_settled ? std::min(options.finalists, options.brief ? 1 : kLongFinalists) : options.finalists;
}

ProblemRun::ProblemRun(size_t index, const CampaignOptions& options, ProblemSearch search)
    : index_(index),
      options_(options),
      standing_(options.standing ? options.standing->find(gemm()) : std::nullopt),
      search_(std::move(search)),
      pace_(options.settles) {}

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
      measured_.emplace(trial.plan(), Screening{trial, pace_.TimeNs(trial.plan(), trial.outcome)}).first->second;
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
  // Of four candidates one of a layout is raced, and twins would have to be compiled for it.
  if (HasLongCalls() && options_.brief) return {};
  std::vector<const Trial*> screened = Screened();
  // Where all reach the finals anyway there is nobody to choose from.
  if (HasLongCalls()) {
    const std::vector<Plan> plans = HeatOfLongCalls(screened);
    if (plans.size() > size_t(Finalists())) return NotRacedYet(plans);
    without_heat_ = plans;
    return {};
  }
  if (screened.size() <= size_t(Finalists())) return {};
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
  screened.resize(std::min(screened.size(), size_t(options_.heat_contenders)));
  std::vector<Plan> plans;
  for (const Trial* trial : screened) plans.push_back(trial->plan());
  for (size_t rank = 0; rank < std::min(screened.size(), size_t(options_.fixed_twins)); ++rank) {
    const Plan fixed = With(screened[rank]->plan(), "fixed", int(FixedDimensions::kAll));
    plans.push_back(fixed);
    if (rank < kTwinsThatEndFirst && !in_chains.empty() && LosesByOverlapping(*screened[rank]))
      plans.push_back(With(fixed, "trigger", int(Trigger::kLast)));
    if (rank < kTwinsWithoutTrigger && best_screened_->time_ns < kShortCallNs)
      plans.push_back(With(fixed, "trigger", int(Trigger::kNone)));
  }
  const auto short_ring = [&](const Plan& plan) { return ShortRingTwin(plan, gemm(), options_.room_for_next_bytes); };
  for (const Trial* trial : in_chains) {
    plans.push_back(trial->plan());
    const Plan shared = short_ring(trial->plan()).value_or(trial->plan());
    for (const Trigger trigger : kOverlapping) plans.push_back(With(shared, "trigger", int(trigger)));
  }
  if (const std::optional<Plan> twin = in_chains.empty() ? std::nullopt : short_ring(screened.front()->plan()))
    plans.push_back(*twin);
  for (const Plan& twin : AlternatingTwinsOf(screened)) plans.push_back(twin);
  if (standing_) plans.push_back(*standing_);
  return plans;
}

// Of the fastest that have any. Where joules decide nobody has measured them.
std::vector<Plan> ProblemRun::AlternatingTwinsOf(const std::vector<const Trial*>& screened) const {
  std::vector<Plan> plans;
  if (!options_.raced_on || options_.objective != Objective::kTime) return plans;
  size_t with_twins = 0;
  for (const Trial* trial : screened) {
    const Plan fixed = With(trial->plan(), "fixed", int(FixedDimensions::kAll));
    const std::vector<Plan> twins = AlternatingTwins(fixed, gemm(), *options_.raced_on);
    if (twins.empty()) continue;
    for (const Plan& twin : twins) {
      plans.push_back(twin);
      if (with_twins == 0) plans.push_back(With(twin, "trigger", int(Trigger::kLast)));
    }
    if (++with_twins == kTwinsThatAlternate) break;
  }
  return plans;
}

std::vector<Plan> ProblemRun::HeatOfLongCalls(const std::vector<const Trial*>& screened) const {
  const size_t most = std::min(kLongHeatPlans, size_t(options_.heat_contenders));
  std::vector<Plan> plans;
  int placed = 0;
  const auto add = [&](const Plan& plan) {
    AddOnce(plan, plans);
    if (const std::optional<Device>& device = options_.raced_on)
      if (const std::optional<Plan> twin = SquareTwin(plan, gemm(), *device)) AddOnce(*twin, plans);
    if (!options_.placed_twins || placed == kPlacedInALongHeat) return;
    const std::optional<Plan> twin = PlacedTwin(plan, gemm().shape);
    if (!twin || *twin == plan) return;
    AddOnce(*twin, plans);
    ++placed;
  };
  if (standing_) add(*standing_);
  if (const std::optional<Device>& device = options_.raced_on)
    for (const Plan& plan : WideTiles(gemm(), *device, kWideInALongHeat))
      if (plans.size() < most / 2) AddOnce(plan, plans);
  for (const Trial* trial : OfManyTiles(screened, most))
    if (plans.size() < most) add(trial->plan());
  plans.resize(std::min(plans.size(), most));
  return plans;
}

// Who stays longer in a heat was faster than those who drop out, in rounds that all of them were in; times are of the
// same rounds only where two stayed equally long. (By bare times those win who left while the GPU was cool: so it was
// on 147 of 149 problems of 20 to 100 us a call in a sweep of 2026-11-22.) Whoever was raced without a heat stands
// beside those who stayed to the end of one, and so does a long call whose heat was in turns, as until November 2026.
// (In an archive that goes on from before the 26th the heats of long calls of then, of two and six windows, stand ahead
// of those of since, of one and three.)
void ProblemRun::SortByHeat(std::vector<const Trial*>& raced) const {
  struct Place {
    int rounds = 0;
    double time_ns = 0;
    const Trial* trial = nullptr;
    bool operator<(const Place& other) const {
      if (rounds != other.rounds) return rounds > other.rounds;
      return std::pair(time_ns, trial->plan()) < std::pair(other.time_ns, other.trial->plan());
    }
  };
  const auto rounds_in_heat = [this](const Trial* trial) -> std::optional<int> {
    const bool is_in_turn = HasLongCalls() && !trial->outcome.conditions.is_settled;
    if (trial->outcome.protocol != Protocol::kHeat || is_in_turn) return std::nullopt;
    return trial->outcome.Find("ours", Clock::kDevice)->sample_count;
  };
  int most_rounds = 0;
  for (const Trial* trial : raced) most_rounds = std::max(most_rounds, rounds_in_heat(trial).value_or(0));
  Pace pace(options_.settles);
  std::vector<Place> places;
  for (const Trial* trial : raced) {
    const double time_ns = HasLongCalls() ? pace.TimeNs(trial->plan(), trial->outcome) : trial->outcome.TimeNs();
    places.push_back({rounds_in_heat(trial).value_or(most_rounds), time_ns, trial});
  }
  std::sort(places.begin(), places.end());
  std::ranges::transform(places, raced.begin(), &Place::trial);
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

// Back and forth a plan takes 0.99 of the time on average (docs/lab/throughput.md), less than what tells plans apart,
// so finalists are compiled and raced so alone; as they are where that has failed, where they have been finalists
// before there were walks, and where joules decide, which nobody has measured of it.
Plan ProblemRun::AsFinalist(const Plan& plan) const {
  if (!HasLongCalls() || !options_.raced_on || options_.objective != Objective::kTime) return plan;
  if (finals_.contains(plan) && plan != standing_) return plan;
  const std::optional<Plan> twin = BackAndForthTwin(plan, gemm(), *options_.raced_on);
  if (!twin || without_final_.contains(*twin)) return plan;
  const Trial* final = Find(finals_, *twin);
  return final != nullptr && !final->IsTimedPlan() ? plan : *twin;
}

std::vector<Plan> ProblemRun::NextFinalists() const {
  std::vector<Plan> plans;
  if (!HasFinals()) return plans;
  std::vector<Plan> ranked;
  for (const Trial* trial : RankedForFinals()) AddOnce(AsFinalist(trial->plan()), ranked);
  for (const Plan& plan : without_heat_) AddOnce(AsFinalist(plan), ranked);
  int passed = 0;
  for (const Plan& plan : ranked) {
    if (passed + int(plans.size()) == Finalists()) break;
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
