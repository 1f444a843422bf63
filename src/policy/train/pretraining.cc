#include "policy/train/pretraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/files.h"
#include "base/seconds.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefixes[] = {"", "first.", "second."};

// ---- the state ----

Result<std::string> EncodeState(const ModelConfig& config, Trainer& trainer, int64_t step, const std::string& options) {
  SafeTensors file;
  file.metadata = {{"gemmsmith_checkpoint", "1"},
                   {"tokens", TokenVocabulary().identity()},
                   {"step", fmt::format("{}", step)},
                   {"options", options}};
  PolicyModel shapes = NewModel(config, 0);
  for (const NamedWeights& weights : WeightsOf(shapes)) {
    for (const std::string_view prefix : kPrefixes) {
      const std::string name = fmt::format("{}{}", prefix, weights.name);
      Tensor& tensor = file.tensors[name];
      tensor.shape = weights.shape;
      ASSIGN_OR_RETURN(tensor.values, trainer.Get(name, weights.values->size()));
    }
  }
  return EncodeSafeTensors(file, NumberType::kF32);
}

Status PutState(SafeTensors& file, const ModelConfig& config, Trainer& trainer) {
  PolicyModel shapes = NewModel(config, 0);
  for (const NamedWeights& weights : WeightsOf(shapes)) {
    for (const std::string_view prefix : kPrefixes) {
      const std::string name = fmt::format("{}{}", prefix, weights.name);
      const Tensor& tensor = file.tensors[name];
      if (tensor.shape != weights.shape) return DataLoss(fmt::format("the checkpoint's '{}' has another shape", name));
      RETURN_IF_ERROR(trainer.Put(name, tensor.values));
    }
  }
  return OkStatus();
}

// The step that the state in the trainer stands behind: that of the checkpoint, or 0 with new weights.
Result<int64_t> Begin(const ModelConfig& config, const PretrainingOptions& options, const std::string& described,
                      Trainer& trainer, const fs::path& checkpoint) {
  std::error_code error;
  if (!fs::exists(checkpoint, error)) {
    RETURN_IF_ERROR(PutModel(NewModel(config, options.seed), trainer));
    return 0;
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(checkpoint));
  Result<SafeTensors> file = DecodeSafeTensors(bytes);
  if (!file.ok())
    return DataLoss(fmt::format("{}: {}; remove it to begin anew", checkpoint.string(), file.status().message()));
  if (file->metadata["tokens"] != TokenVocabulary().identity() || file->metadata["options"] != described)
    return InvalidArgument(fmt::format("{} was made with other options or words ({}, {}): name another folder",
                                       checkpoint.string(), WithoutControls(file->metadata["options"]),
                                       WithoutControls(file->metadata["tokens"])));
  const std::optional<long long> step = ParseInteger(file->metadata["step"]);
  if (!step || *step < 0) return DataLoss(fmt::format("{} names no step", checkpoint.string()));
  RETURN_IF_ERROR(PutState(*file, config, trainer));
  return int64_t(*step);
}

// ---- the log ----

// The lines up to a step: what was logged behind a checkpoint comes again.
Result<std::string> LogUpTo(const fs::path& path, int64_t step) {
  std::error_code error;
  if (step == 0 || !fs::exists(path, error)) return std::string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::string kept;
  for (const std::string_view line : Split(text, '\n')) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.value("step", int64_t{0}) >= 1 && json.value("step", int64_t{0}) <= step)
      kept += fmt::format("{}\n", line);
  }
  return kept;
}

std::string LogLine(int64_t step, const StepResult& result, double learning_rate, const TokenBatch& batch,
                    std::optional<double> validation_loss) {
  nlohmann::ordered_json json = {
      {"step", step},
      {"loss", result.loss},
      {"grad_norm", result.gradient_norm},
      {"learning_rate", learning_rate},
      {"words", std::count_if(batch.weights.begin(), batch.weights.end(), [](float weight) { return weight > 0; })}};
  if (validation_loss) json["validation_loss"] = *validation_loss;
  return json.dump() + "\n";
}

// ---- the loop ----

TokenBatch DrawBatch(int rows, const std::function<Document()>& draw) {
  std::vector<WeightedTokens> documents;
  for (int i = 0; i < rows; ++i) documents.push_back(WeightedDocument(draw()));
  return BatchOf(documents);
}

// The same documents every time.
TokenBatch ValidationBatch(const PretrainingSet& set, const PretrainingOptions& options) {
  Random random = Random(options.seed).Fork("validation");
  return DrawBatch(options.validation_batch, [&] { return set.DrawHeldOut(random); });
}

}  // namespace

std::string Describe(const PretrainingOptions& options) {
  return fmt::format("steps={} batch={} learning_rate={} warm_up={} seed={} beta1={} beta2={} decay={} norm={}",
                     options.steps, options.batch, options.learning_rate, options.warm_up, options.seed,
                     options.adam.beta1, options.adam.beta2, options.adam.weight_decay, options.adam.largest_norm);
}

double LearningRate(const PretrainingOptions& options, int64_t step) {
  constexpr double kLast = 0.1;
  if (step <= options.warm_up) return options.learning_rate * double(step) / double(options.warm_up);
  const double way = double(step - options.warm_up) / double(std::max<int64_t>(1, options.steps - options.warm_up));
  return options.learning_rate * (kLast + (1 - kLast) * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, way))));
}

Status Pretrain(const PretrainingSet& set, const ModelConfig& config, const PretrainingOptions& options,
                Trainer& trainer, const fs::path& folder, const std::function<bool()>& stop,
                const std::function<void(const PretrainingProgress&)>& watch) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path checkpoint = folder / "checkpoint.safetensors", log_path = folder / "log.jsonl";
  const std::string described =
      fmt::format("{} config={}x{}x{}x{} problems={} trials={}", Describe(options), config.layers, config.width,
                  config.heads, config.hidden, set.problems(), set.trials());
  ASSIGN_OR_RETURN(int64_t step, Begin(config, options, described, trainer, checkpoint));
  ASSIGN_OR_RETURN(std::string log, LogUpTo(log_path, step));
  const auto keep = [&]() -> Status {
    ASSIGN_OR_RETURN(const std::string state, EncodeState(config, trainer, step, described));
    RETURN_IF_ERROR(WriteFileAtomic(log_path, log));
    return WriteFileAtomic(checkpoint, state);
  };
  std::optional<TokenBatch> validation;
  if (set.held_out_problems() > 0) validation = ValidationBatch(set, options);
  while (step < options.steps && !stop()) {
    ++step;
    Random random = Random(options.seed).Fork(fmt::format("documents of step {}", step));
    const TokenBatch batch = DrawBatch(options.batch, [&] { return set.Draw(random); });
    StepOptions adam = options.adam;
    adam.learning_rate = LearningRate(options, step);
    ASSIGN_OR_RETURN(const StepResult result, trainer.Step(batch, step, adam));
    std::optional<double> validation_loss;
    if (validation && (step % options.validate_every == 0 || step == options.steps)) {
      ASSIGN_OR_RETURN(validation_loss, trainer.Loss(*validation));
    }
    log += LogLine(step, result, adam.learning_rate, batch, validation_loss);
    watch({step, result.loss, SecondsSince(start)});
    if (step % options.checkpoint_every == 0) RETURN_IF_ERROR(keep());
  }
  RETURN_IF_ERROR(keep());
  if (step < options.steps) return OkStatus();
  ASSIGN_OR_RETURN(const PolicyModel model, GetModel(config, trainer));
  return WriteFileAtomic(folder / "weights.safetensors", EncodeModel(model));
}

}  // namespace gemmsmith
