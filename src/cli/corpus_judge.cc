#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "agents/judge_room.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/statistics.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "corpus/text_samples.h"
#include "llm/queue_text_judge.h"
#include "report/search_comparison.h"

namespace gemmsmith {

namespace {

struct JudgedSample {
  const TextSample* sample = nullptr;
  std::optional<JudgedText> judged;  // nothing: the kernel has no end
  bool Is(OutcomeKind kind) const { return judged && judged->kind == kind; }
};

Result<std::vector<JudgedSample>> JudgeFinished(const std::vector<TextSample>& samples, TextJudge& judge) {
  std::vector<JudgedSample> all;
  std::vector<size_t> finished;
  std::vector<WrittenTexts> asked;
  for (const TextSample& sample : samples) {
    if (sample.is_finished) finished.push_back(all.size()), asked.push_back({sample.gemm, {sample.source}});
    all.push_back({&sample, {}});
  }
  ASSIGN_OR_RETURN(const std::vector<std::vector<JudgedText>> judged, judge.Judge(asked));
  for (size_t i = 0; i < finished.size(); ++i) all[finished[i]].judged = judged[i].front();
  return all;
}

Status WriteVerdicts(const std::vector<JudgedSample>& all, const std::filesystem::path& folder) {
  std::string lines;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::optional<JudgedText>& judged = all[i].judged;
    nlohmann::ordered_json line = {{"file", SampleFile(i)},
                                   {"problem", Print(all[i].sample->gemm)},
                                   {"outcome", judged ? Name(judged->kind) : "unfinished"}};
    if (judged) line["reward"] = judged->reward;
    if (judged && judged->speed_up) line["speed_up"] = *judged->speed_up;
    lines += line.dump() + "\n";
  }
  return WriteFileAtomic(folder / "judged.jsonl", lines);
}

// The fewest kernels of a problem decide how many draws can be told.
std::string BestOfText(const std::vector<JudgedSample>& all) {
  std::map<Gemm, std::vector<double>> speed_ups;
  for (const JudgedSample& one : all)
    speed_ups[one.sample->gemm].push_back(one.judged ? one.judged->speed_up.value_or(0) : 0);
  size_t most = SIZE_MAX;
  for (const auto& [gemm, of_problem] : speed_ups) most = std::min(most, of_problem.size());
  Table table({{"best of", Table::Align::kRight}, {"mean speed-up", Table::Align::kRight}});
  for (size_t draws = 1; draws <= most; draws *= 2) {
    std::vector<double> expected;
    for (const auto& [gemm, of_problem] : speed_ups) expected.push_back(BestOfDraws(of_problem, draws).mean.back());
    table.Add({CountText(int64_t(draws)), fmt::format("{:.3f}", Mean(expected))});
  }
  return table.Print({}) + fmt::format("  over cuBLASLt AutoTuning, {}; 0 where no kernel is right\n",
                                       Plural(int64_t(speed_ups.size()), "problem"));
}

std::string SharesText(const std::vector<JudgedSample>& all) {
  Table table({{"of the kernels"}, {"", Table::Align::kRight}, {"", Table::Align::kRight}});
  const auto add = [&](const char* name, const auto& is_one) {
    const auto count = std::ranges::count_if(all, is_one);
    table.Add({name, CountText(count), fmt::format("{:.1f} %", 100.0 * double(count) / double(all.size()))});
  };
  add("finished", [](const JudgedSample& one) { return one.judged.has_value(); });
  add("compiled", [](const JudgedSample& one) { return one.judged && one.judged->kind > OutcomeKind::kResourceOver; });
  add("right", [](const JudgedSample& one) { return one.Is(OutcomeKind::kMeasured); });
  add("refused as cheats", [](const JudgedSample& one) { return one.Is(OutcomeKind::kCheated); });
  return table.Print({});
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
  ASSIGN_OR_RETURN(const std::vector<JudgedSample> all, JudgeFinished(samples, judge));
  RETURN_IF_ERROR(WriteVerdicts(all, command.kernels));
  RETURN_IF_ERROR(WriteOut(SharesText(all) + "\n" + BestOfText(all)));
  return kExitDone;
}

}  // namespace gemmsmith
