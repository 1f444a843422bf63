#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "archive/archive.h"
#include "archive/standings.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/standings_text.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

std::string Dates(const ArchiveStats& stats) {
  if (stats.trials == 0) return "-";
  const std::string first = DateText(stats.first_unix_ms), last = DateText(stats.last_unix_ms);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

int64_t CountShapes(const std::vector<Trial>& trials) {
  std::set<Shape> shapes;
  for (const Trial& trial : trials) shapes.insert(trial.gemm.shape);
  return int64_t(shapes.size());
}

std::string PrintText(const SelectedTrials& selected, const ArchiveStats& stats) {
  std::string text = selected.source + "\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<10}{}\n", name, value);
  };
  for (const Setting& setting : stats.settings) {
    line("device", fmt::format("{} ({}), driver {}", setting.device_name, setting.device_key, setting.driver));
    line("", fmt::format("{}; {}; {}", setting.toolchain, setting.libraries, setting.harness));
  }
  line("date", Dates(stats));
  line("trials", CountText(stats.trials));
  line("plans", CountText(stats.plans));
  line("problems", fmt::format("{} of {}", CountText(stats.problems), Plural(CountShapes(selected.trials), "shape")));
  line("cells", fmt::format("{} of plans x problems, {} missing", CountText(stats.plans * stats.problems),
                            CountText(stats.missing_cells)));
  for (const auto& [kind, count] : stats.by_outcome)
    line(&kind == &stats.by_outcome.front().first ? "outcomes" : "", fmt::format("{} {}", CountText(count), kind));
  if (selected.replayed > 0)
    line("replayed", fmt::format("{} more, answered by a recording", CountText(selected.replayed)));
  const std::string standings = StandingsText(StandingsOf(selected.trials), DescribeTerminal(STDOUT_FILENO));
  return text + (standings.empty() ? "" : "\n" + standings);
}

std::string JsonText(const SelectedTrials& selected, const ArchiveStats& stats) {
  Json settings = Json::array(), outcomes = Json::object();
  std::set<std::string> devices;
  for (const Setting& setting : stats.settings) {
    settings.push_back(JsonOf(setting));
    devices.insert(setting.device_name);
  }
  for (const auto& [kind, count] : stats.by_outcome) outcomes[kind] = count;
  return PrintJson({{"command", "records stats"},
                    {"source", selected.source},
                    {"settings", settings},
                    {"devices", devices},
                    {"first_date", stats.trials == 0 ? Json() : Json(DateText(stats.first_unix_ms))},
                    {"last_date", stats.trials == 0 ? Json() : Json(DateText(stats.last_unix_ms))},
                    {"first_unix_ms", stats.first_unix_ms},
                    {"last_unix_ms", stats.last_unix_ms},
                    {"trials", stats.trials},
                    {"plans", stats.plans},
                    {"problems", stats.problems},
                    {"shapes", CountShapes(selected.trials)},
                    {"cells", stats.plans * stats.problems},
                    {"missing_cells", stats.missing_cells},
                    {"outcomes", outcomes},
                    {"replayed", selected.replayed},
                    {"over_autotuning", JsonOf(StandingsOf(selected.trials))}});
}

}  // namespace

Result<int> Run(const RecordsStatsCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectTrials(command.selection, false));
  const ArchiveStats stats = StatsOf(selected.trials);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(selected, stats) : PrintText(selected, stats)));
  return kExitDone;
}

}  // namespace gemmsmith
