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

// From 0; equal samples share the mean of their ranks.
std::vector<double> RanksOf(std::span<const double> samples) {
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return samples[a] < samples[b]; });
  std::vector<double> ranks(samples.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && samples[order[end]] == samples[order[first]]) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = double(first + end - 1) / 2;
  }
  return ranks;
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

std::optional<double> RankCorrelation(std::span<const double> x, std::span<const double> y) {
  GEMMSMITH_CHECK(x.size() == y.size(), "{} beside {} samples", x.size(), y.size());
  const std::vector<double> x_ranks = RanksOf(x), y_ranks = RanksOf(y);
  const double middle = Mean(x_ranks);
  double products = 0, x_squares = 0, y_squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    products += (x_ranks[i] - middle) * (y_ranks[i] - middle);
    x_squares += (x_ranks[i] - middle) * (x_ranks[i] - middle);
    y_squares += (y_ranks[i] - middle) * (y_ranks[i] - middle);
  }
  if (x_squares == 0 || y_squares == 0) return std::nullopt;
  return products / std::sqrt(x_squares * y_squares);
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
