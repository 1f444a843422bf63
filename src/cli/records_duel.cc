#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "base/text.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/sheet_text.h"
#include "report/duel.h"

namespace gemmsmith {

namespace {

Result<std::vector<DuelSide>> SidesOf(const RecordsDuelCommand& command, const Races& races) {
  std::vector<DuelSide> sides;
  for (const RecordsDuelCommand::Side& named : command.sides) {
    ASSIGN_OR_RETURN(const SelectedTrials tried, SelectTrials({.sources = named.records}, false));
    DuelSide& side = sides.emplace_back(named.name);
    for (const Trial& trial : tried.trials) side.Take(trial, races);
  }
  return sides;
}

int ShapesIn(const Races& races) {
  std::set<Shape> shapes;
  for (const Gemm& gemm : races.Problems()) shapes.insert(gemm.shape);
  return int(shapes.size());
}

std::string PrintText(const Races& races, const std::vector<DuelRow>& rows) {
  const std::string& first = rows.front().name;
  const auto [first_ms, last_ms] = races.UnixMs();
  return fmt::format(
      "{} and {}, measured on an {}, {}, device clock\n"
      "of the fastest: of all plans that raced, mean over problems; over {}: its time over theirs, mean over shapes,\n"
      "of each the faster of nn and tn; new to {}: winners that it had tried in no form\n\n{}",
      Plural(ShapesIn(races), "shape"), Plural(int64_t(races.Problems().size()), "problem"), races.device_name(),
      DatesCell(first_ms, last_ms), first, first, TextOf(DuelSheet(rows), DescribeTerminal(STDOUT_FILENO)));
}

}  // namespace

Result<int> Run(const RecordsDuelCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials raced, SelectTrials({.sources = command.races}, false));
  ASSIGN_OR_RETURN(const Races races, Races::Of(raced.trials));
  ASSIGN_OR_RETURN(const std::vector<DuelSide> sides, SidesOf(command, races));
  ASSIGN_OR_RETURN(const std::vector<DuelRow> rows, Duel(races, sides));
  if (!command.json) {
    RETURN_IF_ERROR(WriteOut(PrintText(races, rows)));
    return kExitDone;
  }
  const auto [first_ms, last_ms] = races.UnixMs();
  RETURN_IF_ERROR(WriteOut(PrintJson({{"command", "records duel"},
                                      {"shapes", ShapesIn(races)},
                                      {"problems", races.Problems().size()},
                                      {"device", races.device_name()},
                                      {"first_date", DateText(first_ms)},
                                      {"last_date", DateText(last_ms)},
                                      {"sides", DuelJson(rows)}})));
  return kExitDone;
}

}  // namespace gemmsmith
