#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "agents/judge_room.h"
#include "base/interrupt.h"
#include "cli/problems.h"
#include "cli/run.h"
#include "cli/training_bar.h"
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
  options.contrast = command.contrast;
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
  TrainingBar bar("reinforce", "reward", options.steps);
  RETURN_IF_ERROR(
      LearnToWrite(problems, reference, tokenizer, options, judge, *trainer, *held, command.output, bar.Hooks()));
  return bar.Finish(command.output);
}

}  // namespace gemmsmith
