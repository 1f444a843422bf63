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

constexpr std::array kModes = {Clock::kDevice, Clock::kDeviceChained, Clock::kOffline, Clock::kServer};

std::string PercentText(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

// Both from one race, so that what the two have in common cancels; less than the interval, which also holds what races
// differ by, is noise.
bool IsFasterBeyondNoise(const Entry& challenger, const Entry& standing) {
  return challenger.times.front().speed_up_interval.low > standing.times.front().speed_up;
}

std::string WhyNot(const Trial& trial) { return fmt::format("{}: {}", Name(trial.outcome.kind), trial.outcome.reason); }

// By the device clock of their race; the first where none passed.
const Trial& FastestThatPassed(std::span<const Trial> challengers) {
  return *std::ranges::min_element(challengers, [](const Trial& one, const Trial& other) {
    if (!one.IsTimedPlan() || !other.IsTimedPlan()) return one.IsTimedPlan() && !other.IsTimedPlan();
    return one.outcome.TimeNs() < other.outcome.TimeNs();
  });
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
      .gemm = trial.gemm, .plan = trial.plan(), .date = DateText(trial.unix_ms), .harness = trial.setting.harness};
  for (const Clock clock : kModes) {
    const Timing* const time = trial.outcome.Find("ours", clock);
    const std::optional<RatioEstimate> ratio = OverAutoTuning(trial.outcome, clock);
    if (time == nullptr || !ratio) continue;
    entry.times.push_back({std::string(Name(clock)), time->median_ns, time->interval, ratio->median, ratio->interval});
  }
  if (entry.times.empty() || entry.times.front().mode != Name(Clock::kDevice))
    return Unavailable("AutoTuning did not race beside it");
  return entry;
}

Promoter::Promoter(CatalogueOnDisk& catalogue, Evaluator& evaluator, Compiler& compiler, Archive* archive,
                   std::string campaign, int threads)
    : catalogue_(catalogue),
      evaluator_(evaluator),
      compiler_(compiler),
      archive_(archive),
      campaign_(std::move(campaign)),
      ahead_(std::make_unique<CompileAhead>(evaluator.device(), &compiler, threads)) {}

void Promoter::Expect(const Gemm& gemm, const std::vector<Plan>& challengers) {
  GEMMSMITH_CHECK(!challengers.empty(), "nobody challenges for {}", Print(gemm));
  const auto [place, is_new] = expected_.try_emplace(gemm, Lineup{next_turn_});
  if (!is_new) return;
  ++next_turn_;
  const std::optional<Entry> standing = catalogue_.Find(gemm);
  std::vector<Plan> racers = challengers;
  if (standing) std::erase(racers, standing->plan);
  racers.resize(std::min(racers.size(), kMostChallengers));
  place->second.challengers = racers.size();
  if (racers.empty()) return;
  if (standing) racers.push_back(standing->plan);
  std::vector<EvaluationRequest> requests;
  for (const Plan& plan : racers) {
    requests.push_back({.gemm = gemm,
                        .subject = plan,
                        .protocol = Protocol::kShort,
                        .clocks = {Clock::kDevice, Clock::kOffline, Clock::kServer}});
  }
  ahead_->AddTogether(place->second.turn, requests);
}

Result<std::vector<Trial>> Promoter::Race(const Lineup& lineup) {
  CompileAhead::List list;
  while (list.contenders.empty()) {
    Result<CompileAhead::List> taken = ahead_->Take(kMostChallengers + 1, kPatience, lineup.turn);
    if (!taken.ok()) ahead_->Forget(lineup.turn);
    ASSIGN_OR_RETURN(list, std::move(taken));
  }
  GEMMSMITH_CHECK(list.turn == lineup.turn, "promoted before those that were expected earlier");
  const size_t racers = list.contenders.size();
  TrialRunner run(evaluator_, &compiler_, archive_, campaign_);
  ASSIGN_OR_RETURN(JudgedList judged, run(std::move(list.contenders)));
  RETURN_IF_ERROR(judged.world);
  GEMMSMITH_CHECK(judged.trials.size() == racers, "{} trials of {} plans", judged.trials.size(), racers);
  return std::move(judged.trials);
}

Result<Promotion> Promoter::Promote(const Gemm& gemm, const std::vector<Plan>& challengers) {
  Expect(gemm, challengers);
  const Lineup lineup = expected_.extract(gemm).mapped();
  const std::optional<Entry> standing = catalogue_.Find(gemm);
  if (lineup.challengers == 0) return Promotion{PromotionKind::kStands, standing->plan, "it is the entry already"};
  ASSIGN_OR_RETURN(const std::vector<Trial> trials, Race(lineup));
  const Trial& fastest = FastestThatPassed(std::span(trials).first(lineup.challengers));
  Decision decision = Decide(fastest, standing ? &trials.back() : nullptr);
  if (decision.entry) RETURN_IF_ERROR(catalogue_.Put(*std::move(decision.entry)));
  if (decision.promotion.kind == PromotionKind::kWithdrawn) RETURN_IF_ERROR(catalogue_.Withdraw(gemm));
  return std::move(decision.promotion);
}

Promoter::Decision Promoter::Decide(const Trial& challenger, const Trial* standing) {
  const auto decision = [&](PromotionKind kind, std::string reason, std::optional<Entry> enters = std::nullopt) {
    return Decision{{kind, challenger.plan(), std::move(reason)}, std::move(enters)};
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
    std::string reason = fmt::format("{} over AutoTuning", PercentText(entry->times.front().speed_up));
    return decision(PromotionKind::kEntered, std::move(reason), *std::move(entry));
  }
  if (!standing_passed)
    return decision(PromotionKind::kReplaced, fmt::format("the standing one {}", WhyNot(*standing)), *std::move(entry));
  const Result<Entry> stood = EntryOf(*standing);
  if (!stood.ok()) return decision(PromotionKind::kRefused, stood.status().message());
  std::string reason = fmt::format("{} over the standing one",
                                   PercentText(entry->times.front().speed_up / stood->times.front().speed_up));
  if (!IsFasterBeyondNoise(*entry, *stood)) return decision(PromotionKind::kStands, reason + ", no more than noise");
  return decision(PromotionKind::kReplaced, std::move(reason), *std::move(entry));
}

}  // namespace gemmsmith
