#include "report/winning_plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "report/scoreboard.h"

namespace gemmsmith {

std::vector<WinningPlan> WinningPlans(const Selection& selection, Clock clock) {
  std::vector<WinningPlan> winners;
  for (const ShapeRecords& records : selection.shapes)
    for (const auto& [layout, trial] : records.OursOn(clock))
      if (trial->HasPlan()) winners.push_back({trial->gemm, trial->plan()});
  return winners;
}

void Tally::Add(const Label& value, bool is_unopposed) {
  unopposed += is_unopposed;
  ++winners;
  ++counts[value];
}

int Tally::CountOf(const Label& value) const {
  const auto found = counts.find(value);
  return found == counts.end() ? 0 : found->second;
}

double Tally::ShareOf(const Label& value) const { return winners == 0 ? 0 : double(CountOf(value)) / winners; }

const Label& Tally::Most() const {
  GEMMSMITH_CHECK(winners > 0, "no winner in group {}", group);
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Label ClassGroup(const Shape& shape) {
  const ShapeClass shape_class = Classify(shape);
  return {{int(shape_class)}, std::string(Name(shape_class))};
}

Label SizeGroup(const Shape& shape) {
  const int bucket = BucketOf(shape);
  return {{bucket}, fmt::format("{} to {}", bucket, bucket + kBucketWidth)};
}

}  // namespace gemmsmith
