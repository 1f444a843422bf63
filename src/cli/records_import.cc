#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "archive/segment.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/words.h"
#include "workflow/instrument.h"

namespace gemmsmith {

Result<int> Run(const RecordsImportCommand& command) {
  // Everything is read before anything is stored: a damaged file adds nothing.
  std::vector<Trial> trials;
  for (const std::filesystem::path& source : command.sources) {
    ASSIGN_OR_RETURN(const std::vector<Trial> read, ReadRecords(source));
    trials.insert(trials.end(), read.begin(), read.end());
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  ASSIGN_OR_RETURN(const ArchiveStats before, archive->Stats());
  RETURN_IF_ERROR(archive->Add(trials));
  ASSIGN_OR_RETURN(const ArchiveStats after, archive->Stats());
  const int64_t added = after.trials - before.trials;
  const std::string path = (command.archive.empty() ? DefaultArchivePath() : command.archive).string();
  RETURN_IF_ERROR(WriteOut(command.json
                               ? PrintJson({{"command", "records import"},
                                            {"archive", path},
                                            {"read", trials.size()},
                                            {"added", added},
                                            {"known", int64_t(trials.size()) - added}})
                               : fmt::format("{} read, {} new, now {} in {}\n", Plural(int64_t(trials.size()), "trial"),
                                             CountText(added), CountText(after.trials), path)));
  return kExitDone;
}

}  // namespace gemmsmith
