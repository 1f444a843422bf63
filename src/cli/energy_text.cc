#include "cli/energy_text.h"

#include <fmt/format.h>

#include "cli/table.h"
#include "cli/words.h"

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
  for (const Timing& timing : outcome.timings) {
    if (timing.clock != Clock::kEnergy || !timing.energy) continue;
    std::string ratio;
    for (const Comparison& comparison : outcome.comparisons)
      if (comparison.clock == Clock::kEnergy && comparison.contender == "ours" &&
          comparison.baseline == timing.contender)
        ratio = RatioText(comparison.ratio);
    const Energy& energy = *timing.energy;
    table.Add({timing.contender, fmt::format("{:.1f}", 2 * shape.Volume() / timing.median_ns / 1e3),
               fmt::format("{:.0f}", energy.watts), fmt::format("{:.0f}", energy.sm_clock_mhz),
               fmt::format("{:.4g}", energy.joules),
               fmt::format("{:.4g} to {:.4g}", energy.interval.low, energy.interval.high), ratio});
  }
  return table.empty() ? "" : fmt::format("\n{}", table.Print(terminal));
}

}  // namespace gemmsmith
