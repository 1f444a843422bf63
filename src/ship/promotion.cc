#include "ship/promotion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "archive/standings.h"
#include "base/text.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr std::array kModes = {Clock::kDeviceCold,    Clock::kDeviceColdChained, Clock::kDevice,
                               Clock::kDeviceChained, Clock::kOffline,           Clock::kServer};

std::string PercentText(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

// Both from one race, so that what the two have in common cancels; less than the interval, which also holds what races
// differ by, is noise.
bool IsFasterBeyondNoise(const Entry& challenger, const Entry& standing) {
  return challenger.Deciding().speed_up_interval.low > standing.Deciding().speed_up;
}

// A plan that was tested only has not failed.
bool HasFailed(const Trial& trial) {
  return trial.outcome.kind != OutcomeKind::kMeasured && trial.outcome.kind != OutcomeKind::kVerified;
}

std::string WhyNot(const Trial& trial) { return fmt::format("{}: {}", Name(trial.outcome.kind), trial.outcome.reason); }

// By the time that decides; the first where none passed.
const Trial& FastestThatPassed(std::span<const Trial* const> challengers) {
  return **std::ranges::min_element(challengers, [](const Trial* one, const Trial* other) {
    if (!one->IsTimedPlan() || !other->IsTimedPlan()) return one->IsTimedPlan() && !other->IsTimedPlan();
    return one->DecidingNs() < other->DecidingNs();
  });
}

// A catalogue holds nothing else; records need not have any interval.
bool IsAboveZero(const Interval& interval) { return interval.low > 0 && interval.high > 0; }

EntryDecision DecideBetween(const Trial& challenger, const Trial* standing) {
  const auto decision = [&](PromotionKind kind, std::string reason, std::optional<Entry> enters = std::nullopt) {
    return EntryDecision{{kind, challenger.plan(), std::move(reason)}, std::move(enters)};
  };
  const bool standing_passed = standing != nullptr && standing->IsTimedPlan();
  if (!challenger.IsTimedPlan()) {
    if (standing == nullptr || standing_passed) return decision(PromotionKind::kRefused, WhyNot(challenger));
    return decision(PromotionKind::kWithdrawn,
                    fmt::format("{}; the standing one {}", WhyNot(challenger), WhyNot(*standing)));
  }
  Result<Entry> entry = EntryOf(challenger);
  if (!entry.ok()) return decision(PromotionKind::kRefused, entry.status().message());
  if (standing == nullptr) {
    std::string reason = fmt::format("{} over AutoTuning", PercentText(entry->Deciding().speed_up));
    return decision(PromotionKind::kEntered, std::move(reason), *std::move(entry));
  }
  if (!standing_passed)
    return decision(PromotionKind::kReplaced, fmt::format("the standing one {}", WhyNot(*standing)), *std::move(entry));
  const Result<Entry> stood = EntryOf(*standing);
  if (!stood.ok()) return decision(PromotionKind::kRefused, stood.status().message());
  if (entry->times.front().mode != stood->times.front().mode)
    return decision(PromotionKind::kRefused, fmt::format("it was timed on {}, the standing one on {}",
                                                         entry->times.front().mode, stood->times.front().mode));
  std::string reason =
      fmt::format("{} over the standing one", PercentText(entry->Deciding().speed_up / stood->Deciding().speed_up));
  if (!IsFasterBeyondNoise(*entry, *stood)) return decision(PromotionKind::kStands, reason + ", no more than noise");
  return decision(PromotionKind::kReplaced, std::move(reason), *std::move(entry));
}

}  // namespace

std::string_view Name(PromotionKind kind) {
  switch (kind) {
    case PromotionKind::kEntered:
      return "entered";
    case PromotionKind::kReplaced:
      return "replaced";
    case PromotionKind::kStands:
      return "stands";
    case PromotionKind::kWithdrawn:
      return "withdrawn";
    case PromotionKind::kRefused:
      return "refused";
  }
  GEMMSMITH_CHECK(false, "no promotion {}", int(kind));
}

Result<Entry> EntryOf(const Trial& trial) {
  Entry entry{
      .gemm = trial.gemm, .plan = trial.plan(), .date = RaceMoment(trial.unix_ms), .harness = trial.setting.harness};
  const Clock leading = trial.outcome.LeadingClock();
  for (const Clock clock : kModes) {
    const Timing* const time = trial.outcome.Find("ours", clock);
    const std::optional<RatioEstimate> ratio = OverAutoTuning(trial.outcome, clock);
    if (time == nullptr || !ratio) continue;
    if (!IsAboveZero(time->interval) || !IsAboveZero(ratio->interval)) {
      if (clock == leading) return Unavailable("its times beside AutoTuning have no interval");
      continue;
    }
    entry.times.push_back({std::string(Name(clock)), time->median_ns, time->interval, ratio->median, ratio->interval});
  }
  if (entry.times.empty() || entry.times.front().mode != Name(leading))
    return Unavailable("AutoTuning did not race beside it");
  return entry;
}

std::string RaceMoment(int64_t unix_ms) {
  const int64_t of_day = unix_ms - unix_ms / kDayMs * kDayMs;
  return fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", DateText(unix_ms), of_day / 3'600'000, of_day / 60'000 % 60,
                     of_day / 1000 % 60, of_day % 1000);
}

EntryDecision Decide(const Gemm& gemm, const std::optional<Entry>& entry, std::span<const Trial> race) {
  const Trial* standing = nullptr;
  std::vector<const Trial*> challengers;
  for (const Trial& trial : race) {
    GEMMSMITH_CHECK(trial.gemm == gemm, "a race of {} for {}", Print(trial.gemm), Print(gemm));
    if (entry && trial.plan() == entry->plan)
      standing = &trial;
    else
      challengers.push_back(&trial);
  }
  if (challengers.empty() && !entry) return {.promotion = {.reason = "nobody raced"}, .entering = {}};
  const auto stands = [&](std::string reason) {
    return EntryDecision{{PromotionKind::kStands, entry->plan, std::move(reason)}, std::nullopt};
  };
  if (challengers.empty() && standing != nullptr && HasFailed(*standing))
    return {.promotion = {PromotionKind::kWithdrawn, entry->plan, WhyNot(*standing)}, .entering = {}};
  if (challengers.empty()) return stands("it is the entry already");
  if (entry && standing == nullptr) return stands("it did not race with these; gemmsmith promote races them");
  return DecideBetween(FastestThatPassed(challengers), standing);
}

Result<Promotion> DecideInCatalogue(CatalogueOnDisk& catalogue, const Gemm& gemm, std::span<const Trial> race) {
  EntryDecision decision = Decide(gemm, catalogue.Find(gemm), race);
  if (decision.entering) RETURN_IF_ERROR(catalogue.Put(*std::move(decision.entering)));
  if (decision.promotion.kind == PromotionKind::kWithdrawn) RETURN_IF_ERROR(catalogue.Withdraw(gemm));
  return std::move(decision.promotion);
}

Promoter::Promoter(CatalogueOnDisk& catalogue, Evaluator& evaluator, Compiler& compiler, Archive* archive,
                   std::string campaign, int threads)
    : catalogue_(catalogue),
      evaluator_(evaluator),
      compiler_(compiler),
      archive_(archive),
      campaign_(std::move(campaign)),
      ahead_(std::make_unique<CompileAhead>(evaluator.device(), &compiler, threads)) {}

Promoter::Lineup Promoter::LineupFor(const Challenge& challenge) const {
  GEMMSMITH_CHECK(!challenge.plans.empty(), "nobody challenges for {}", Print(challenge.gemm));
  Lineup lineup{.gemm = challenge.gemm, .challengers = challenge.plans};
  if (const std::optional<Entry> entry = catalogue_.Find(challenge.gemm)) {
    lineup.standing = entry->plan;
    std::erase(lineup.challengers, entry->plan);
  }
  lineup.challengers.resize(std::min(lineup.challengers.size(), kMaxChallengers));
  return lineup;
}

void Promoter::Expect(std::span<const Challenge> layouts) {
  GEMMSMITH_CHECK(!layouts.empty() && layouts.size() <= kMaxLayouts, "{} layouts of a problem", layouts.size());
  const Gemm& first = layouts.front().gemm;
  const auto [place, is_new] = expected_.try_emplace(first, Expected{next_turn_});
  if (!is_new) return;
  ++next_turn_;
  std::vector<EvaluationRequest> requests;
  for (const Challenge& challenge : layouts) {
    GEMMSMITH_CHECK(WithoutLayout(challenge.gemm) == WithoutLayout(first), "{} among layouts of {}",
                    Print(challenge.gemm), Print(first));
    const Lineup& lineup = place->second.lineups.emplace_back(LineupFor(challenge));
    std::vector<Plan> raced = lineup.challengers;
    if (lineup.size() > raced.size()) raced.push_back(*lineup.standing);
    for (const Plan& plan : raced)
      requests.push_back({{.gemm = challenge.gemm,
                           .protocol = Protocol::kShort,
                           .clocks = {Clock::kDeviceCold, Clock::kOffline, Clock::kServer},
                           .calls_of_fastest = true},
                          plan});
  }
  if (!requests.empty()) ahead_->AddTogether(place->second.turn, requests);
}

Result<std::vector<Trial>> Promoter::Race(const Expected& expected) {
  size_t raced = 0;
  for (const Lineup& lineup : expected.lineups) raced += lineup.size();
  if (raced == 0) return std::vector<Trial>();
  ASSIGN_OR_RETURN(std::vector<Candidate> candidates, ahead_->TakeTogether(expected.turn));
  TrialRunner run(evaluator_, &compiler_, archive_, campaign_);
  ASSIGN_OR_RETURN(JudgedList judged, run(std::move(candidates)));
  RETURN_IF_ERROR(judged.failure);
  GEMMSMITH_CHECK(judged.trials.size() == raced, "{} trials of {} plans", judged.trials.size(), raced);
  return std::move(judged.trials);
}

std::vector<Result<Promotion>> Promoter::Promote(std::span<const Challenge> layouts) {
  Expect(layouts);
  const Expected expected = expected_.extract(layouts.front().gemm).mapped();
  GEMMSMITH_CHECK(std::ranges::equal(layouts, expected.lineups, {}, &Challenge::gemm, &Lineup::gemm),
                  "other layouts of {} than were expected", Print(layouts.front().gemm));
  const Result<std::vector<Trial>> trials = Race(expected);
  if (!trials.ok()) return std::vector<Result<Promotion>>(layouts.size(), trials.status());
  std::vector<Result<Promotion>> promotions;
  std::span<const Trial> rest = *trials;
  for (const Lineup& lineup : expected.lineups) {
    promotions.push_back(DecideInCatalogue(catalogue_, lineup.gemm, rest.first(lineup.size())));
    rest = rest.subspan(lineup.size());
  }
  return promotions;
}

}  // namespace gemmsmith
