#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "archive/archive.h"
#include "archive/standings.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/table.h"
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

std::string ClassName(const Standing& standing) {
  return std::string(standing.shape_class ? Name(*standing.shape_class) : "offgrid");
}

std::string StandingsText(const std::vector<Standing>& standings) {
  if (standings.empty()) return "";
  using enum Table::Align;
  Table table({{"class"},
               {"layout"},
               {"shapes", kRight},
               {"geometric mean", kRight},
               {"lowest", kRight},
               {"faster", kRight},
               {"slower", kRight}});
  for (const Standing& standing : standings)
    table.Add({ClassName(standing), std::string(Name(standing.layout)), CountText(standing.problems),
               fmt::format("{:.3f}x", standing.geometric_mean), fmt::format("{:.2f}x", standing.minimum),
               CountText(standing.wins), CountText(standing.losses)});
  return "\n  speed-up of each shape's best kernel over cuBLASLt AutoTuning (the faster of nn and tn), device clock, "
         "f16\n" +
         table.Print(DescribeTerminal(STDOUT_FILENO));
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
  line("cells",
       fmt::format("{}, {} without a trial", CountText(stats.plans * stats.problems), CountText(stats.missing_cells)));
  for (const auto& [kind, count] : stats.by_outcome)
    line(&kind == &stats.by_outcome.front().first ? "outcomes" : "", fmt::format("{} {}", CountText(count), kind));
  if (selected.replayed > 0)
    line("replayed", fmt::format("{} more, answered by a recording", CountText(selected.replayed)));
  return text + StandingsText(StandingsOf(selected.trials));
}

std::string JsonText(const SelectedTrials& selected, const ArchiveStats& stats) {
  Json settings = Json::array(), outcomes = Json::object(), standings = Json::array();
  for (const Setting& setting : stats.settings) settings.push_back(JsonOf(setting));
  for (const auto& [kind, count] : stats.by_outcome) outcomes[kind] = count;
  for (const Standing& standing : StandingsOf(selected.trials))
    standings.push_back({{"class", ClassName(standing)},
                         {"layout", Name(standing.layout)},
                         {"problems", standing.problems},
                         {"geometric_mean", standing.geometric_mean},
                         {"minimum", standing.minimum},
                         {"wins", standing.wins},
                         {"losses", standing.losses}});
  return PrintJson({{"command", "records stats"},
                    {"source", selected.source},
                    {"settings", settings},
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
                    {"over_autotuning", standings}});
}

}  // namespace

Result<int> Run(const RecordsStatsCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectTrials(command.selection, false));
  const ArchiveStats stats = StatsOf(selected.trials);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(selected, stats) : PrintText(selected, stats)));
  return kExitDone;
}

}  // namespace gemmsmith
