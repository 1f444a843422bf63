#include "evaluate/time/warm_up.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/seconds.h"

namespace gemmsmith {

namespace {

// The root mean square, over the entries, of how far windows may differ from one round to the next. At rest it is 0.9 %
// for windows of 0.12 s on H100s and 0.7 on H200s. In the rounds that followed 0.4 s of warming up it was 2.6, 1.5 and
// 1.1 % on H200s. On H100s it was 5.6, 4.2, 3.3, 2.9, 2.3 and 1.9 %. The largest difference grows with the number of
// entries: with fourteen it was hardly ever below 3 % (November 2026; docs/lab/judge.md, sweeps.md).
constexpr double kSteady = 0.015;

bool AreSteady(std::span<const size_t> entries, const std::vector<double>& before, const std::vector<double>& now) {
  double squares = 0;
  for (size_t i : entries) squares += std::pow(std::log(now[i] / before[i]), 2);
  return squares <= kSteady * kSteady * double(entries.size());
}

}  // namespace

Status RunWarmUp(const WarmUp& rules, size_t entries, const TimeRound& time_round) {
  std::vector<size_t> order(entries);
  std::iota(order.begin(), order.end(), size_t{0});
  return RunWarmUp(rules, std::move(order), time_round);
}

Status RunWarmUp(const WarmUp& rules, std::vector<size_t> order, const TimeRound& time_round) {
  std::vector<double> before;
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    ASSIGN_OR_RETURN(std::vector<double> now, time_round(order));
    const double seconds = SecondsSince(start);
    const bool waits_for_rest =
        seconds < rules.most_seconds_until_steady && (before.empty() || !AreSteady(order, before, now));
    if (seconds >= rules.least_seconds && !waits_for_rest) return OkStatus();
    before = std::move(now);
    std::ranges::reverse(order);
  }
}

}  // namespace gemmsmith
