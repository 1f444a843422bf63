#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/table.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

Json JsonOf(const Trial& trial) {
  Json json = {{"campaign", trial.campaign},
               {"plan", Print(trial.subject)},
               {"problem", gemmsmith::JsonOf(trial.gemm)},
               {"setting", gemmsmith::JsonOf(trial.setting)},
               {"seed", trial.seed},
               {"unix_ms", trial.unix_ms}};
  json.update(gemmsmith::JsonOf(trial.outcome));
  return json;
}

std::string PrintText(const std::vector<Trial>& trials, const Terminal& terminal) {
  Table table({{"date"},
               {"device"},
               {"problem"},
               {"outcome"},
               {"protocol"},
               {"clock"},
               {"time", Table::Align::kRight},
               {"chained", Table::Align::kRight},
               {"plan"}});
  for (const Trial& trial : trials) {
    const Timing* plain = trial.outcome.Ours();
    const Timing* chained = trial.outcome.OursChained();
    table.Add({DateText(trial.unix_ms), trial.setting.device_key, Print(trial.gemm),
               std::string(Name(trial.outcome.kind)), std::string(Name(trial.outcome.protocol)),
               std::string(plain == nullptr ? "" : Name(plain->clock)),
               plain == nullptr ? "" : TimeText(plain->median_ns),
               chained == nullptr ? "" : TimeText(chained->median_ns), Print(trial.subject)});
  }
  return table.empty() ? "" : table.Print(terminal);
}

}  // namespace

Result<int> Run(const RecordsListCommand& command) {
  ASSIGN_OR_RETURN(SelectedTrials selected, SelectTrials(command.selection, true));
  std::vector<Trial>& trials = selected.trials;
  const int64_t all = int64_t(trials.size());
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.unix_ms > b.unix_ms; });
  trials.resize(std::min(trials.size(), size_t(command.count)));
  if (command.json) {
    Json list = Json::array();
    for (const Trial& trial : trials) list.push_back(JsonOf(trial));
    RETURN_IF_ERROR(WriteOut(
        PrintJson({{"command", "records list"}, {"source", selected.source}, {"matching", all}, {"trials", list}})));
  } else {
    RETURN_IF_ERROR(WriteOut(PrintText(trials, DescribeTerminal(STDOUT_FILENO))));
    WriteNote(fmt::format("{} of {} in {}", CountText(int64_t(trials.size())), Plural(all, "trial"), selected.source));
  }
  return kExitDone;
}

}  // namespace gemmsmith
