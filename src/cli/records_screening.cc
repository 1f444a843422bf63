#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/table.h"
#include "cli/words.h"
#include "search/screening_quality.h"

namespace gemmsmith {

namespace {

std::string LengthText(const ScreeningQuality& quality) {
  const double from_us = quality.from_ns / 1e3, to_us = quality.to_ns / 1e3;
  return std::isfinite(to_us) ? fmt::format("{:.0f}-{:.0f}", from_us, to_us) : fmt::format("{:.0f}-", from_us);
}

std::string PrintText(const std::string& source, const std::vector<ScreeningQuality>& qualities,
                      const Terminal& terminal) {
  using enum Table::Align;
  Table table({{"told by"},
               {"race"},
               {"us a call", kRight},
               {"races", kRight},
               {"plans", kRight},
               {"order", kRight},
               {"settled", kRight},
               {"first behind", kRight},
               {"settled", kRight},
               {"slope", kRight}});
  for (const ScreeningQuality& quality : qualities)
    table.Add({std::string(Name(quality.told_by)), std::string(Name(quality.race)), LengthText(quality),
               CountText(quality.races), fmt::format("{:.1f}", quality.plans),
               fmt::format("{:.3f}", quality.as_timed.order), fmt::format("{:.3f}", quality.settled.order),
               fmt::format("{:.4f}", quality.as_timed.first_behind),
               fmt::format("{:.4f}", quality.settled.first_behind),
               fmt::format("{:.3f} +- {:.3f}", quality.slope, quality.slope_error)});
  return fmt::format(
      "{}\n"
      "  Order: of plans in a screening or heat beside that of the race behind it (Spearman). First behind: the\n"
      "  time of the plan that was said to be fastest over that of the fastest. Settled: the same with the settled\n"
      "  share of long calls that took turns. Slope: what the logarithm of speed loses until the race where a\n"
      "  product brings in 1/128 element more.\n"
      "{}\n",
      Tinted(source, Tint::kBold, terminal), table.Print(terminal));
}

Json JsonOf(const ScreeningAgreement& agreement) {
  return {{"order", agreement.order}, {"first_behind", agreement.first_behind}};
}

Json JsonOf(const std::vector<ScreeningQuality>& qualities) {
  Json list = Json::array();
  for (const ScreeningQuality& quality : qualities)
    list.push_back({{"told_by", Name(quality.told_by)},
                    {"protocol", Name(quality.race)},
                    {"from_ns", quality.from_ns},
                    {"to_ns", std::isfinite(quality.to_ns) ? Json(quality.to_ns) : Json()},
                    {"races", quality.races},
                    {"plans", quality.plans},
                    {"screened", JsonOf(quality.as_timed)},
                    {"settled", JsonOf(quality.settled)},
                    {"slope", quality.slope},
                    {"slope_error", quality.slope_error}});
  return list;
}

}  // namespace

Result<int> Run(const RecordsScreeningCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectMeasurements(command.selection));
  const std::vector<ScreeningQuality> qualities = QualitiesOfScreening(selected.trials);
  if (qualities.empty())
    return NotFound(selected.source +
                    ": no campaign that raced three of its screened plans: records of optimize on a GPU have some");
  RETURN_IF_ERROR(WriteOut(
      command.json
          ? PrintJson({{"command", "records screening"}, {"source", selected.source}, {"lengths", JsonOf(qualities)}})
          : PrintText(selected.source, qualities, DescribeTerminal(STDOUT_FILENO))));
  return kExitDone;
}

}  // namespace gemmsmith
