#include "policy/train/pretraining_set.h"
#include "policy/spoken.h"

#include <algorithm>

namespace gemmsmith {

namespace {

constexpr double kBestShare = 0.5;

// Some of the variants, never the one at `hidden`; one may come twice.
std::vector<Exemplar> DrawKnown(std::span<const Exemplar> variants, size_t hidden, Random& random) {
  std::vector<Exemplar> known;
  const size_t count = variants.size() < 2 ? 0 : DrawKnownCount(random);
  while (known.size() < count)
    if (const size_t drawn = random.Below(variants.size()); drawn != hidden) known.push_back(variants[drawn]);
  return known;
}

}  // namespace

Shape Blurred(Shape shape, Random& random) {
  constexpr double kShare = 0.05;
  for (int* const size : {&shape.m, &shape.n, &shape.k})
    if (random.Uniform() < kShare) *size = random.Uniform() < 0.5 ? *size * 2 : std::max(1, *size / 2);
  return shape;
}

size_t DrawKnownCount(Random& random) {
  constexpr size_t kCounts[] = {0, 0, 2, 4, 8, 16, 32};
  return kCounts[random.Below(std::size(kCounts))];
}

JudgedAs AsJudged(const Gemm& gemm, const Device& device, const PlanTrials& trials) {
  JudgedAs judged = AsJudged(gemm, device, trials.timed->outcome);
  if (trials.profiled != nullptr) judged.counters = AsJudged(gemm, device, trials.profiled->outcome).counters;
  return judged;
}

TrialsByProblem GroupTrials(std::span<const Trial> trials) {
  TrialsByProblem by_problem;
  for (const Trial& trial : trials) {
    if (!trial.HasPlan() || !IsSpokenWhole(trial.plan()) || !FindDevice(trial.setting.device_key).ok()) continue;
    PlanTrials& known = by_problem[{trial.setting.device_key, trial.gemm}][trial.plan()];
    if (known.timed == nullptr || MoreCareful(trial.outcome.protocol, known.timed->outcome.protocol))
      known.timed = &trial;
    if (trial.outcome.counters) known.profiled = &trial;
  }
  return by_problem;
}

Result<PretrainingSet> PretrainingSet::From(std::span<const Trial> trials, const HeldOut& held_out) {
  PretrainingSet set;
  for (const auto& [key, plans] : GroupTrials(trials)) {
    TrainingProblem problem{.gemm = key.second, .device = *FindDevice(key.first)};
    for (const auto& [plan, of_plan] : plans) {
      problem.variants.push_back({plan, AsJudged(problem.gemm, problem.device, of_plan)});
      problem.best_score = std::max(problem.best_score, problem.variants.back().judged.score.value_or(0));
    }
    for (size_t i = 0; i < problem.variants.size(); ++i)
      if (GoalOf(problem.variants[i].judged, problem.best_score) == kBestGoal) problem.best.push_back(i);
    if (problem.best.empty()) continue;
    set.trials_ += problem.variants.size();
    (IsHeldOut(problem.gemm.shape, held_out) ? set.held_out_ : set.training_).push_back(std::move(problem));
  }
  if (set.training_.empty())
    return InvalidArgument(
        "no trial to train on: records need plans that were timed on a known device, of shapes that "
        "are not held out");
  return set;
}

Document PretrainingSet::Draw(const Ablations& ablations, Random& random) const {
  Document document = DrawFrom(training_, ablations, random);
  document.gemm.shape = Blurred(document.gemm.shape, random);
  return document;
}

Document PretrainingSet::DrawFrom(const std::vector<TrainingProblem>& problems, const Ablations& ablations,
                                  Random& random) {
  GEMMSMITH_CHECK(!problems.empty(), "no problem to draw from");
  const TrainingProblem& problem = problems[random.Below(problems.size())];
  const size_t chosen = random.Uniform() < kBestShare ? problem.best[random.Below(problem.best.size())]
                                                      : size_t(random.Below(problem.variants.size()));
  const std::vector<Exemplar> known = DrawKnown(problem.variants, chosen, random);
  Document document = ContextFor(problem.gemm, problem.device, known, {.ablations = ablations}, random);
  const Exemplar& candidate = problem.variants[chosen];
  document.goal = GoalOf(candidate.judged, problem.best_score);
  document.candidate = candidate.plan;
  document.judged = candidate.judged;
  document.judged->counters.clear();
  return document;
}

WeightedTokens WeightedDocument(const Document& document) {
  const Vocabulary& words = TokenVocabulary();
  WeightedTokens weighted{.tokens = Encode(document)};
  bool is_said = false;
  for (const Token token : weighted.tokens) {
    weighted.weights.push_back(is_said && !words.goals.Has(token) && token != words[Mark::kCandidate] ? 1.0f : 0.0f);
    is_said = is_said || token == words[Mark::kAnalysis] || token == words[Mark::kCandidate];
  }
  return weighted;
}

}  // namespace gemmsmith
