// What contenders drew on the energy clock, by shape.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/selection.h"
#include "report/sheet.h"

namespace gemmsmith {

struct EnergyRow {
  Shape shape;
  std::string contender;
  double tflops = 0;  // in the windows that the energy is of
  Energy energy;
  std::optional<RatioEstimate> over;  // of joules: this one's over ours, from paired windows of one race
};

// Of every shape with energies: of ours the kernel with the fewest joules a call, then what raced beside it; without
// one of ours, the race of the baselines.
std::vector<EnergyRow> EnergyRows(const Selection& selection);
// Of every contender of one outcome that has them.
std::vector<EnergyRow> EnergyRows(const Shape& shape, const Outcome& outcome);
Sheet EnergySheet(const std::vector<EnergyRow>& rows);

}  // namespace gemmsmith
