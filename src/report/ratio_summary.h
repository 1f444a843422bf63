// Many ratios in a few numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace gemmsmith {

struct RatioSummary {
  int count = 0;
  double geomean = 0;
  double lowest = 0, q05 = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, highest = 0;
};
// At least one ratio, all above 0.
RatioSummary SummaryOf(std::span<const double> ratios);

// "geomean", "min", "q05", "q25", "median", "q75", "q95", "max"; the count has another name wherever it stands.
nlohmann::ordered_json JsonOf(const RatioSummary& summary);
inline constexpr const char* kRatioSummaryCsvHeader = "geomean,min,q05,q25,median,q75,q95,max";
std::string CsvFields(const RatioSummary& summary);

}  // namespace gemmsmith
