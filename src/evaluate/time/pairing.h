// A race: contenders timed round by round in random order, so that ratios come from neighbours in time. Knows no GPU:
// how a round is timed and how the GPU fares is asked of the caller.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "evaluate/outcome.h"
#include "gpu/nvml.h"

namespace gemmsmith {

struct RaceRules {
  int min_rounds = 5;
  int max_rounds = 5;
  // Stops early when the 95 % interval of contender 0 against its fastest rival is narrower than this share of the
  // ratio.
  double interval_width = 0;
};

struct RaceEntry {
  std::string name;       // contender 0 is "ours"
  bool is_rival = false;  // the early stop looks at these only
};

// The times in nanoseconds a call, by contender, of one round that visits the contenders in `order`.
using TimeRound = std::function<Result<std::vector<double>>(std::span<const size_t> order)>;
// Clocks, power, slow-downs at this moment; may be empty where nothing tells.
using ReadCondition = std::function<Result<GpuCondition>()>;

struct RaceResult {
  std::vector<Timing> timings;          // by contender
  std::vector<Comparison> comparisons;  // ours against each other contender
  RunConditions conditions;
};

// A round during which the GPU was slowed down or shared is discarded and counted; when as many were discarded as may
// be kept, the machine is Unavailable.
Result<RaceResult> Race(std::span<const RaceEntry> entries, const RaceRules& rules, Clock clock, Random& random,
                        const ReadCondition& read_condition, const TimeRound& time_round);

}  // namespace gemmsmith
