#include <fmt/format.h>

#include "archive/segment.h"
#include "campaign/interrupt.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/run.h"
#include "cli/words.h"
#include "policy/train/trainer_library.h"

namespace gemmsmith {

namespace {

Result<PretrainingSet> SetOf(const TrainCommand& command) {
  std::vector<Trial> trials;
  for (const std::filesystem::path& path : command.sources) {
    ASSIGN_OR_RETURN(std::vector<Trial> more, ReadRecords(path));
    std::move(more.begin(), more.end(), std::back_inserter(trials));
  }
  if (!command.sources.empty()) return PretrainingSet::From(trials, command.held_out);
  ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, LoadRecording(std::nullopt));
  return PretrainingSet::From(recording->trials(), command.held_out);
}

std::string PrintText(const TrainCommand& command, const PretrainingSet& set, const PretrainingProgress& progress) {
  if (progress.step < command.options.steps)
    return fmt::format("stopped after step {} of {}; the same command goes on\n", progress.step, command.options.steps);
  return fmt::format(
      "trained on {} of {} for {} steps; the last loss is {:.3f}\n"
      "  weights  {}\n  log      {}\n",
      Plural(int64_t(set.trials()), "trial"), Plural(int64_t(set.problems()), "problem"), progress.step, progress.loss,
      (command.output / "weights.safetensors").string(), (command.output / "log.jsonl").string());
}

}  // namespace

Result<int> Run(const TrainCommand& command) {
  WatchForInterrupts();
  const ModelConfig config = DefaultModelConfig();
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, OpenTorchTrainer(config, command.device));
  ASSIGN_OR_RETURN(const PretrainingSet set, SetOf(command));
  WriteNote(fmt::format("training with {} on {}: {} of {}, {} held out", trainer->Version(), command.device,
                        Plural(int64_t(set.trials()), "trial"),
                        Plural(int64_t(set.problems() + set.held_out_problems()), "problem"), set.held_out_problems()));
  PretrainingProgress last;
  {
    Progress bar("train", command.options.steps);
    RETURN_IF_ERROR(Pretrain(set, config, command.options, *trainer, command.output, InterruptArrived,
                             [&](const PretrainingProgress& progress) {
                               if (last.step == 0) bar.StartFrom(progress.step - 1);
                               last = progress;
                               bar.Update(progress.step, fmt::format("loss {:.3f}", progress.loss));
                             }));
  }
  if (last.step == 0) last.step = command.options.steps;  // it was complete
  const bool is_done = last.step == command.options.steps;
  const Json json = {{"command", "train"},
                     {"problems", set.problems()},
                     {"held_out_problems", set.held_out_problems()},
                     {"trials", set.trials()},
                     {"steps", last.step},
                     {"loss", last.loss},
                     {"weights", is_done ? Json((command.output / "weights.safetensors").string()) : Json()}};
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(json) : PrintText(command, set, last)));
  return is_done ? kExitDone : kExitInterrupted;
}

}  // namespace gemmsmith
