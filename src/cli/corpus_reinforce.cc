#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "agents/judge_room.h"
#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/text_grpo.h"
#include "corpus/text_prompt.h"
#include "corpus/text_training.h"
#include "llm/queue_text_judge.h"
#include "policy/train/trainer_library.h"

namespace gemmsmith {

namespace {

TextGrpoOptions OptionsOf(const CorpusReinforceCommand& command, const ModelConfig& config) {
  TextGrpoOptions options{.seed = command.seed};
  options.steps = command.steps.value_or(options.steps);
  options.problems = command.batch.value_or(options.problems);
  options.learning_rate = command.learning_rate.value_or(options.learning_rate);
  options.most_words = std::min(options.most_words, config.positions);
  return options;
}

Result<std::vector<TextProblem>> ProblemsOf(const CorpusReinforceCommand& command, const Device& device) {
  ASSIGN_OR_RETURN(const std::vector<Gemm> gemms, LoadProblems(command.shapes, command.layouts, {}));
  std::vector<TextProblem> problems;
  for (const Gemm& gemm : gemms)
    if (!IsHeldOut(gemm.shape, command.held_out)) problems.push_back({gemm, TextPrompt(gemm, device)});
  return problems;
}

Result<JudgeRoom> OpenRoom(const CorpusReinforceCommand& command, const TextGrpoOptions& options) {
  const MachineJudgeOptions machine{.device = command.judge, .archive = command.archive, .campaign = "reinforce"};
  ASSIGN_OR_RETURN(JudgeRoom room, OpenJudgeRoom({.machine = machine,
                                                  .journal = command.output / "judge.sqlite",
                                                  .capacity = size_t(options.problems * options.group)}));
  if (!room.judge->why_no_gpu().empty())
    return Unavailable(fmt::format("rewards are measured: {}", room.judge->why_no_gpu()));
  return room;
}

}  // namespace

Result<int> Run(const CorpusReinforceCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(const Tokenizer tokenizer, ReadTokenizer(command.tokenizer));
  ASSIGN_OR_RETURN(const PolicyModel reference, ReadModel(command.model, Fingerprint(tokenizer)));
  const TextGrpoOptions options = OptionsOf(command, reference.config);
  const ProductType products = command.bf16 ? ProductType::kBf16 : ProductType::kF32;
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                   OpenTorchTrainer(reference.config, command.trainer, products));
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> held, OpenTorchTrainer(reference.config, command.trainer, products));
  ASSIGN_OR_RETURN(const JudgeRoom room, OpenRoom(command, options));
  ASSIGN_OR_RETURN(const std::vector<TextProblem> problems, ProblemsOf(command, room.judge->device()));
  QueueJudge queue(*room.queue, InterruptArrived);
  QueueTextJudge judge(queue, fmt::format("live on {}", room.judge->device().name));
  WriteNote(fmt::format("learning by reward with {} on {}: {}, {}", trainer->Version(), command.trainer,
                        Plural(int64_t(problems.size()), "problem"), judge.name()));
  Progress bar("reinforce", options.steps);
  int64_t done = 0;
  double reward = 0;
  const auto watch = [&](int64_t step, std::optional<double> value) {
    if (done == 0) bar.StartFrom(step - 1);
    done = step, reward = value.value_or(0);
    bar.Update(step, fmt::format("reward {:.3f}", reward));
  };
  const TrainingHooks hooks{.stop = InterruptArrived, .watch = watch, .note = WriteNote};
  RETURN_IF_ERROR(LearnToWrite(problems, reference, tokenizer, options, judge, *trainer, *held, command.output, hooks));
  if (InterruptArrived() && done < options.steps) {
    RETURN_IF_ERROR(WriteOut(fmt::format("stopped at step {}; the same command goes on\n", done)));
    return kExitInterrupted;
  }
  const std::string last = done > 0 ? fmt::format(", the last reward is {:.3f}", reward) : " were done before";
  RETURN_IF_ERROR(WriteOut(fmt::format("{} steps{}\n  weights  {}\n", options.steps, last,
                                       (command.output / "weights.safetensors").string())));
  return kExitDone;
}

}  // namespace gemmsmith
