#include "evaluate/time/race_rules.h"

#include <algorithm>

namespace gemmsmith {

namespace {

// Without an end but the seconds.
constexpr int kManyRounds = 10'000'000;

// Windows of one call scatter by 0.3 % as a rule. At some shapes it is 3 %, where the power cap makes the clock swing
// (4744x4744x4744, H200, November 2026): two entries go on for 20 rounds there. With five and more a round takes 0.7 s,
// and 20 rounds instead of 8 would gain less than races differ by.
RaceRules SteadyStateRules(const RaceTraits& traits) {
  constexpr int kWindows = 40, kMin = 8, kMax = 20;
  const int most = std::clamp(kWindows / int(traits.entries), kMin, kMax);
  return {.min_rounds = kMin, .max_rounds = most, .interval_width = 0.02};
}

// Single calls that find an idle GPU scatter by microseconds, so short ones never come to an interval of 2 %. A round
// of eight entries takes 9 ms, nearly all of it gaps.
constexpr int kServerRounds = 60, kMinServerRounds = 20, kBriefServerRounds = 15;

// With 100 rounds heats took a third of the time that a brief run had for short calls (H200, November 2026).
constexpr int kBriefHeatRounds = 30;

// A window takes two seconds, and windows scatter little: six of them are what an interval of 95 % needs.
RaceRules EnergyRules(Protocol protocol) {
  const int rounds = IsThorough(protocol) ? 6 : 2;
  return {.min_rounds = rounds, .max_rounds = rounds};
}

RaceRules ShortRules(Clock clock, const RaceTraits& traits) {
  if (WindowFor(Protocol::kShort, clock, traits.fastest_call_ns)) return SteadyStateRules(traits);
  if (clock == Clock::kServer && traits.is_brief)
    return {.min_rounds = kBriefServerRounds, .max_rounds = kBriefServerRounds};
  if (clock == Clock::kServer)
    return {.min_rounds = IsLongCall(traits.fastest_call_ns) ? kMinServerRounds : kServerRounds,
            .max_rounds = kServerRounds,
            .interval_width = 0.02};
  return {.min_rounds = traits.is_brief ? 6 : 10, .max_rounds = traits.is_brief ? 20 : 100, .interval_width = 0.02};
}

}  // namespace

Batch BatchFor(Protocol protocol) { return IsThorough(protocol) ? Batch::kLong : Batch::kBrief; }

bool IsLongCall(double call_ns) { return call_ns > 300e3; }

std::optional<Window> WindowFor(Protocol protocol, Clock clock, double fastest_call_ns) {
  const bool has_one = IsThorough(protocol) && clock == Clock::kDevice && IsLongCall(fastest_call_ns);
  return has_one ? std::optional(kSteadyStateWindow) : std::nullopt;
}

RaceRules RulesFor(Protocol protocol, Clock clock, const RaceTraits& traits) {
  if (clock == Clock::kEnergy && protocol != Protocol::kLong) return EnergyRules(protocol);
  switch (protocol) {
    case Protocol::kScreen:
      return {.min_rounds = 3, .max_rounds = 3};
    case Protocol::kHeat:
      return {.min_rounds = 5, .max_rounds = traits.is_brief ? kBriefHeatRounds : 100, .survivors = 4};
    case Protocol::kShort:
      return ShortRules(clock, traits);
    case Protocol::kLong:
      return {.min_rounds = 8, .max_rounds = kManyRounds, .min_seconds = 30};
  }
  GEMMSMITH_CHECK(false, "protocol {}", int(protocol));
  return {};
}

// Calls of 10 us and more draw enough for the power cap to be felt some 40 ms later. In a heat the first half would
// drop out by what they take on a cool GPU, which is another order. From idle, one H200 felt the cap after 40 to 80 ms;
// times stood within 0.3 % after 150 to 200 (docs/lab/neighbours.md). In races windows swung for some two seconds on
// H200s and eight on H100s, less from round to round (docs/lab/judge.md).
WarmUp WarmUpFor(Protocol protocol, const RaceTraits& traits, bool is_warm, bool in_steady_state) {
  constexpr double kMaxSwinging = 6;
  if (protocol == Protocol::kLong) return {.least_seconds = 10};
  const double until_capped = traits.fastest_call_ns > 10e3 ? 0.1 : 0;
  if (protocol == Protocol::kHeat) return {.least_seconds = until_capped};
  if (protocol != Protocol::kShort) return {};
  return {is_warm ? 0 : in_steady_state ? 0.4 : 0.2, in_steady_state ? kMaxSwinging : 0};
}

}  // namespace gemmsmith
