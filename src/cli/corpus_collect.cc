#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/collect/collect.h"

namespace gemmsmith {

namespace {

// Lines on what is left out, before they are only counted.
constexpr int64_t kMostNotes = 20;

std::string PrintText(const CorpusCollectCommand& command, const CollectSummary& summary) {
  std::string text = fmt::format("{}, {}", Plural(summary.texts, "file"), BytesText(double(summary.bytes)));
  if (summary.found > 0) text += fmt::format("; {} were there", CountText(summary.found));
  if (summary.duplicates > 0) text += fmt::format("; {} stood twice", CountText(summary.duplicates));
  if (summary.left_out > 0) text += fmt::format("; {} left out", CountText(summary.left_out));
  text += "\n";
  for (const auto& [license, files] : summary.refused)
    text += fmt::format("  not taken  {} under {}\n", Plural(files, "file"), WithoutControls(license));
  return text + fmt::format("  files  {}\n", command.output.string());
}

}  // namespace

Result<int> Run(const CorpusCollectCommand& command) {
  WatchForInterrupts();
  int64_t notes = 0;
  Progress bar("files", std::nullopt);
  const CollectHooks hooks{.stop = InterruptArrived,
                           .watch = [&](int64_t texts) { bar.Update(texts, ""); },
                           .left_out =
                               [&](const std::string& why) {
                                 if (++notes <= kMostNotes) WriteNote(why);
                                 if (notes == kMostNotes + 1) WriteNote("more is left out, and only counted");
                               }};
  ASSIGN_OR_RETURN(const CollectSummary summary,
                   CollectTexts({.sources = command.sources, .licenses = command.licenses}, command.output, hooks));
  RETURN_IF_ERROR(WriteOut(PrintText(command, summary)));
  if (InterruptArrived()) {
    WriteNote("stopped; the same command goes on");
    return kExitInterrupted;
  }
  if (summary.unread > 0) return DataLoss(fmt::format("{} could not be read whole", Plural(summary.unread, "source")));
  return kExitDone;
}

}  // namespace gemmsmith
