#include "policy/train/imitation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "policy/prior.h"
#include "policy/sampler.h"
#include "policy/train/learning_rate.h"

namespace gemmsmith {

namespace {

// What was learned before is told beside the prior: at full strength it says once more what the prior has said already,
// and imitation begins further off than the prior alone.
constexpr double kLogitsBesideThePrior = 0.1;

// The likeliest of the plans that are left, and how likely: e^(kPriorStrength ln score), of all that were timed.
std::vector<WeightedPlan> WantedOf(const PlanGroup& group, int count) {
  std::vector<std::pair<double, const Exemplar*>> left;
  for (const Exemplar& variant : group.problem->variants)
    if (variant.judged.score && group.MayDraw(variant.plan)) left.emplace_back(*variant.judged.score, &variant);
  std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  left.resize(std::min(left.size(), size_t(count)));
  std::vector<WeightedPlan> wanted;
  double all = 0;
  for (const auto& [score, variant] : left) {
    wanted.push_back({&group, variant->plan, 1, std::pow(score / left.front().first, kPriorStrength)});
    all += wanted.back().weight;
  }
  for (WeightedPlan& plan : wanted) plan.weight /= all;
  return wanted;
}

std::vector<WeightedPlan> WantedOf(const std::vector<PlanGroup>& groups, int count) {
  std::vector<WeightedPlan> wanted;
  for (const PlanGroup& group : groups)
    for (WeightedPlan& plan : WantedOf(group, count)) {
      plan.weight /= double(groups.size());
      wanted.push_back(std::move(plan));
    }
  return wanted;
}

// Of a context's wanted plans, in the mean over contexts.
double CrossEntropy(const PolicyBatch& batch, std::span<const float> logs) {
  double sum = 0;
  for (size_t i = 0; i < logs.size(); ++i) sum -= double(batch.weights[i]) * double(logs[i]);
  return sum;
}

// Log probabilities where all words are alike but for what is believed.
std::vector<float> LogPriors(const PolicyBatch& batch) {
  std::vector<float> logs;
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    double all = 0, own = 0;
    const int32_t drawn =
        batch.texts.tokens[size_t(batch.rows[i]) * size_t(batch.texts.length) + size_t(batch.positions[i])];
    for (int64_t at = batch.allowed_from[i]; at < batch.allowed_from[i + 1]; ++at) {
      const double prior = batch.log_prior[size_t(at)];
      all += std::exp(prior);
      if (batch.allowed[size_t(at)] == drawn) own = prior;
    }
    logs.push_back(float(own - std::log(all)));
  }
  return logs;
}

}  // namespace

std::string Describe(const ImitationOptions& options) {
  return fmt::format(
      "imitation steps={} problems={} plans={} learning_rate={} warm_up={} seed={} logits={} without={} experience={}",
      options.steps, options.problems, options.plans, options.learning_rate, options.warm_up, options.seed,
      kLogitsBesideThePrior, Print(options.ablations), options.experience.Fingerprint());
}

Status Imitate(const std::vector<RecordedProblem>& problems, const std::vector<RecordedProblem>& held_out,
               const PolicyModel& begin_with, const ImitationOptions& options, Trainer& trainer,
               const std::filesystem::path& folder, const TrainingHooks& hooks) {
  if (problems.empty())
    return InvalidArgument(
        "no problem to imitate: records need plans that were timed beside a baseline of their layout, of shapes that "
        "are not held out");
  RETURN_IF_ERROR(CheckRoomForContexts(begin_with));
  const TrainingRun run = {
      .folder = folder,
      .steps = options.steps,
      .options = fmt::format("{} from={} problems={}", Describe(options), Fingerprint(begin_with), problems.size())};
  PolicyModel begin = begin_with;
  begin.ablations = Union(begin.ablations, options.ablations);
  if (!begin.ablations.prior)
    for (float& weight : begin.final_norm) weight *= float(kLogitsBesideThePrior);
  const std::unique_ptr<PlanJudge> judge = MakeRecordedJudge();
  const auto draw = [&](const std::vector<RecordedProblem>& from, int count, Occasion occasion, Random random) {
    const std::vector<PlanGroup> groups =
        DrawGroups(from, count, begin.ablations, options.experience, *judge, random, occasion);
    return BatchOf(WantedOf(groups, options.plans), Weight::kOfEachChoice);
  };
  std::optional<PolicyBatch> validation;
  double validation_prior_loss = 0;
  if (!held_out.empty()) {
    validation =
        draw(held_out, options.validation_problems, Occasion::kValidation, Random(options.seed).Fork("validation"));
    validation_prior_loss = CrossEntropy(*validation, LogPriors(*validation));
  }
  const auto take_step = [&](int64_t step) -> Result<nlohmann::ordered_json> {
    PolicyBatch batch = draw(problems, options.problems, Occasion::kLearning,
                             Random(options.seed).Fork(fmt::format("wanted of step {}", step)));
    StepOptions adam = options.adam;
    adam.learning_rate = WarmedUp(options.learning_rate, options.warm_up, options.steps, step);
    ASSIGN_OR_RETURN(batch.old_logs, trainer.LogProbabilities(batch));
    batch.reference_logs = batch.old_logs;
    // With the ratio at 1 the gain's gradient is that of the log probabilities.
    ASSIGN_OR_RETURN(const PolicyResult result, trainer.PolicyStep(batch, step, adam, {.kl_weight = 0}));
    const double loss = CrossEntropy(batch, batch.old_logs);
    nlohmann::ordered_json line = {{"step", step},
                                   {"loss", loss},
                                   {"prior_loss", CrossEntropy(batch, LogPriors(batch))},
                                   {"grad_norm", result.gradient_norm},
                                   {"learning_rate", adam.learning_rate}};
    if (validation && (step % options.validate_every == 0 || step == options.steps)) {
      ASSIGN_OR_RETURN(const std::vector<float> logs, trainer.LogProbabilities(*validation));
      line["validation_loss"] = CrossEntropy(*validation, logs);
      line["validation_prior_loss"] = validation_prior_loss;
    }
    hooks.watch(step, loss);
    return line;
  };
  return RunSteps(run, begin, trainer, hooks, take_step);
}

}  // namespace gemmsmith
