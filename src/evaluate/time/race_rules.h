// What the protocols ask of a race; docs/measuring.md section 4 in numbers.
#pragma once

#include "evaluate/outcome.h"
#include "evaluate/time/device_clock.h"
#include "evaluate/time/pairing.h"

namespace gemmsmith {

// Calls longer than this are judged settled in thorough protocols: bursts rank kernels by cycles, settled runs by
// energy.
inline constexpr double kSettledCallNs = 300e3;

// How long the batches of a protocol are.
Batch BatchFor(Protocol protocol);
// `is_settled`: each visit is a window of at least 0.1 s.
RaceRules RulesFor(Protocol protocol, Clock clock, bool is_settled = false);
// Before a race on a GPU that is not warm from the one before; what a long run wants, it wants in any case.
double WarmUpSeconds(Protocol protocol, bool is_warm, bool is_settled = false);

}  // namespace gemmsmith
