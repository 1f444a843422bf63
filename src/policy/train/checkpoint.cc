#include "policy/train/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCheckpointFile = "checkpoint.safetensors";
constexpr const char* kLogFile = "log.jsonl";
constexpr std::string_view kPrefixes[] = {"", "first.", "second."};

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

// The state behind a step.
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

// Puts the checkpoint's state into the trainer and gives its step; where there is no such file, `begin` and 0.
Result<int64_t> BeginOrGoOn(const fs::path& checkpoint, const PolicyModel& begin, const std::string& options,
                            Trainer& trainer) {
  std::error_code error;
  if (!fs::exists(checkpoint, error)) {
    RETURN_IF_ERROR(PutModel(begin, trainer));
    return 0;
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(checkpoint));
  Result<SafeTensors> file = DecodeSafeTensors(bytes);
  if (!file.ok())
    return DataLoss(fmt::format("{}: {}; remove it to begin anew", checkpoint.string(), file.status().message()));
  if (file->metadata["tokens"] != TokenVocabulary().identity() || file->metadata["options"] != options)
    return InvalidArgument(fmt::format("{} was made with other options or words ({}, {}): name another folder",
                                       checkpoint.string(), WithoutControls(file->metadata["options"]),
                                       WithoutControls(file->metadata["tokens"])));
  const std::optional<long long> step = ParseInteger(file->metadata["step"]);
  if (!step || *step < 0) return DataLoss(fmt::format("{} names no step", checkpoint.string()));
  RETURN_IF_ERROR(PutState(*file, begin.config, trainer));
  return int64_t(*step);
}

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

Status Keep(const TrainingRun& run, const ModelConfig& config, Trainer& trainer, int64_t step, const std::string& log) {
  ASSIGN_OR_RETURN(const std::string state, EncodeState(config, trainer, step, run.options));
  RETURN_IF_ERROR(WriteFileAtomic(run.folder / kLogFile, log));
  return WriteFileAtomic(run.folder / kCheckpointFile, state);
}

}  // namespace

Status TakeSteps(const TrainingRun& run, const PolicyModel& begin, Trainer& trainer, const std::function<bool()>& stop,
                 const std::function<Result<std::string>(int64_t)>& step) {
  const ModelConfig& config = begin.config;
  ASSIGN_OR_RETURN(int64_t done, BeginOrGoOn(run.folder / kCheckpointFile, begin, run.options, trainer));
  ASSIGN_OR_RETURN(std::string log, LogUpTo(run.folder / kLogFile, done));
  int64_t kept = -1;
  while (done < run.steps && !stop()) {
    ASSIGN_OR_RETURN(const std::string line, step(done + 1));
    ++done;
    log += line + "\n";
    if (done % run.checkpoint_every != 0) continue;
    RETURN_IF_ERROR(Keep(run, config, trainer, done, log));
    kept = done;
  }
  if (kept != done) RETURN_IF_ERROR(Keep(run, config, trainer, done, log));
  if (done < run.steps) return OkStatus();
  ASSIGN_OR_RETURN(const PolicyModel model, GetModel(config, trainer));
  return WriteFileAtomic(run.folder / "weights.safetensors", EncodeModel(model));
}

}  // namespace gemmsmith
