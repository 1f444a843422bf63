#include "policy/contexts.h"

#include <algorithm>
#include <cmath>

#include "policy/contrast.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

constexpr size_t kExemplars = 2;
constexpr size_t kMaxReasons = 3;
constexpr double kMinDifference = 0.1;  // of a counter that is a reason, relative
constexpr double kSameScore = 0.01;     // within the noise of a screening

// Counters that distinguish kernels; each costs a context three words.
constexpr Counter kShownCounters[] = {
    Counter::kTensorPipe,          Counter::kAchievedOccupancy, Counter::kWaves,
    Counter::kDramPercent,         Counter::kL2Percent,         Counter::kBankConflictsWgmma,
    Counter::kStallLongScoreboard, Counter::kStallWgmma};

std::optional<double> Find(const JudgedAs& judged, Counter counter) {
  for (const auto& [known, value] : judged.counters)
    if (known == counter) return value;
  return std::nullopt;
}

double RelativeDifference(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return larger > 0 ? std::abs(a - b) / larger : 0;
}

}  // namespace

double ScoreOf(const Gemm& gemm, const Device& device, double time_ns) {
  return MakeTask(gemm).FloorNs(device) / time_ns;
}

double TimeOf(const Gemm& gemm, const Device& device, double score) { return MakeTask(gemm).FloorNs(device) / score; }

JudgedAs AsJudged(const Gemm& gemm, const Device& device, const Outcome& outcome) {
  JudgedAs judged{.kind = outcome.kind};
  const bool passed = outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
  if (!passed) {
    const bool is_known = std::find(kStages.begin(), kStages.end(), outcome.stage) != kStages.end();
    judged.stage = is_known ? outcome.stage : kStages.back();
  }
  if (outcome.IsTimed()) judged.score = ScoreOf(gemm, device, outcome.TimeNs());
  if (!outcome.counters) return judged;
  for (const Counter counter : kShownCounters)
    if (const std::optional<double> value = (*outcome.counters)[counter]) judged.counters.emplace_back(counter, *value);
  return judged;
}

std::vector<Exemplar> ChooseExemplars(std::span<const Exemplar> variants, double temperature, Random& random) {
  std::vector<const Exemplar*> scored;
  std::vector<double> scores;
  for (const Exemplar& variant : variants) {
    if (!variant.judged.score) continue;
    scored.push_back(&variant);
    scores.push_back(*variant.judged.score);
  }
  std::vector<Exemplar> chosen;
  for (const size_t variant : ChooseContrasting(scores, kExemplars, temperature, random))
    chosen.push_back(*scored[variant]);
  return chosen;
}

std::optional<Analysis> Analyse(std::span<const Exemplar> exemplars) {
  if (exemplars.size() < 2 || !exemplars[0].judged.score || !exemplars[1].judged.score) return std::nullopt;
  const double first = *exemplars[0].judged.score, second = *exemplars[1].judged.score;
  Analysis analysis;
  if (RelativeDifference(first, second) < kSameScore) return analysis;
  const bool first_wins = first > second;
  analysis.faster = first_wins ? Mark::kFirst : Mark::kSecond;
  const JudgedAs& winner = exemplars[first_wins ? 0 : 1].judged;
  const JudgedAs& loser = exemplars[first_wins ? 1 : 0].judged;
  std::vector<std::pair<double, Analysis::Reason>> reasons;
  for (const auto& [counter, value] : winner.counters) {
    const std::optional<double> other = Find(loser, counter);
    if (!other) continue;
    const double difference = RelativeDifference(value, *other);
    if (difference >= kMinDifference) reasons.push_back({difference, {counter, value > *other}});
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < std::min(kMaxReasons, reasons.size()); ++i) analysis.reasons.push_back(reasons[i].second);
  return analysis;
}

int GoalOf(const JudgedAs& judged, double best_score) {
  if (!judged.score) return 0;
  const double percent = 100 * *judged.score / best_score;
  const auto above = std::upper_bound(kGoalPercents.begin(), kGoalPercents.end(), percent,
                                      [](double value, int bound) { return value < bound; });
  return int(above - kGoalPercents.begin()) - 1;
}

Document ContextFor(const Gemm& gemm, const Device& device, std::span<const Exemplar> variants,
                    const ContextOptions& options, Random& random) {
  Document document{.gemm = gemm, .device = FactsOf(device)};
  document.exemplars = ChooseExemplars(variants, options.temperature, random);
  if (options.ablations.contrast) document.exemplars.clear();
  if (options.ablations.counters)
    for (Exemplar& exemplar : document.exemplars) exemplar.judged.counters.clear();
  if (!options.ablations.analysis) document.analysis = Analyse(document.exemplars);
  document.goal = kBestGoal;
  return document;
}

// Of numbers that need every digit, and everything that may be there.
int LongestContext() {
  constexpr int kOdd = 0x7fffffff;
  Document document{.gemm = {.shape = {kOdd, kOdd, kOdd}, .lda = kOdd, .ldb = kOdd, .ldc = kOdd},
                    .device = {kOdd, kOdd, kOdd, kOdd, 1, 1, 1, 1},
                    .analysis = Analysis{.reasons = {kMaxReasons, {Counter::kDuration, true}}},
                    .goal = kBestGoal};
  Exemplar exemplar{.judged = {.kind = OutcomeKind::kMeasured, .score = 1}};
  for (const Counter counter : kShownCounters) exemplar.judged.counters.emplace_back(counter, 1);
  size_t longest = 0;
  for (const Family& family : Families()) {
    exemplar.plan = DefaultPlan(family.id);
    document.exemplars = {exemplar, exemplar};
    longest = std::max(longest, EncodeContext(document).size());
  }
  return int(longest);
}

}  // namespace gemmsmith
