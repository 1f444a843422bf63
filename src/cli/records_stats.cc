#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "archive/archive.h"
#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/standings_text.h"
#include "cli/words.h"
#include "report/sheet.h"
#include "workflow/recordings.h"

namespace gemmsmith {

namespace {

std::string Dates(const ArchiveStats& stats) {
  return stats.trials == 0 ? "-" : DatesCell(stats.first_unix_ms, stats.last_unix_ms);
}

int64_t CountShapes(const std::vector<Trial>& trials) {
  std::set<Shape> shapes;
  for (const Trial& trial : trials) shapes.insert(trial.gemm.shape);
  return int64_t(shapes.size());
}

// What answers where there is no GPU; null where nothing was recorded.
struct ReplayDevice {
  explicit ReplayDevice(const Recording& recording)
      : device(recording.setting().device_name),
        date(recording.Date()),
        shapes(CountShapes(recording.trials())),
        stats(StatsOf(recording.trials())) {}
  std::string device, date;
  int64_t shapes = 0;
  ArchiveStats stats;
};
using Replay = std::optional<ReplayDevice>;

std::string TextOf(const ReplayDevice& replay) {
  const ArchiveStats& stats = replay.stats;
  return fmt::format("the default replay device is the {} of {}: {} on {} of {}, {}, {} missing\n", replay.device,
                     replay.date, Plural(stats.plans, "plan"), Plural(stats.problems, "problem"),
                     Plural(replay.shapes, "shape"), Plural(stats.plans * stats.problems, "cell"),
                     CountText(stats.missing_cells));
}

Json JsonOf(const Replay& replay) {
  if (!replay) return Json();
  const ArchiveStats& stats = replay->stats;
  return {{"device", replay->device},      {"date", replay->date},     {"plans", stats.plans},
          {"problems", stats.problems},    {"shapes", replay->shapes}, {"cells", stats.plans * stats.problems},
          {"missing", stats.missing_cells}};
}

std::string PrintText(const SelectedTrials& selected, const ArchiveStats& stats, const Replay& replay) {
  std::string text = selected.source + "\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<10}{}\n", name, value);
  };
  std::map<std::pair<std::string, std::string>, int64_t> gpus_of;
  for (const Setting& setting : stats.settings)
    ++gpus_of[{fmt::format("{} ({}), driver {}", setting.device_name, setting.device_key, setting.driver),
               fmt::format("{}; {}; {}", setting.toolchain, setting.libraries, setting.harness)}];
  for (const auto& [device_and_tools, gpus] : gpus_of) {
    line("device", device_and_tools.first + (gpus > 1 ? ", " + Plural(gpus, "GPU") : ""));
    line("", device_and_tools.second);
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
  const std::string standings = StandingsText(selected.trials, DescribeTerminal(STDOUT_FILENO));
  if (!standings.empty()) text += "\n" + standings;
  return replay ? text + "\n" + TextOf(*replay) : text;
}

std::string JsonText(const SelectedTrials& selected, const ArchiveStats& stats, const Replay& replay) {
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
                    {"replay", JsonOf(replay)},
                    {"over_autotuning", StandingsJson(selected.trials)}});
}

}  // namespace

Result<int> Run(const RecordsStatsCommand& command) {
  Replay replay;
  if (command.selection.sources.empty())
    if (const auto recording = LoadRecording(std::nullopt); recording.ok()) replay.emplace(**recording);
  Result<SelectedTrials> selected = SelectTrials(command.selection, false);
  // Nobody has to have made trials to ask what a replay would answer from.
  const bool may_be_missing = replay && command.selection.archive.empty();
  if (may_be_missing && selected.status().code() == StatusCode::kNotFound)
    selected = SelectedTrials{.source = selected.status().message()};
  RETURN_IF_ERROR(selected.status());
  const ArchiveStats stats = StatsOf(selected->trials);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(*selected, stats, replay) : PrintText(*selected, stats, replay)));
  return kExitDone;
}

}  // namespace gemmsmith
