// What the protocols ask of a race; docs/measuring.md section 4 in numbers.
#pragma once

#include "evaluate/outcome.h"
#include "evaluate/time/device_clock.h"
#include "evaluate/time/pairing.h"
#include "evaluate/time/warm_up.h"

namespace gemmsmith {

// Who races.
struct Field {
  size_t entries = 2;
  double fastest_call_ns = 0;  // as far as it is known
  bool is_brief = false;       // a short race that decides with wider intervals
};
// Over 0.3 ms. Bursts rank such kernels by cycles, settled runs by energy.
bool IsLongCall(double call_ns);
// Each visit of a long call is a window in heats and in the races that decide, a short one in brief finals.
std::optional<Window> WindowFor(Protocol protocol, Clock clock, double fastest_call_ns, bool is_brief = false);

// How long the batches of a protocol are.
Batch BatchFor(Protocol protocol);
RaceRules RulesFor(Protocol protocol, Clock clock, const Field& field = {});
// Before a race on a GPU that is not warm from the one before; what a long run and a heat want, they want in any case,
// and windows that decide begin when they swing no more.
WarmUp WarmUpFor(Protocol protocol, const Field& field, bool is_warm, bool is_settled = false);

}  // namespace gemmsmith
