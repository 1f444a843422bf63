#include "policy/train/grpo.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "policy/sampler.h"
#include "policy/train/groups.h"

namespace gemmsmith {

namespace {

// A plan that was drawn, and what its judge says of it.
struct Answer {
  Plan plan;
  RecordedPlan judged;
  double reward = 0;  // of the problem's scale
};

// The plans drawn from a context.
struct Group {
  PlanGroup asked;
  std::vector<Answer> answers;
  std::vector<Plan> missed;  // legal, but nobody knows what they are worth
};

Result<std::vector<Group>> AskFor(std::vector<PlanGroup> asked, const PolicyModel& model, const GrpoOptions& options,
                                  PlanJudge& judge, Random& random) {
  std::vector<SampleRequest> requests;
  for (const PlanGroup& group : asked) requests.push_back({group.context, group.mask.get()});
  const auto sampled = SamplePlans(model, requests, {.plans = options.group, .seed = random.Next()});
  std::vector<DrawnPlans> drawn;
  for (size_t i = 0; i < asked.size(); ++i) {
    drawn.push_back({.problem = asked[i].problem});
    for (const SampledPlan& one : sampled[i]) drawn.back().plans.push_back(one.plan);
  }
  ASSIGN_OR_RETURN(const std::vector<JudgedPlans> judged, judge.Judge(drawn));
  std::vector<Group> groups;
  for (size_t i = 0; i < asked.size(); ++i) {
    Group& group = groups.emplace_back(Group{.asked = std::move(asked[i])});
    for (size_t j = 0; j < drawn[i].plans.size(); ++j) {
      const Plan& plan = drawn[i].plans[j];
      if (const std::optional<RecordedPlan>& answer = judged[i][j])
        group.answers.push_back({plan, *answer, group.asked.problem->scale.Of(answer->reward)});
      else
        group.missed.push_back(plan);
    }
  }
  return groups;
}

std::vector<double> RewardsOf(const Group& group) {
  std::vector<double> rewards;
  for (const Answer& answer : group.answers) rewards.push_back(answer.reward);
  return rewards;
}

size_t AnswersOf(const std::vector<Group>& groups) {
  size_t answers = 0;
  for (const Group& group : groups) answers += group.answers.size();
  return answers;
}

// Every plan that has an answer counts alike, however many words of it were chosen.
PolicyBatch BatchFrom(const std::vector<Group>& groups) {
  std::vector<WeightedPlan> plans;
  const double weight = 1.0 / double(AnswersOf(groups));
  for (const Group& group : groups) {
    if (group.answers.empty()) continue;
    const std::vector<double> advantages = Advantages(RewardsOf(group));
    for (size_t i = 0; i < group.answers.size(); ++i) {
      plans.push_back({&group.asked, group.answers[i].plan, advantages[i], weight});
    }
  }
  return BatchOf(plans, Weight::kOfThePlan);
}

bool WasLegal(OutcomeKind kind) { return kind != OutcomeKind::kIllegal; }
bool WasCompiled(OutcomeKind kind) { return kind > OutcomeKind::kResourceOver; }
bool WasCorrect(OutcomeKind kind) { return kind == OutcomeKind::kMeasured || kind == OutcomeKind::kVerified; }

nlohmann::ordered_json MeanOrNull(std::span<const double> values) {
  return values.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(Mean(values));
}

// Statistics of the groups' rewards, under the field's names.
nlohmann::ordered_json LogOf(int64_t step, const std::vector<Group>& groups, const PolicyResult& result,
                             double learning_rate, std::optional<int64_t> evaluations) {
  std::vector<double> rewards, deviations, speed_ups, lengths, legal, missed, compiled, correct;
  for (const Group& group : groups) {
    if (!group.answers.empty()) deviations.push_back(StandardDeviation(RewardsOf(group)));
    for (const Answer& answer : group.answers) {
      const OutcomeKind kind = answer.judged.kind;
      rewards.push_back(answer.reward);
      lengths.push_back(double(EncodePlan(answer.plan).size()));
      legal.push_back(WasLegal(kind)), missed.push_back(0);
      compiled.push_back(WasCompiled(kind)), correct.push_back(WasCorrect(kind));
      if (answer.judged.speed_up) speed_ups.push_back(*answer.judged.speed_up);
    }
    for (const Plan& plan : group.missed) {
      lengths.push_back(double(EncodePlan(plan).size()));
      legal.push_back(1), missed.push_back(1);
    }
  }
  return {{"step", step},
          {"reward", MeanOrNull(rewards)},
          {"reward_std", MeanOrNull(deviations)},
          {"kl", result.kl},
          {"entropy", result.entropy},
          {"clip_frac", result.clip_fraction},
          {"completions/mean_length", MeanOrNull(lengths)},
          {"legal", MeanOrNull(legal)},
          {"missed", MeanOrNull(missed)},
          {"compiled", MeanOrNull(compiled)},
          {"correct", MeanOrNull(correct)},
          {"loss", result.loss},
          {"grad_norm", result.gradient_norm},
          {"learning_rate", learning_rate},
          {"speedup", MeanOrNull(speed_ups)},
          {"evaluations", evaluations ? nlohmann::ordered_json(*evaluations) : nlohmann::ordered_json()}};
}

// Some gradient steps on what the groups answered.
Result<PolicyResult> Learn(const std::vector<Group>& groups, int64_t step, const GrpoOptions& options,
                           const StepOptions& adam, Trainer& trainer, Trainer& reference_trainer) {
  PolicyResult result;
  if (AnswersOf(groups) == 0) return result;
  PolicyBatch batch = BatchFrom(groups);
  ASSIGN_OR_RETURN(batch.old_logs, trainer.LogProbabilities(batch));
  ASSIGN_OR_RETURN(batch.reference_logs, reference_trainer.LogProbabilities(batch));
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    ASSIGN_OR_RETURN(result, trainer.PolicyStep(batch, (step - 1) * options.epochs + epoch + 1, adam, options.policy));
  }
  return result;
}

double LearningRate(const GrpoOptions& options, int64_t step) {
  return options.learning_rate * std::min(1.0, double(step) / double(std::max(1, options.warm_up)));
}

}  // namespace

std::string Describe(const GrpoOptions& options) {
  return fmt::format(
      "grpo steps={} problems={} group={} epochs={} learning_rate={} warm_up={} seed={} clip={} kl={} "
      "entropy={} without={} experience={}",
      options.steps, options.problems, options.group, options.epochs, options.learning_rate, options.warm_up,
      options.seed, options.policy.clip, options.policy.kl_weight, options.policy.entropy_weight,
      Print(options.ablations), options.experience.Fingerprint());
}

Status LearnByReward(const std::vector<RecordedProblem>& problems, const PolicyModel& reference,
                     const GrpoOptions& options, PlanJudge& judge, Trainer& trainer, Trainer& reference_trainer,
                     const std::filesystem::path& folder, const TrainingHooks& hooks) {
  if (problems.empty())
    return InvalidArgument(
        "no problem to learn from: records need plans that were timed beside a baseline of their "
        "layout, of shapes that are not held out");
  RETURN_IF_ERROR(CheckRoomForContexts(reference));
  RETURN_IF_ERROR(PutModel(reference, reference_trainer));
  const TrainingRun run = {.folder = folder,
                           .steps = options.steps,
                           .options = fmt::format("{} from={} problems={} {}", Describe(options),
                                                  Fingerprint(reference), problems.size(), judge.name())};
  PolicyModel begin = reference;
  begin.ablations = Union(reference.ablations, options.ablations);
  const auto take_step = [&](int64_t step) -> Result<nlohmann::ordered_json> {
    Random random = Random(options.seed).Fork(fmt::format("groups of step {}", step));
    ASSIGN_OR_RETURN(const PolicyModel model, GetModel(begin.config, trainer));
    ASSIGN_OR_RETURN(const std::vector<Group> groups,
                     AskFor(DrawGroups(problems, options.problems, begin.ablations, options.experience, judge, random),
                            model, options, judge, random));
    StepOptions adam = options.adam;
    adam.learning_rate = LearningRate(options, step);
    ASSIGN_OR_RETURN(const PolicyResult result, Learn(groups, step, options, adam, trainer, reference_trainer));
    const nlohmann::ordered_json line = LogOf(step, groups, result, adam.learning_rate, judge.evaluations());
    const nlohmann::ordered_json& reward = line["reward"];
    hooks.watch(step, reward.is_null() ? std::nullopt : std::optional(reward.get<double>()));
    return line;
  };
  return RunSteps(run, begin, trainer, hooks, take_step);
}

}  // namespace gemmsmith
