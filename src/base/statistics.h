// Statistics of samples. Every function CHECKs that it gets at least one sample; none sorts its argument in place.
#pragma once

#include <cstdint>
#include <span>

namespace gemmsmith {

double Mean(std::span<const double> samples);
double Median(std::span<const double> samples);
double StandardDeviation(std::span<const double> samples);   // n - 1; 0 for one sample
double GeometricMean(std::span<const double> samples);       // all samples > 0
double Quantile(std::span<const double> samples, double q);  // linear interpolation, q in [0, 1]

struct Interval {
  double low = 0;
  double high = 0;
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
