// The rounds before those that count.
#pragma once

#include "evaluate/time/pairing.h"

namespace gemmsmith {

struct WarmUp {
  double seconds = 0;  // at least, and one round in any case
  // Goes on until two rounds in a row say the same of everybody, but no longer; where it is no more than `seconds`
  // nobody looks.
  double most_seconds = 0;
};

// Times all contenders, in one order and the reverse of it by turns, and keeps nothing.
Status RunWarmUp(const WarmUp& rules, size_t contenders, const TimeRound& time_round);

}  // namespace gemmsmith
