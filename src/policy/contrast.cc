#include "policy/contrast.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

constexpr size_t kBuckets = 8;

using ScoreBuckets = std::vector<std::vector<size_t>>;

// Those without a variant are left out.
ScoreBuckets BucketsOf(std::span<const double> scores) {
  if (scores.empty()) return {};
  const auto [low, high] = std::ranges::minmax(scores);
  ScoreBuckets buckets(kBuckets);
  for (size_t i = 0; i < scores.size(); ++i) {
    const double place = high > low ? (scores[i] - low) / (high - low) : 0;
    buckets[std::min(kBuckets - 1, size_t(place * kBuckets))].push_back(i);
  }
  std::erase_if(buckets, [](const auto& bucket) { return bucket.empty(); });
  return buckets;
}

double MeanScore(std::span<const double> scores, std::span<const size_t> bucket) {
  double sum = 0;
  for (const size_t variant : bucket) sum += scores[variant];
  return sum / double(bucket.size());
}

std::vector<double> BucketWeights(std::span<const double> scores, const ScoreBuckets& buckets, double temperature) {
  if (buckets.empty()) return {};
  std::vector<double> means;
  for (const auto& bucket : buckets) means.push_back(MeanScore(scores, bucket));
  const double centre = Mean(means), deviation = StandardDeviation(means);
  std::vector<double> weights;
  for (const double mean : means)
    weights.push_back(deviation > 0 ? std::exp((mean - centre) / (deviation * temperature)) : 1);
  return weights;
}

}  // namespace

std::vector<size_t> ChooseContrasting(std::span<const double> scores, size_t count, double temperature,
                                      Random& random) {
  ScoreBuckets buckets = BucketsOf(scores);
  std::vector<double> weights = BucketWeights(scores, buckets, temperature);
  std::vector<size_t> chosen;
  while (chosen.size() < count && !buckets.empty()) {
    const size_t drawn = random.Choose(weights);
    chosen.push_back(buckets[drawn][random.Below(buckets[drawn].size())]);
    buckets.erase(buckets.begin() + long(drawn));
    weights.erase(weights.begin() + long(drawn));
  }
  return chosen;
}

}  // namespace gemmsmith
