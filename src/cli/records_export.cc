#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/record_files.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/words.h"

namespace gemmsmith {

Result<int> Run(const RecordsExportCommand& command) {
  RETURN_IF_ERROR(CheckRecordPath(command.output));
  if ((command.rounded || command.without_samples) && command.output.extension() != ".gsr")
    return InvalidArgument("--rounded and --without-samples are for .gsr");
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectTrials(command.selection, false));
  if (selected.replayed > 0) {
    WriteNote(fmt::format("left out {} that a recording answered: they are no measurements of their own",
                          Plural(selected.replayed, "trial")));
  }
  if (selected.trials.empty())
    return NotFound(
        fmt::format("no such measurement is in {}; {} is not written", selected.source, command.output.string()));
  ASSIGN_OR_RETURN(
      const std::vector<std::string> files,
      WriteRecords(selected.trials, command.output, {.samples = !command.without_samples, .rounded = command.rounded}));
  RETURN_IF_ERROR(WriteOut(command.json
                               ? PrintJson({{"command", "records export"},
                                            {"source", selected.source},
                                            {"trials", selected.trials.size()},
                                            {"files", files}})
                               : fmt::format("{} from {} to {}\n", Plural(int64_t(selected.trials.size()), "trial"),
                                             selected.source, fmt::join(files, ", "))));
  return kExitDone;
}

}  // namespace gemmsmith
