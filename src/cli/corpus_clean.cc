#include <fmt/format.h>

#include "cli/run.h"
#include "cli/stage_bar.h"
#include "cli/words.h"
#include "corpus/clean/clean.h"

namespace gemmsmith {

namespace {

std::string PrintText(const CorpusCleanCommand& command, const CleanSummary& summary) {
  const StageSummary& stage = summary.stage;
  std::string text = fmt::format("{} from {}, {} of them with an instruction; {} dropped\n",
                                 Plural(stage.texts, "snippet"), Plural(stage.read, "file"),
                                 CountText(summary.with_instruction), Plural(summary.duplicates, "duplicate"));
  if (stage.found > 0) text += fmt::format("  there before  {}\n", Plural(stage.found, "snippet"));
  return text + fmt::format("  snippets  {} ({})\n", command.output.string(), BytesText(double(stage.bytes)));
}

}  // namespace

Result<int> Run(const CorpusCleanCommand& command) {
  WatchForInterrupts();
  StageBar bar;
  ASSIGN_OR_RETURN(const CleanSummary summary,
                   CleanTexts(command.texts, command.output, InterruptArrived, bar.Watch()));
  return bar.Finish(summary.stage, PrintText(command, summary));
}

}  // namespace gemmsmith
