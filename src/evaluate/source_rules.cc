#include "evaluate/source_rules.h"

#include <fmt/format.h>

#include <cmath>

namespace gemmsmith {

namespace {

double StandardErrorOf(const Timing& timing) {
  constexpr double kErrorsIn95Percent = 2 * 1.96;
  return (timing.interval.high - timing.interval.low) / kErrorsIn95Percent;
}

}  // namespace

std::string WhyRepeatedCallsAreTooFast(const Timing& ring, const Timing& repeated, double operand_bytes,
                                       double memory_tbs) {
  constexpr double kShareOfPeak = 0.4, kFixedNs = 2000, kErrors = 3;
  if (memory_tbs <= 0) return "";
  const double reading_ns = operand_bytes / (kShareOfPeak * memory_tbs * 1e3);
  const double noise_ns = kErrors * std::hypot(StandardErrorOf(ring), StandardErrorOf(repeated));
  const double gap_ns = ring.median_ns - repeated.median_ns, most_ns = reading_ns + kFixedNs + noise_ns;
  if (gap_ns <= most_ns) return "";
  return fmt::format(
      "a repeated call takes {:.0f} ns, a call on operands of its own {:.0f} ns: {:.0f} ns more, of which reading the "
      "operands and noise explain {:.0f}",
      repeated.median_ns, ring.median_ns, gap_ns, most_ns);
}

}  // namespace gemmsmith
