#include "cli/energy_text.h"

#include <fmt/format.h>

#include "cli/table.h"
#include "cli/words.h"
#include "report/energy.h"

namespace gemmsmith {

std::string EnergyTable(const Outcome& outcome, const Shape& shape, const Terminal& terminal) {
  using enum Table::Align;
  Table table({{"energy"},
               {"TFLOP/s", kRight},
               {"watts", kRight},
               {"MHz", kRight},
               {"J a call", kRight},
               {"95 % interval", kRight},
               {"J over ours", kRight}});
  for (const EnergyRow& row : EnergyRows(shape, outcome))
    table.Add({row.contender, fmt::format("{:.1f}", row.tflops), fmt::format("{:.0f}", row.energy.watts),
               fmt::format("{:.0f}", row.energy.sm_clock_mhz), fmt::format("{:.4g}", row.energy.joules),
               fmt::format("{:.4g} to {:.4g}", row.energy.interval.low, row.energy.interval.high),
               row.over ? RatioText(*row.over) : ""});
  return table.empty() ? "" : fmt::format("\n{}", table.Print(terminal));
}

}  // namespace gemmsmith
