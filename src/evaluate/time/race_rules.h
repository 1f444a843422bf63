// The rules of a race by protocol and clock: docs/measuring.md section 4 in numbers.
#pragma once

#include "evaluate/time/device_clock.h"
#include "evaluate/time/pairing.h"
#include "evaluate/time/warm_up.h"
#include "outcome/outcome.h"

namespace gemmsmith {

// The traits of a race that its rules depend on.
struct RaceTraits {
  size_t entries = 2;
  double fastest_call_ns = 0;  // as far as it is known
  bool is_brief = false;       // a race that decides with wider intervals
};
// Over 0.3 ms. Bursts rank such kernels by cycles, steady-state runs by energy.
bool IsLongCall(double call_ns);
// Each visit of a long call on kDevice is a window where races decide. The ring has none.
std::optional<Window> WindowFor(Protocol protocol, Clock clock, double fastest_call_ns);

// How long the batches of a protocol are.
Batch BatchFor(Protocol protocol);
RaceRules RulesFor(Protocol protocol, Clock clock, const RaceTraits& traits = {});
// The warm-up before a race. `short` skips its fixed part on a GPU that is warm from the last race; `long` and heats
// never skip theirs. Windows that decide begin when their times no longer swing.
WarmUp WarmUpFor(Protocol protocol, const RaceTraits& traits, bool is_warm, bool in_steady_state = false);

}  // namespace gemmsmith
