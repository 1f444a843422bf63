#include <fmt/format.h>

#include "archive/segment.h"
#include "campaign/interrupt.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/run.h"
#include "cli/words.h"
#include "policy/train/grpo.h"
#include "policy/train/pretraining.h"
#include "policy/train/trainer_library.h"

namespace gemmsmith {

namespace {

// What a stage came to.
struct Trained {
  std::string_view stage;
  size_t problems = 0;
  int steps = 0;  // that were asked for
  int64_t step = 0;
  std::string measure;          // "loss", "reward"
  std::optional<double> value;  // of the last step of this call; nothing where all were done before

  bool IsDone() const { return step == steps; }
};

Result<std::vector<Trial>> TrialsOf(const TrainCommand& command) {
  std::vector<Trial> trials;
  for (const std::filesystem::path& path : command.sources) {
    ASSIGN_OR_RETURN(std::vector<Trial> more, ReadRecords(path));
    std::move(more.begin(), more.end(), std::back_inserter(trials));
  }
  if (!command.sources.empty()) return trials;
  ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, LoadRecording(std::nullopt));
  return recording->trials();
}

// Keeps what a stage says step by step.
class Watcher {
 public:
  explicit Watcher(Trained* trained) : trained_(*trained), bar_("train", trained->steps) {}

  void operator()(int64_t step, double value) {
    if (trained_.step == 0) bar_.StartFrom(step - 1);
    trained_.step = step, trained_.value = value;
    bar_.Update(step, fmt::format("{} {:.3f}", trained_.measure, value));
  }

 private:
  Trained& trained_;
  Progress bar_;
};

Result<Trained> PretrainOn(const std::vector<Trial>& trials, const TrainCommand& command) {
  PretrainingOptions options{.seed = command.seed};
  options.steps = command.steps.value_or(options.steps);
  options.batch = command.batch.value_or(options.batch);
  options.learning_rate = command.learning_rate.value_or(options.learning_rate);
  const ModelConfig config = DefaultModelConfig();
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, OpenTorchTrainer(config, command.device));
  ASSIGN_OR_RETURN(const PretrainingSet set, PretrainingSet::From(trials, command.held_out));
  WriteNote(fmt::format("pretraining with {} on {}: {} of {}, {} held out", trainer->Version(), command.device,
                        Plural(int64_t(set.trials()), "trial"),
                        Plural(int64_t(set.problems() + set.held_out_problems()), "problem"), set.held_out_problems()));
  Trained trained{.stage = "pretraining", .problems = set.problems(), .steps = options.steps, .measure = "loss"};
  Watcher watcher(&trained);
  RETURN_IF_ERROR(Pretrain(set, config, options, *trainer, command.output, InterruptArrived,
                           [&](const PretrainingProgress& progress) { watcher(progress.step, progress.loss); }));
  return trained;
}

Result<Trained> LearnFrom(const std::vector<Trial>& trials, const TrainCommand& command) {
  GrpoOptions options{.seed = command.seed};
  options.steps = command.steps.value_or(options.steps);
  options.problems = command.batch.value_or(options.problems);
  options.learning_rate = command.learning_rate.value_or(options.learning_rate);
  ASSIGN_OR_RETURN(const PolicyModel reference, ReadModel(command.from));
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, OpenTorchTrainer(reference.config, command.device));
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> held, OpenTorchTrainer(reference.config, command.device));
  const std::vector<RecordedProblem> problems = RecordedProblems(trials, command.held_out, {});
  WriteNote(fmt::format("learning by reward with {} on {}: {}", trainer->Version(), command.device,
                        Plural(int64_t(problems.size()), "problem")));
  Trained trained{.stage = "grpo", .problems = problems.size(), .steps = options.steps, .measure = "reward"};
  Watcher watcher(&trained);
  RETURN_IF_ERROR(LearnByReward(problems, reference, options, *trainer, *held, command.output, InterruptArrived,
                                [&](const GrpoProgress& progress) { watcher(progress.step, progress.reward); }));
  return trained;
}

std::string WeightsPath(const TrainCommand& command) { return (command.output / "weights.safetensors").string(); }

std::string PrintText(const TrainCommand& command, const Trained& trained) {
  if (!trained.IsDone())
    return fmt::format("stopped after step {} of {}; the same command goes on\n", trained.step, trained.steps);
  const std::string value =
      trained.value ? fmt::format("the last {} is {:.3f}", trained.measure, *trained.value) : "done before";
  return fmt::format("{} on {} for {} steps; {}\n  weights  {}\n  log      {}\n", trained.stage,
                     Plural(int64_t(trained.problems), "problem"), trained.steps, value, WeightsPath(command),
                     (command.output / "log.jsonl").string());
}

std::string JsonTextOf(const TrainCommand& command, const Trained& trained) {
  return PrintJson({{"command", "train"},
                    {"stage", trained.stage},
                    {"problems", trained.problems},
                    {"steps", trained.step},
                    {trained.measure, trained.value ? Json(*trained.value) : Json()},
                    {"weights", trained.IsDone() ? Json(WeightsPath(command)) : Json()}});
}

}  // namespace

Result<int> Run(const TrainCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(const std::vector<Trial> trials, TrialsOf(command));
  ASSIGN_OR_RETURN(Trained trained, command.from.empty() ? PretrainOn(trials, command) : LearnFrom(trials, command));
  if (!trained.value && !InterruptArrived()) trained.step = trained.steps;
  RETURN_IF_ERROR(WriteOut(command.json ? JsonTextOf(command, trained) : PrintText(command, trained)));
  return trained.IsDone() ? kExitDone : kExitInterrupted;
}

}  // namespace gemmsmith
