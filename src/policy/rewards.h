// What an outcome is worth to a policy that learns from it.
//   r = t_ref / t - alpha * diff - beta * L
// t_ref: the fastest baseline of the same layout, raced beside; t: ours, leading clock, the mean of their paired
// ratios; diff: the largest absolute error; L: thousands of instructions of the kernel.
// An outcome without a time has a grade, by the stage that ended it. A policy so learns first to be legal, then to
// compile, then to be right, then to be fast.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "outcome/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

struct RewardOptions {
  double alpha = 0.1;
  double beta = 0.01;
  // By OutcomeKind; that of measured does not count.
  std::array<double, size_t(kLastOutcomeKind) + 1> grades = {-1.0, -0.9, -0.8, -0.7, -0.6, -0.5, -1.0, 0.0, 0.0};
};

// Over the fastest baseline of the layout; nothing where none was raced beside a measured kernel.
std::optional<double> SpeedUpOf(const Outcome& outcome, const Layout& layout);
// Nothing for a measured outcome without such a baseline.
std::optional<double> RewardOf(const Outcome& outcome, const Layout& layout, const RewardOptions& options);

// Advantage of a reward among those of its problem, clipped, so that no problem and no outlier dominates a batch.
inline constexpr double kRewardClip = 1.5;
struct RewardScale {
  double mean = 0;
  double deviation = 1;
  double Of(double reward) const;  // in deviations from the mean, cut to the clip
};
RewardScale ScaleOf(std::span<const double> rewards);

// (r - mean) / (deviation + epsilon), of a group that one context was answered with.
std::vector<double> Advantages(std::span<const double> rewards);

}  // namespace gemmsmith
