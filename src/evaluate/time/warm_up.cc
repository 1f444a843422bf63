#include "evaluate/time/warm_up.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/seconds.h"

namespace gemmsmith {

namespace {

// What a contender's windows may differ by from one round to the next. Of eight contenders at the power cap the largest
// difference was 4.6, 2.5, 2.0 and 1.4 % in the rounds that followed 0.4 s of warming up on H200s, and 7.8, 5.7, 4.2,
// 3.9, 2.7 and 2.4 at last on H100s (medians over races, November 2026; docs/lab/judge.md).
constexpr double kSteady = 0.03;

bool AreSteady(const std::vector<double>& before, const std::vector<double>& now) {
  for (size_t i = 0; i < now.size(); ++i)
    if (std::abs(std::log(now[i] / before[i])) > kSteady) return false;
  return true;
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
    const bool waits_for_rest =
        seconds < rules.most_seconds_until_steady && (before.empty() || !AreSteady(before, now));
    if (seconds >= rules.least_seconds && !waits_for_rest) return OkStatus();
    before = std::move(now);
    std::ranges::reverse(order);
  }
}

}  // namespace gemmsmith
