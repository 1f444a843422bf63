#include "policy/train/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/all_cores.h"
#include "policy/prior.h"

namespace gemmsmith {

namespace {

constexpr double kByPredictionShare = 0.5;
// What a mask leaves at least, however many plans are known.
constexpr size_t kLeastLeft = 2;

// Without return: half of the times by weights e^belief (Gumbel's way), else all alike.
std::vector<Exemplar> DrawKnownOf(const RecordedProblem& problem, const Space& space, const Forecast& forecast,
                                  Random& random) {
  std::vector<float> beliefs(space.size());
  if (random.Uniform() < kByPredictionShare) beliefs = BeliefsOf(forecast);
  std::vector<std::pair<double, const Exemplar*>> keys;
  for (const Exemplar& variant : problem.variants) {
    const std::optional<size_t> at = space.IndexOf(variant.plan);
    const double gumbel = -std::log(-std::log(std::max(random.Uniform(), 1e-12)));
    keys.push_back({gumbel + (at ? double(beliefs[*at]) : 0), &variant});
  }
  const size_t most = keys.size() - std::min(keys.size(), kLeastLeft);
  const size_t count = std::min(DrawKnownCount(random), most);
  std::partial_sort(keys.begin(), keys.begin() + long(count), keys.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Exemplar> known;
  for (size_t i = 0; i < count; ++i) known.push_back(*keys[i].second);
  return known;
}

void Fill(PlanGroup& group, const Without& without, const Experience& experience, Telling telling, Random random) {
  const RecordedProblem& problem = *group.problem;
  const Space& space = group.space == nullptr ? *problem.space : *group.space;
  // What is known of the problem itself is in the records that are learned from.
  Forecast forecast({.gemm = problem.gemm,
                     .device = problem.device,
                     .space = &space,
                     .experience = &experience,
                     .forgets_this_shape = true});
  const std::vector<Exemplar> known = DrawKnownOf(problem, space, forecast, random);
  Document context = ContextFor(problem.gemm, problem.device, known, {.without = without}, random);
  if (telling == Telling::kBlurred) context.gemm.shape = Blurred(context.gemm.shape, random);
  group.context = EncodeContext(context);
  if (group.space == nullptr) {
    group.mask = std::make_unique<AnyPlanMask>();
    return;
  }
  auto mask = std::make_unique<SpacePlanMask>(space);
  for (const Exemplar& one : known) {
    if (mask->Strike(one.plan)) group.known.insert(one.plan);
    if (one.judged.score) forecast.Learn(one.plan, TimeOf(problem.gemm, problem.device, *one.judged.score));
  }
  if (!without.prior) mask->Believe(BeliefsOf(forecast));
  group.mask = std::move(mask);
}

}  // namespace

std::vector<PlanGroup> DrawGroups(const std::vector<RecordedProblem>& problems, int count, const Without& without,
                                  const Experience& experience, PlanJudge& judge, Random& random, Telling telling) {
  std::vector<PlanGroup> groups(static_cast<size_t>(count));
  std::vector<const RecordedProblem*> drawn;
  for (PlanGroup& group : groups) {
    group.problem = &problems[random.Below(problems.size())];
    drawn.push_back(group.problem);
  }
  if (!without.mask) {
    const std::vector<std::shared_ptr<const Space>> spaces = judge.SpacesOf(drawn);
    for (size_t i = 0; i < groups.size(); ++i) groups[i].space = spaces[i];
  }
  const Random of_groups(random.Next());
  ForEachOnAllCores(groups.size(), [&](size_t i) {
    Fill(groups[i], without, experience, telling, of_groups.Fork(fmt::format("group {}", i)));
  });
  return groups;
}

PolicyBatch BatchOf(const std::vector<WeightedPlan>& plans, Weight weight) {
  PolicyBatch batch;
  std::vector<WeightedTokens> texts;
  for (const WeightedPlan& one : plans) {
    std::vector<Token> text = one.group->context;
    const size_t first = batch.rows.size();
    PlanPrefix prefix;
    for (const Token token : EncodePlan(one.plan)) {
      if (const AllowedWords allowed = one.group->mask->AllowedAfter(prefix); allowed.words.size() > 1) {
        batch.rows.push_back(int32_t(texts.size()));
        batch.positions.push_back(int32_t(text.size()));
        batch.advantages.push_back(float(one.advantage));
        batch.allowed.insert(batch.allowed.end(), allowed.words.begin(), allowed.words.end());
        batch.beliefs.insert(batch.beliefs.end(), allowed.beliefs.begin(), allowed.beliefs.end());
        batch.allowed_from.push_back(int64_t(batch.allowed.size()));
      }
      prefix.Take(token);
      text.push_back(token);
    }
    const size_t choices = batch.rows.size() - first, sharers = weight == Weight::kOfThePlan ? choices : 1;
    batch.weights.insert(batch.weights.end(), choices, float(one.weight / double(std::max<size_t>(1, sharers))));
    texts.push_back({text, std::vector<float>(text.size(), 0.0f)});
  }
  batch.texts = BatchOf(texts);
  return batch;
}

}  // namespace gemmsmith
