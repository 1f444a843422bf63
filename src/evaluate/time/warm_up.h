// The rounds before those that count.
#pragma once

#include "evaluate/time/pairing.h"

namespace gemmsmith {

struct WarmUp {
  double least_seconds = 0;  // and one round in any case
  // Goes on until two rounds in a row say the same of everybody, but after so many seconds no more.
  double most_seconds_until_steady = 0;
  bool operator==(const WarmUp&) const = default;
};

// Times these entries, in this order and the reverse of it alternately, and keeps nothing.
Status RunWarmUp(const WarmUp& rules, std::vector<size_t> order, const TimeRound& time_round);
// All of so many entries.
Status RunWarmUp(const WarmUp& rules, size_t entries, const TimeRound& time_round);

}  // namespace gemmsmith
