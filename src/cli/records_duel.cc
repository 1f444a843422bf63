#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "archive/replay.h"
#include "archive/segment.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/run.h"
#include "cli/sheet_text.h"
#include "report/duel.h"

namespace gemmsmith {

namespace {

// Answers of a recording are no measurements.
Status ForEachMeasured(const std::vector<std::filesystem::path>& files, const std::function<void(Trial)>& take) {
  for (const std::filesystem::path& file : files) {
    ASSIGN_OR_RETURN(std::vector<Trial> trials, ReadRecords(file));
    for (Trial& trial : trials)
      if (!IsReplayed(trial)) take(std::move(trial));
  }
  return OkStatus();
}

Result<Races> RacesIn(const std::vector<std::filesystem::path>& files) {
  std::vector<Trial> trials;
  RETURN_IF_ERROR(ForEachMeasured(files, [&](Trial trial) { trials.push_back(std::move(trial)); }));
  return Races::Of(trials);
}

Result<std::vector<DuelSide>> SidesOf(const RecordsDuelCommand& command, const Races& races) {
  std::vector<DuelSide> sides;
  for (const RecordsDuelCommand::Side& named : command.sides) {
    DuelSide& side = sides.emplace_back(named.name);
    RETURN_IF_ERROR(ForEachMeasured(named.records, [&](const Trial& trial) { side.Take(trial, races); }));
  }
  return sides;
}

int ShapesIn(const Races& races) {
  std::set<Shape> shapes;
  for (const Gemm& gemm : races.Problems()) shapes.insert(gemm.shape);
  return int(shapes.size());
}

std::string Dates(const Races& races) {
  return races.FirstDate() == races.LastDate() ? races.FirstDate() : races.FirstDate() + " to " + races.LastDate();
}

std::string PrintText(const Races& races, const std::vector<DuelRow>& rows) {
  const std::string& first = rows.front().name;
  return fmt::format(
      "{} and {}, measured on an {}, {}, device clock\n"
      "of the fastest: of all plans that raced, mean over problems; over {}: its time over theirs, mean over shapes,\n"
      "of each the faster of nn and tn; new to {}: winners that it had tried in no form\n\n{}",
      Plural(ShapesIn(races), "shape"), Plural(int64_t(races.Problems().size()), "problem"), races.device_name(),
      Dates(races), first, first, TextOf(DuelSheet(rows), DescribeTerminal(STDOUT_FILENO)));
}

}  // namespace

Result<int> Run(const RecordsDuelCommand& command) {
  ASSIGN_OR_RETURN(const Races races, RacesIn(command.races));
  ASSIGN_OR_RETURN(const std::vector<DuelSide> sides, SidesOf(command, races));
  ASSIGN_OR_RETURN(const std::vector<DuelRow> rows, Duel(races, sides));
  if (!command.json) {
    RETURN_IF_ERROR(WriteOut(PrintText(races, rows)));
    return kExitDone;
  }
  RETURN_IF_ERROR(WriteOut(PrintJson({{"command", "records duel"},
                                      {"shapes", ShapesIn(races)},
                                      {"problems", races.Problems().size()},
                                      {"device", races.device_name()},
                                      {"first_date", races.FirstDate()},
                                      {"last_date", races.LastDate()},
                                      {"sides", DuelJson(rows)}})));
  return kExitDone;
}

}  // namespace gemmsmith
