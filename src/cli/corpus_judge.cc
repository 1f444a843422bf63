#include <fmt/format.h>

#include <filesystem>

#include "agents/judge_room.h"
#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/words.h"
#include "cli/written_kernels_text.h"
#include "corpus/text_samples.h"
#include "llm/queue_text_judge.h"

namespace gemmsmith {

namespace {

Result<std::vector<JudgedKernel>> JudgeFinished(const std::vector<TextSample>& samples, TextJudge& judge) {
  std::vector<JudgedKernel> all;
  std::vector<size_t> finished;
  std::vector<WrittenTexts> asked;
  for (const TextSample& sample : samples) {
    if (sample.is_finished) finished.push_back(all.size()), asked.push_back({sample.gemm, {sample.source}});
    all.push_back({.file = SampleFile(all.size()), .gemm = sample.gemm});
  }
  ASSIGN_OR_RETURN(const std::vector<std::vector<JudgedText>> judged, judge.Judge(asked));
  for (size_t i = 0; i < finished.size(); ++i) {
    const JudgedText& verdict = judged[i].front();
    JudgedKernel& kernel = all[finished[i]];
    kernel.outcome = verdict.kind, kernel.reward = verdict.reward, kernel.speed_up = verdict.speed_up;
  }
  return all;
}

}  // namespace

Result<int> Run(const CorpusJudgeCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(const std::vector<TextSample> samples, ReadSamples(command.kernels));
  const MachineJudgeOptions machine{.device = command.judge, .archive = command.archive, .campaign = "written"};
  ASSIGN_OR_RETURN(
      const JudgeRoom room,
      OpenJudgeRoom({.machine = machine, .journal = command.kernels / "judge.sqlite", .capacity = samples.size() + 1}));
  if (!room.judge->why_no_gpu().empty())
    return Unavailable(fmt::format("kernels are timed: {}", room.judge->why_no_gpu()));
  QueueJudge queue(*room.queue, InterruptArrived);
  QueueTextJudge judge(queue, room.judge->device().name);
  WriteNote(fmt::format("judging {} on an {}", Plural(int64_t(samples.size()), "kernel"), judge.name()));
  ASSIGN_OR_RETURN(const std::vector<JudgedKernel> all, JudgeFinished(samples, judge));
  RETURN_IF_ERROR(WriteJudgedKernels(all, command.kernels / "judged.jsonl"));
  const NamedKernels named{std::filesystem::absolute(command.kernels).lexically_normal().filename().string(), all};
  RETURN_IF_ERROR(WriteOut(WrittenKernelsText({&named, 1}, {})));
  return kExitDone;
}

}  // namespace gemmsmith
