#include <fmt/format.h>
#include <unistd.h>

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

Result<Races> RacesIn(const std::vector<std::filesystem::path>& files) {
  Races races;
  for (const std::filesystem::path& file : files) {
    ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(file));
    for (const Trial& trial : trials)
      if (!IsReplayed(trial)) races.Take(trial);
  }
  if (races.Problems().empty()) return NotFound("no plan was timed in these races");
  return races;
}

Result<std::vector<DuelSide>> SidesOf(const RecordsDuelCommand& command, const Races& races) {
  std::vector<DuelSide> sides;
  for (const RecordsDuelCommand::Side& named : command.sides) {
    DuelSide& side = sides.emplace_back(named.name, races);
    for (const std::filesystem::path& path : named.records) {
      ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(path));
      for (const Trial& trial : trials)
        if (!IsReplayed(trial)) side.Take(trial);
    }
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
  return fmt::format(
      "{} and {}, {}, device clock\n"
      "of the fastest: of all plans that raced, mean over problems; over {}: its time over theirs, mean over shapes,\n"
      "of each the faster of nn and tn; new to {}: winners that it had not tried\n\n{}",
      Plural(ShapesIn(races), "shape"), Plural(int64_t(races.Problems().size()), "problem"), races.Where(), first,
      first, TextOf(DuelSheet(rows), DescribeTerminal(STDOUT_FILENO)));
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
                                      {"races", races.Where()},
                                      {"sides", DuelJson(rows)}})));
  return kExitDone;
}

}  // namespace gemmsmith
