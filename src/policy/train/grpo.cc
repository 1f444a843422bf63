#include "policy/train/grpo.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "policy/sampler.h"
#include "policy/train/checkpoint.h"

namespace gemmsmith {

namespace {

// A context, what was drawn from it, and what that is worth.
struct Group {
  const RecordedProblem* problem = nullptr;
  std::vector<Token> context;
  std::vector<Plan> plans;
  std::vector<double> rewards;  // of the problem's scale
};

std::vector<Group> DrawGroups(const std::vector<RecordedProblem>& problems, const PolicyModel& model,
                              const GrpoOptions& options, Random& random) {
  std::vector<Group> groups;
  std::vector<SpacePlanMask> masks;
  for (int i = 0; i < options.problems; ++i) {
    const RecordedProblem& problem = problems[random.Below(problems.size())];
    const std::vector<Exemplar> known = DrawKnown(problem.variants, std::nullopt, random);
    groups.push_back({&problem, EncodeContext(ContextFor(problem.gemm, problem.device, known, {}, random))});
    masks.emplace_back(*problem.space);
  }
  std::vector<SampleRequest> requests;
  for (size_t i = 0; i < groups.size(); ++i) requests.push_back({groups[i].context, &masks[i]});
  const auto drawn = SamplePlans(model, requests, {.plans = options.group, .seed = random.Next()});
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const SampledPlan& sampled : drawn[i]) {
      groups[i].plans.push_back(sampled.plan);
      groups[i].rewards.push_back(groups[i].problem->scale.Of(groups[i].problem->plans.at(sampled.plan).reward));
    }
  }
  return groups;
}

// The words of a plan that the policy chose: where its mask left but one, there was no choice.
void AddChoices(const Group& group, const Plan& plan, double advantage, int32_t row, double weight,
                PolicyBatch& batch) {
  const SpacePlanMask mask(*group.problem->space);
  PlanPrefix prefix;
  const size_t first = batch.rows.size();
  int32_t position = int32_t(group.context.size());
  for (const Token token : EncodePlan(plan)) {
    const std::vector<Token> allowed = mask.AllowedAfter(prefix);
    if (allowed.size() > 1) {
      batch.rows.push_back(row);
      batch.positions.push_back(position);
      batch.advantages.push_back(float(advantage));
      batch.allowed.insert(batch.allowed.end(), allowed.begin(), allowed.end());
      batch.allowed_from.push_back(int64_t(batch.allowed.size()));
    }
    prefix.Take(token);
    ++position;
  }
  const size_t choices = batch.rows.size() - first;
  batch.weights.insert(batch.weights.end(), choices, float(weight / double(std::max<size_t>(1, choices))));
}

PolicyBatch BatchFrom(const std::vector<Group>& groups) {
  PolicyBatch batch;
  std::vector<WeightedTokens> texts;
  size_t plans = 0;
  for (const Group& group : groups) plans += group.plans.size();
  for (const Group& group : groups) {
    const std::vector<double> advantages = Advantages(group.rewards);
    for (size_t i = 0; i < group.plans.size(); ++i) {
      AddChoices(group, group.plans[i], advantages[i], int32_t(texts.size()), 1.0 / double(plans), batch);
      std::vector<Token> text = group.context;
      const std::vector<Token> words = EncodePlan(group.plans[i]);
      text.insert(text.end(), words.begin(), words.end());
      texts.push_back({text, std::vector<float>(text.size(), 0.0f)});
    }
  }
  batch.texts = BatchOf(texts);
  return batch;
}

bool WasLegal(OutcomeKind kind) { return kind != OutcomeKind::kIllegal; }
bool WasCompiled(OutcomeKind kind) { return kind > OutcomeKind::kResourceOver; }
bool WasCorrect(OutcomeKind kind) { return kind == OutcomeKind::kMeasured || kind == OutcomeKind::kVerified; }

// What the groups were worth, under the field's names.
nlohmann::ordered_json LogOf(int64_t step, const std::vector<Group>& groups, const PolicyResult& result,
                             double learning_rate) {
  std::vector<double> rewards, deviations, speed_ups;
  double words = 0, legal = 0, compiled = 0, correct = 0;
  for (const Group& group : groups) {
    deviations.push_back(StandardDeviation(group.rewards));
    for (size_t i = 0; i < group.plans.size(); ++i) {
      const RecordedPlan& recorded = group.problem->plans.at(group.plans[i]);
      rewards.push_back(group.rewards[i]);
      words += double(EncodePlan(group.plans[i]).size());
      legal += WasLegal(recorded.kind), compiled += WasCompiled(recorded.kind), correct += WasCorrect(recorded.kind);
      if (recorded.speed_up) speed_ups.push_back(*recorded.speed_up);
    }
  }
  const double plans = double(rewards.size());
  nlohmann::ordered_json json = {{"step", step},
                                 {"reward", Mean(rewards)},
                                 {"reward_std", Mean(deviations)},
                                 {"kl", result.kl},
                                 {"entropy", result.entropy},
                                 {"clip_frac", result.clip_fraction},
                                 {"completions/mean_length", words / plans},
                                 {"legal", legal / plans},
                                 {"compiled", compiled / plans},
                                 {"correct", correct / plans},
                                 {"loss", result.loss},
                                 {"grad_norm", result.gradient_norm},
                                 {"learning_rate", learning_rate}};
  json["speedup"] = speed_ups.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(Mean(speed_ups));
  return json;
}

double LearningRate(const GrpoOptions& options, int64_t step) {
  return options.learning_rate * std::min(1.0, double(step) / double(std::max(1, options.warm_up)));
}

}  // namespace

std::string Describe(const GrpoOptions& options) {
  return fmt::format(
      "grpo steps={} problems={} group={} epochs={} learning_rate={} warm_up={} seed={} clip={} kl={} "
      "entropy={}",
      options.steps, options.problems, options.group, options.epochs, options.learning_rate, options.warm_up,
      options.seed, options.policy.clip, options.policy.kl_weight, options.policy.entropy_weight);
}

Status LearnByReward(const std::vector<RecordedProblem>& problems, const PolicyModel& reference,
                     const GrpoOptions& options, Trainer& trainer, Trainer& reference_trainer,
                     const std::filesystem::path& folder, const std::function<bool()>& stop,
                     const std::function<void(const GrpoProgress&)>& watch) {
  if (problems.empty())
    return InvalidArgument(
        "no problem to learn from: records need plans that were timed beside a baseline of their "
        "layout, of shapes that are not held out");
  RETURN_IF_ERROR(CheckRoomForContexts(reference));
  RETURN_IF_ERROR(PutModel(reference, reference_trainer));
  const TrainingRun run = {
      .folder = folder,
      .steps = options.steps,
      .checkpoint_every = options.checkpoint_every,
      .options = fmt::format("{} from={} problems={}", Describe(options), Fingerprint(reference), problems.size())};
  const auto take_step = [&](int64_t step) -> Result<std::string> {
    Random random = Random(options.seed).Fork(fmt::format("groups of step {}", step));
    ASSIGN_OR_RETURN(const PolicyModel model, GetModel(reference.config, trainer));
    const std::vector<Group> groups = DrawGroups(problems, model, options, random);
    PolicyBatch batch = BatchFrom(groups);
    ASSIGN_OR_RETURN(batch.old_logs, trainer.LogProbabilities(batch));
    ASSIGN_OR_RETURN(batch.reference_logs, reference_trainer.LogProbabilities(batch));
    StepOptions adam = options.adam;
    adam.learning_rate = LearningRate(options, step);
    PolicyResult result;
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
      ASSIGN_OR_RETURN(result,
                       trainer.PolicyStep(batch, (step - 1) * options.epochs + epoch + 1, adam, options.policy));
    }
    const nlohmann::ordered_json line = LogOf(step, groups, result, adam.learning_rate);
    watch({step, line["reward"].get<double>()});
    return line.dump();
  };
  return TakeSteps(run, reference, trainer, stop, take_step);
}

}  // namespace gemmsmith
