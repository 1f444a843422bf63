// Statistics of samples. Every function CHECKs that it gets at least one sample; none sorts its argument in place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gemmsmith {

double Mean(std::span<const double> samples);
double Median(std::span<const double> samples);
double StandardDeviation(std::span<const double> samples);   // n - 1; 0 for one sample
double GeometricMean(std::span<const double> samples);       // all samples > 0
double Quantile(std::span<const double> samples, double q);  // linear interpolation, q in [0, 1]

// Spearman's: 1 where y always grows with x, -1 where it always falls, equals sharing their mean rank. Nothing where
// one of them is the same everywhere. As many of each.
std::optional<double> RankCorrelation(std::span<const double> x, std::span<const double> y);

// An interval of times or ratios, which are positive.
struct Interval {
  double low = 0;
  double high = 0;
  // Records of screenings and heats may hold medians alone: both ends are 0 then.
  bool IsKnown() const { return high > 0; }
  double Width() const { return high - low; }
  bool operator==(const Interval&) const = default;
};

// 95 % interval of the median by order statistics (binomial, no assumption about the distribution).
Interval MedianInterval(std::span<const double> samples);

// reference[i] / ours[i] for pairs taken in the same round, so that drift of the clock cancels.
struct RatioEstimate {
  double median = 0;
  double mean = 0;
  Interval interval;  // 95 %, of the median
  int pairs = 0;
  bool operator==(const RatioEstimate&) const = default;
};
RatioEstimate PairedRatio(std::span<const double> reference, std::span<const double> ours);

}  // namespace gemmsmith
