#include "report/energy.h"

#include <fmt/format.h>

namespace gemmsmith {
namespace {

std::optional<RatioEstimate> OverOurs(const Outcome& outcome, const std::string& baseline) {
  for (const Comparison& comparison : outcome.comparisons)
    if (comparison.clock == Clock::kEnergy && comparison.contender == "ours" && comparison.baseline == baseline)
      return comparison.ratio;
  return std::nullopt;
}

}  // namespace

std::vector<EnergyRow> EnergyRows(const Shape& shape, const Outcome& outcome) {
  std::vector<EnergyRow> rows;
  for (const Timing& timing : outcome.timings)
    if (timing.clock == Clock::kEnergy && timing.energy)
      rows.push_back({shape, timing.contender, 2 * shape.Volume() / timing.median_ns / 1e3, *timing.energy,
                      OverOurs(outcome, timing.contender)});
  return rows;
}

std::vector<EnergyRow> EnergyRows(const Selection& selection) {
  std::vector<EnergyRow> rows;
  for (const ShapeRecords& records : selection.shapes) {
    const Trial* const trial = records.thriftiest != nullptr ? records.thriftiest : records.race;
    if (trial == nullptr) continue;
    for (EnergyRow& row : EnergyRows(records.shape, trial->outcome)) rows.push_back(std::move(row));
  }
  return rows;
}

Sheet EnergySheet(const std::vector<EnergyRow>& rows) {
  Sheet sheet{.caption =
                  "Energy: windows of a second and more of one contender alone; joules over ours above 1: ours "
                  "takes less",
              .columns = {{"shape", false},
                          {"contender", false},
                          {"TFLOP/s"},
                          {"watts"},
                          {"MHz"},
                          {"J a call"},
                          {"J over ours"},
                          {"95 % interval"}}};
  for (const EnergyRow& row : rows)
    sheet.rows.push_back(
        {Print(row.shape), row.contender, fmt::format("{:.1f}", row.tflops), fmt::format("{:.0f}", row.energy.watts),
         fmt::format("{:.0f}", row.energy.sm_clock_mhz), fmt::format("{:.4g}", row.energy.joules),
         row.over ? fmt::format("{:.3f}", row.over->median) : "",
         row.over ? fmt::format("{:.3f} to {:.3f}", row.over->interval.low, row.over->interval.high) : ""});
  return sheet;
}

}  // namespace gemmsmith
