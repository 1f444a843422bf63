#include "evaluate/time/race_rules.h"

namespace gemmsmith {

namespace {

// Without an end but the seconds.
constexpr int kManyRounds = 10'000'000;

RaceRules ShortRules(Clock clock, bool is_settled) {
  // A round of ten contenders takes 1.5 s. Windows of one and the same call scatter by 0.3 % as a rule, but by 3 % at
  // some shapes, where the power cap makes the clock swing (4744x4744x4744, H200, November 2026).
  if (is_settled) return {.min_rounds = 8, .max_rounds = 20, .interval_width = 0.02};
  return {.min_rounds = clock == Clock::kServer ? 60 : 10, .max_rounds = 100, .interval_width = 0.02};
}

}  // namespace

Batch BatchFor(Protocol protocol) { return IsThorough(protocol) ? Batch::kLong : Batch::kBrief; }

RaceRules RulesFor(Protocol protocol, Clock clock, bool is_settled) {
  switch (protocol) {
    case Protocol::kScreen:
      return {.min_rounds = 5, .max_rounds = 5};
    case Protocol::kHeat:
      return {.min_rounds = 5, .max_rounds = 100, .survivors = 4};
    case Protocol::kShort:
      return ShortRules(clock, is_settled);
    case Protocol::kLong:
      return {.min_rounds = 8, .max_rounds = kManyRounds, .min_seconds = 30};
  }
  GEMMSMITH_CHECK(false, "protocol {}", int(protocol));
  return {};
}

double WarmUpSeconds(Protocol protocol, bool is_warm, bool is_settled) {
  if (protocol == Protocol::kLong) return 10;
  if (protocol != Protocol::kShort || is_warm) return 0;
  return is_settled ? 1 : 0.2;
}

}  // namespace gemmsmith
