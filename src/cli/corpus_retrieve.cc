#include <fmt/format.h>

#include "cli/run.h"
#include "cli/stage_bar.h"
#include "cli/words.h"
#include "corpus/retrieve/passages.h"
#include "corpus/retrieve/retrieve.h"

namespace gemmsmith {

namespace {

constexpr size_t kPrintedPassages = 5;

std::string PrintText(const CorpusRetrieveCommand& command, const RetrieveSummary& summary) {
  const StageSummary& stage = summary.stage;
  std::string text = fmt::format("{} from {}, {} without an instruction; {}\n", Plural(stage.texts, "triplet"),
                                 Plural(stage.read, "text"), CountText(summary.without_instruction),
                                 Plural(int64_t(summary.passages), "passage"));
  if (stage.found > 0) text += fmt::format("  there before  {}\n", Plural(stage.found, "triplet"));
  return text + fmt::format("  triplets  {} ({} of code)\n", command.output.string(), BytesText(double(stage.bytes)));
}

// Text for a terminal: only line ends and tabs of all control characters stay.
std::string Printable(std::string text) {
  for (char& c : text)
    if (IsControl(c) && c != '\n' && c != '\t') c = '?';
  return text;
}

Result<int> Ask(const CorpusRetrieveCommand& command) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Passages> passages,
                   Passages::Read(command.documents.empty() ? command.texts : command.documents));
  ASSIGN_OR_RETURN(const std::vector<Passages::Found> found, passages->Find(command.query, kPrintedPassages));
  if (found.empty())
    return NotFound(fmt::format("no passage has a word of '{}': use other words", WithoutControls(command.query)));
  std::string text;
  for (const Passages::Found& passage : found)
    text += fmt::format("{:.1f}  {}\n{}\n", passage.score, Name(passage.kind), Printable(passage.text));
  RETURN_IF_ERROR(WriteOut(text));
  return kExitDone;
}

}  // namespace

Result<int> Run(const CorpusRetrieveCommand& command) {
  if (!command.query.empty()) return Ask(command);
  WatchForInterrupts();
  StageBar bar;
  ASSIGN_OR_RETURN(const RetrieveSummary summary,
                   RetrieveContexts(command.texts, command.documents, command.output, InterruptArrived, bar.Watch()));
  return bar.Finish(summary.stage, PrintText(command, summary));
}

}  // namespace gemmsmith
