#include "policy/train/pretraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/train/learning_rate.h"

namespace gemmsmith {

namespace {

nlohmann::ordered_json LogLine(int64_t step, const StepResult& result, double learning_rate, const TokenBatch& batch,
                               std::optional<double> validation_loss) {
  nlohmann::ordered_json json = {
      {"step", step},
      {"loss", result.loss},
      {"grad_norm", result.gradient_norm},
      {"learning_rate", learning_rate},
      {"words", std::count_if(batch.weights.begin(), batch.weights.end(), [](float weight) { return weight > 0; })}};
  if (validation_loss) json["validation_loss"] = *validation_loss;
  return json;
}

TokenBatch DrawBatch(int rows, const std::function<Document()>& draw) {
  std::vector<WeightedTokens> documents;
  for (int i = 0; i < rows; ++i) documents.push_back(WeightedDocument(draw()));
  return BatchOf(documents);
}

// The same documents every time.
TokenBatch ValidationBatch(const PretrainingSet& set, const PretrainingOptions& options) {
  Random random = Random(options.seed).Fork("validation");
  return DrawBatch(options.validation_batch, [&] { return set.DrawHeldOut(options.ablations, random); });
}

}  // namespace

std::string Describe(const PretrainingOptions& options) {
  return fmt::format(
      "steps={} batch={} learning_rate={} warm_up={} seed={} beta1={} beta2={} decay={} norm={} without={}",
      options.steps, options.batch, options.learning_rate, options.warm_up, options.seed, options.adam.beta1,
      options.adam.beta2, options.adam.weight_decay, options.adam.largest_norm, Print(options.ablations));
}

Status Pretrain(const PretrainingSet& set, const ModelConfig& config, const PretrainingOptions& options,
                Trainer& trainer, const std::filesystem::path& folder, const TrainingHooks& hooks) {
  const TrainingRun run = {
      .folder = folder,
      .steps = options.steps,
      .options = fmt::format("{} config={}x{}x{}x{} problems={} trials={}", Describe(options), config.layers,
                             config.width, config.heads, config.hidden, set.problems(), set.trials())};
  std::optional<TokenBatch> validation;
  if (set.held_out_problems() > 0) validation = ValidationBatch(set, options);
  const auto take_step = [&](int64_t step) -> Result<nlohmann::ordered_json> {
    Random random = Random(options.seed).Fork(fmt::format("documents of step {}", step));
    const TokenBatch batch = DrawBatch(options.batch, [&] { return set.Draw(options.ablations, random); });
    StepOptions adam = options.adam;
    adam.learning_rate = WarmedUp(options.learning_rate, options.warm_up, options.steps, step);
    ASSIGN_OR_RETURN(const StepResult result, trainer.Step(batch, step, adam));
    std::optional<double> validation_loss;
    if (validation && (step % options.validate_every == 0 || step == options.steps)) {
      ASSIGN_OR_RETURN(validation_loss, trainer.Loss(*validation));
    }
    hooks.watch(step, result.loss);
    return LogLine(step, result, adam.learning_rate, batch, validation_loss);
  };
  PolicyModel begin = NewModel(config, options.seed);
  begin.ablations = options.ablations;
  return RunSteps(run, begin, trainer, hooks, take_step);
}

}  // namespace gemmsmith
