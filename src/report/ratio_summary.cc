#include "report/ratio_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/statistics.h"

namespace gemmsmith {

RatioSummary SummaryOf(std::span<const double> ratios) {
  const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
  return {.count = int(ratios.size()),
          .geomean = GeometricMean(ratios),
          .lowest = *lowest,
          .q05 = Quantile(ratios, 0.05),
          .q25 = Quantile(ratios, 0.25),
          .median = Median(ratios),
          .q75 = Quantile(ratios, 0.75),
          .q95 = Quantile(ratios, 0.95),
          .highest = *highest};
}

nlohmann::ordered_json JsonOf(const RatioSummary& s) {
  return {{"geomean", s.geomean}, {"min", s.lowest}, {"q05", s.q05}, {"q25", s.q25},
          {"median", s.median},   {"q75", s.q75},    {"q95", s.q95}, {"max", s.highest}};
}

std::string CsvFields(const RatioSummary& s) {
  return fmt::format("{},{},{},{},{},{},{},{}", s.geomean, s.lowest, s.q05, s.q25, s.median, s.q75, s.q95, s.highest);
}

}  // namespace gemmsmith
