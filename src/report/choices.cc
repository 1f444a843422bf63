#include "report/choices.h"

#include <fmt/format.h>

#include <algorithm>

namespace gemmsmith {
namespace {

std::string NameOf(std::string_view family, const Layout& layout) { return fmt::format("{}_{}", family, Name(layout)); }

// The run that Compare() takes a library's time from.
const Trial* RunWith(const ShapeRecords& records, const std::string& library, Clock clock) {
  for (const Trial* const run : records.RunsOfLibraries(clock))
    if (run->outcome.Find(library, clock) != nullptr) return run;
  return nullptr;
}

// AutoTuning's says, behind a comma, of how many it is the best.
std::string_view AlgorithmOf(const Outcome& outcome, const std::string& library) {
  for (const auto& [name, algorithm] : outcome.baseline_algorithms)
    if (name == library) return std::string_view(algorithm).substr(0, algorithm.find(','));
  return {};
}

bool IsSameAlgorithm(const ShapeRecords& records, const std::string& one, const std::string& other, Clock clock) {
  const Trial* const run = RunWith(records, one, clock);
  const std::string_view algorithm = AlgorithmOf(run->outcome, one);
  return !algorithm.empty() && algorithm == AlgorithmOf(run->outcome, other);
}

std::string IntervalText(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{:.3f} to {:.3f}", 1 / interval->high, 1 / interval->low) : "-";
}

}  // namespace

std::vector<ChoiceRow> ChoiceRows(const Selection& selection) {
  std::vector<ChoiceRow> rows;
  for (const Layout& layout : kLayouts) {
    const std::string tuned = NameOf("lt_auto", layout), heuristic = NameOf("lt_heuristic", layout);
    std::vector<ShapeSpeedUp> speed_ups;
    ChoiceRow row{.layout = layout};
    for (const ShapeRecords& records : selection.shapes) {
      const auto speed_up = Compare(records, {tuned, {tuned}}, {heuristic, {heuristic}}, selection.leading);
      if (!speed_up) continue;
      speed_ups.push_back(*speed_up);
      if (SlowerChoice choice{layout, *speed_up}; choice.Slowdown() > 1 + kSlowerBy) {
        choice.same_algorithm = IsSameAlgorithm(records, tuned, heuristic, selection.leading);
        row.slower.push_back(choice);
      }
    }
    if (speed_ups.empty()) continue;
    row.statistics = StatisticsOf(speed_ups);
    std::stable_sort(row.slower.begin(), row.slower.end(),
                     [](const SlowerChoice& a, const SlowerChoice& b) { return a.Slowdown() > b.Slowdown(); });
    rows.push_back(std::move(row));
  }
  return rows;
}

Sheet ChoiceSheet(const std::vector<ChoiceRow>& rows, Clock clock) {
  Sheet sheet{.caption = fmt::format("AutoTuning over the heuristic's choice, {}: ratios t_heuristic / t_autotuning",
                                     Name(clock)),
              .columns = {{"layout", false},
                          {"products"},
                          {"mean"},
                          {"geo. mean"},
                          {"median"},
                          {"lowest"},
                          {fmt::format("over {:.0f} % slower", 100 * kSlowerBy)},
                          {"by the same algorithm"}}};
  for (const ChoiceRow& row : rows) {
    const Statistics& s = row.statistics;
    const auto same = std::count_if(row.slower.begin(), row.slower.end(),
                                    [](const SlowerChoice& choice) { return choice.same_algorithm; });
    sheet.rows.push_back({std::string(Name(row.layout)), fmt::format("{}", s.shapes), SpeedUpCell(s.mean),
                          SpeedUpCell(s.geomean), SpeedUpCell(s.median), SpeedUpCell(s.min),
                          fmt::format("{}", row.slower.size()), fmt::format("{}", same)});
  }
  return sheet;
}

Sheet SlowerSheet(const std::vector<ChoiceRow>& rows) {
  Sheet sheet{.caption = fmt::format("Where AutoTuning's choice is more than {:.0f} % slower", 100 * kSlowerBy),
              .columns = {{"shape", false},
                          {"layout", false},
                          {"AutoTuning, us"},
                          {"heuristic, us"},
                          {"slower"},
                          {"95 % interval"},
                          {"algorithms", false}}};
  for (const ChoiceRow& row : rows)
    for (const SlowerChoice& choice : row.slower) {
      const ShapeSpeedUp& s = choice.speed_up;
      sheet.rows.push_back({Print(s.shape), std::string(Name(choice.layout)), MicrosecondsCell(s.contender_ns),
                            MicrosecondsCell(s.reference_ns), SpeedUpCell(choice.Slowdown()), IntervalText(s.interval),
                            choice.same_algorithm ? "the same" : "two"});
    }
  return sheet;
}

}  // namespace gemmsmith
