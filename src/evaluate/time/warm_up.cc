#include "evaluate/time/warm_up.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/seconds.h"

namespace gemmsmith {

namespace {

// Root of the mean square of what two rounds differ by. Windows of 0.12 s that begin 0.4 s after the power cap was felt
// swing by 2.5 % in the mean, which is 3.5 between two rounds, in the first rounds of a race (H200: 1.4), and come to
// rest within five rounds: then they scatter by 0.9 (H200: 0.5), and differ by 1.3 (docs/lab/judge.md).
constexpr double kSteady = 0.018;

bool AreSteady(const std::vector<double>& before, const std::vector<double>& now) {
  double squares = 0;
  for (size_t i = 0; i < now.size(); ++i) squares += std::pow(std::log(now[i] / before[i]), 2);
  return squares < kSteady * kSteady * double(now.size());
}

}  // namespace

Status RunWarmUp(const WarmUp& rules, size_t contenders, const TimeRound& time_round) {
  std::vector<size_t> order(contenders);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<double> before;
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    ASSIGN_OR_RETURN(std::vector<double> now, time_round(order));
    const double seconds = SecondsSince(start);
    const bool may_swing = seconds < rules.most_seconds && (before.empty() || !AreSteady(before, now));
    if (seconds >= rules.seconds && !may_swing) return OkStatus();
    before = std::move(now);
    std::ranges::reverse(order);
  }
}

}  // namespace gemmsmith
