#include "policy/train/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/all_cores.h"
#include "policy/prior.h"
#include "problem/held_out.h"

namespace gemmsmith {

namespace {

constexpr double kByPredictionShare = 0.5;
// The least number of plans that a mask leaves, however many are known.
constexpr size_t kMinLeft = 2;
// Sizes of the grid that have others on both sides: what lies beyond those that are known nobody asks for.
constexpr int kMinHidden = 128, kMaxHidden = 8192;

// Without return: half of the times by weights e^belief (Gumbel's way), else all alike.
std::vector<Exemplar> DrawKnownOf(const RecordedProblem& problem, const Space& space, const Forecast& forecast,
                                  Random& random) {
  std::vector<float> log_prior(space.size());
  if (random.Uniform() < kByPredictionShare) log_prior = LogPriorOf(forecast);
  std::vector<std::pair<double, const Exemplar*>> keys;
  for (const Exemplar& variant : problem.variants) {
    const std::optional<size_t> at = space.IndexOf(variant.plan);
    const double gumbel = -std::log(-std::log(std::max(random.Uniform(), 1e-12)));
    keys.push_back({gumbel + (at ? double(log_prior[*at]) : 0), &variant});
  }
  const size_t most = keys.size() - std::min(keys.size(), kMinLeft);
  const size_t count = std::min(DrawKnownCount(random), most);
  std::partial_sort(keys.begin(), keys.begin() + long(count), keys.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Exemplar> known;
  for (size_t i = 0; i < count; ++i) known.push_back(*keys[i].second);
  return known;
}

// What the experience of a problem in training must do without. The shape itself is in the records that are learned
// from. And where a size is held out, as in every comparison, no problem with it is known: with all of the others
// known, experience was righter in training than it is anywhere else, and the rest not worth learning
// (docs/lab/policy.md).
std::function<bool(const Shape&)> ForgottenWith(const Shape& shape, Occasion occasion, Random random) {
  if (occasion == Occasion::kValidation) return [shape](const Shape& other) { return other == shape; };
  std::vector<int> sizes = {shape.m, shape.n, shape.k};
  std::erase_if(sizes, [](int size) { return size < kMinHidden || size > kMaxHidden; });
  if (sizes.empty()) return [shape](const Shape& other) { return other == shape; };
  const HeldOut hidden{.sizes = {sizes[random.Below(sizes.size())]}};
  return [hidden](const Shape& other) { return IsHeldOut(other, hidden); };
}

void Fill(PlanGroup& group, const Ablations& ablations, const Experience& experience, Occasion occasion,
          Random random) {
  const RecordedProblem& problem = *group.problem;
  const Space& space = group.space == nullptr ? *problem.space : *group.space;
  Forecast forecast({.gemm = problem.gemm,
                     .device = problem.device,
                     .space = &space,
                     .experience = &experience,
                     .forgets = ForgottenWith(problem.gemm.shape, occasion, random.Fork("forgotten"))});
  const std::vector<Exemplar> known = DrawKnownOf(problem, space, forecast, random);
  Document context = ContextFor(problem.gemm, problem.device, known, {.ablations = ablations}, random);
  if (occasion == Occasion::kLearning) context.gemm.shape = Blurred(context.gemm.shape, random);
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
  if (!ablations.prior) mask->SetLogPrior(LogPriorOf(forecast));
  group.mask = std::move(mask);
}

}  // namespace

std::vector<PlanGroup> DrawGroups(const std::vector<RecordedProblem>& problems, int count, const Ablations& ablations,
                                  const Experience& experience, PlanJudge& judge, Random& random, Occasion occasion) {
  std::vector<PlanGroup> groups(static_cast<size_t>(count));
  std::vector<const RecordedProblem*> drawn;
  for (PlanGroup& group : groups) {
    group.problem = &problems[random.Below(problems.size())];
    drawn.push_back(group.problem);
  }
  if (!ablations.mask) {
    const std::vector<std::shared_ptr<const Space>> spaces = judge.SpacesOf(drawn);
    for (size_t i = 0; i < groups.size(); ++i) groups[i].space = spaces[i];
  }
  const Random of_groups(random.Next());
  ForEachOnAllCores(groups.size(), [&](size_t i) {
    Fill(groups[i], ablations, experience, occasion, of_groups.Fork(fmt::format("group {}", i)));
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
        batch.log_prior.insert(batch.log_prior.end(), allowed.log_prior.begin(), allowed.log_prior.end());
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
