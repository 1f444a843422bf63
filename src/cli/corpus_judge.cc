#include <fmt/format.h>

#include <filesystem>

#include "agents/judge_room.h"
#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/words.h"
#include "cli/written_kernels_text.h"
#include "corpus/text_samples.h"
#include "llm/heat_text_judge.h"
#include "llm/judged_folder.h"
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

MachineJudgeOptions MachineOf(const CorpusJudgeCommand& command) {
  return {.device = command.judge, .archive = command.archive, .campaign = "written"};
}

Status CheckHasGpu(const MachineJudge& judge) {
  return judge.why_no_gpu().empty() ? OkStatus()
                                    : Unavailable(fmt::format("kernels are timed: {}", judge.why_no_gpu()));
}

Result<std::vector<JudgedKernel>> JudgeFolder(const CorpusJudgeCommand& command, const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const std::vector<TextSample> samples, ReadSamples(folder));
  ASSIGN_OR_RETURN(const JudgeRoom room, OpenJudgeRoom({.machine = MachineOf(command),
                                                        .journal = folder / "judge.sqlite",
                                                        .capacity = samples.size() + 1}));
  RETURN_IF_ERROR(CheckHasGpu(*room.judge));
  QueueJudge queue(*room.queue, InterruptArrived);
  QueueTextJudge judge(queue, room.judge->device().name);
  WriteNote(fmt::format("judging {} on an {}", Plural(int64_t(samples.size()), "kernel"), judge.name()));
  ASSIGN_OR_RETURN(std::vector<JudgedKernel> all, JudgeFinished(samples, judge));
  RETURN_IF_ERROR(WriteJudgedKernels(all, folder / "judged.jsonl"));
  return all;
}

Result<std::vector<std::vector<JudgedKernel>>> JudgeFinal(const CorpusJudgeCommand& command) {
  std::vector<JudgedFolder> folders;
  for (const std::filesystem::path& folder : command.kernels) {
    ASSIGN_OR_RETURN(folders.emplace_back(), ReadJudgedFolder(folder));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<MachineJudge> machine, MachineJudge::Open(MachineOf(command)));
  RETURN_IF_ERROR(CheckHasGpu(*machine));
  HeatTextJudge judge(*machine, machine->device().name, InterruptArrived);
  WriteNote(fmt::format("racing the winners of {} on an {}", Plural(int64_t(folders.size()), "folder"), judge.name()));
  RETURN_IF_ERROR(RaceWinners(folders, judge));
  std::vector<std::vector<JudgedKernel>> all;
  for (JudgedFolder& folder : folders) {
    RETURN_IF_ERROR(WriteJudgedKernels(folder.kernels, folder.judged));
    all.push_back(std::move(folder.kernels));
  }
  return all;
}

Result<std::vector<std::vector<JudgedKernel>>> JudgeEach(const CorpusJudgeCommand& command) {
  std::vector<std::vector<JudgedKernel>> all;
  for (const std::filesystem::path& folder : command.kernels) {
    ASSIGN_OR_RETURN(all.emplace_back(), JudgeFolder(command, folder));
  }
  return all;
}

}  // namespace

Result<int> Run(const CorpusJudgeCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(std::vector<std::vector<JudgedKernel>> all,
                   command.is_final ? JudgeFinal(command) : JudgeEach(command));
  std::vector<NamedKernels> named;
  for (std::vector<JudgedKernel>& kernels : all)
    named.push_back({std::filesystem::absolute(command.kernels[named.size()]).lexically_normal().filename().string(),
                     std::move(kernels)});
  RETURN_IF_ERROR(WriteOut(WrittenKernelsText(named, {})));
  return kExitDone;
}

}  // namespace gemmsmith
