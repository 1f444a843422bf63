#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace gemmsmith {
namespace {

std::vector<double> Sorted(std::span<const double> samples) {
  GEMMSMITH_CHECK(!samples.empty(), "statistics of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double QuantileOfSorted(const std::vector<double>& sorted, double q) {
  const double position = q * double(sorted.size() - 1);
  const size_t below = size_t(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - double(below);
  // Not by the difference: equal neighbours, infinite ones too, give themselves.
  return weight == 0 || sorted[below] == sorted[above] ? sorted[below]
                                                       : sorted[below] * (1 - weight) + sorted[above] * weight;
}

// How many samples may be cut off at each end so that what is left covers the median with 95 %: the largest c with
// P(Binomial(n, 1/2) < c) <= 2.5 %. Zero below six samples, where even the full range covers less.
size_t CutAtEachEnd(size_t n) {
  double log_probability = double(n) * std::log(0.5);  // of exactly i = 0
  double below = 0;
  for (size_t i = 0; i < n; ++i) {
    below += std::exp(log_probability);
    if (below > 0.025) return i;
    log_probability += std::log(double(n - i) / double(i + 1));
  }
  return 0;
}

}  // namespace

double Mean(std::span<const double> samples) {
  GEMMSMITH_CHECK(!samples.empty(), "statistics of no samples");
  return std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
}

double Median(std::span<const double> samples) { return QuantileOfSorted(Sorted(samples), 0.5); }

double Quantile(std::span<const double> samples, double q) {
  GEMMSMITH_CHECK(q >= 0 && q <= 1, "q is {}", q);
  return QuantileOfSorted(Sorted(samples), q);
}

double StandardDeviation(std::span<const double> samples) {
  const double mean = Mean(samples);
  if (samples.size() == 1) return 0;
  double squares = 0;
  for (double sample : samples) squares += (sample - mean) * (sample - mean);
  return std::sqrt(squares / double(samples.size() - 1));
}

double GeometricMean(std::span<const double> samples) {
  GEMMSMITH_CHECK(!samples.empty(), "statistics of no samples");
  double logarithms = 0;
  for (double sample : samples) {
    GEMMSMITH_CHECK(sample > 0, "a sample is {}", sample);
    logarithms += std::log(sample);
  }
  return std::exp(logarithms / double(samples.size()));
}

Interval MedianInterval(std::span<const double> samples) {
  const std::vector<double> sorted = Sorted(samples);
  const size_t cut = CutAtEachEnd(sorted.size());
  return {sorted[cut == 0 ? 0 : cut - 1], sorted[sorted.size() - (cut == 0 ? 1 : cut)]};
}

RatioEstimate PairedRatio(std::span<const double> reference, std::span<const double> ours) {
  GEMMSMITH_CHECK(reference.size() == ours.size(), "{} samples against {}", reference.size(), ours.size());
  std::vector<double> ratios(ours.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    GEMMSMITH_CHECK(ours[i] > 0, "sample {} is {}", i, ours[i]);
    ratios[i] = reference[i] / ours[i];
  }
  return {
      .median = Median(ratios), .mean = Mean(ratios), .interval = MedianInterval(ratios), .pairs = int(ratios.size())};
}

}  // namespace gemmsmith
