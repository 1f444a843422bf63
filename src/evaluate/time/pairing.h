// A race: entries timed round by round in random order, so that ratios come from neighbours in time. Knows no GPU:
// how a round is timed and how the GPU fares is asked of the caller.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "gpu/nvml.h"
#include "outcome/outcome.h"

namespace gemmsmith {

struct RaceRules {
  int min_rounds = 5;
  int max_rounds = 5;
  // If positive, a race stops early when every entry of ours has a narrow interval. The 95 % interval of its ratio to
  // the fastest decisive baseline must be narrower than this share of the ratio. Where no entry is ours, for every
  // entry.
  double interval_width = 0;
  // If positive, the slower half of our candidates drops out after min_rounds, the next half after twice as many more,
  // and so on. The race ends when at most so many are left.
  int survivors = 0;
  // NVML is read before the race, after it, and at about this interval in between.
  double reading_interval_seconds = 0.05;
  double min_seconds = 0;  // of rounds that are kept
};

inline constexpr int kNoCandidate = -1;

// One candidate or baseline on one clock.
struct RaceEntry {
  std::string name;  // "ours", "lt_auto_nn"
  Clock clock = Clock::kDevice;
  // Which of our candidates, or kNoCandidate. A candidate may have several entries; its first one decides in the
  // halving.
  int candidate = kNoCandidate;
  bool is_decisive = false;  // a baseline that the early stop looks at
  bool is_hopeless = false;  // drops out after the first round; only of ours, and nothing waits for it to be known
};

// The times in nanoseconds a call, by entry, of one round that visits the entries in `order`. The values of entries
// that are not in it are ignored.
using TimeRound = std::function<Result<std::vector<double>>(std::span<const size_t> order)>;
// Clocks, power, slow-downs at this moment; may be empty where nothing tells.
using ReadCondition = std::function<Result<GpuCondition>()>;

struct RaceResult {
  std::vector<Timing> timings;  // by entry
  // By entry: of ours against each baseline; none for the baselines. Where no entry is ours, of each against the
  // decisive ones.
  std::vector<std::vector<Comparison>> comparisons;
  RunConditions conditions;
  std::vector<int> kept_rounds;  // counted from 0, those that were discarded too
};

// As PairedRatio(), with an interval that holds the instrument's own share too: what differs between two races and
// shows in the samples of neither.
RatioEstimate MeasuredRatio(std::span<const double> reference, std::span<const double> ours);

// At most so many of these, evenly spread, the first one among them.
std::vector<float> Thin(std::span<const double> samples, size_t most);
// A timing keeps at most so many samples; its statistics cover all of them.
inline constexpr size_t kMaxKeptSamples = 1000;

// Rounds between two readings are discarded and counted if either reading shows a slowed or shared GPU. If four times
// as many are discarded as may be kept, the machine is Unavailable.
Result<RaceResult> Race(std::span<const RaceEntry> entries, const RaceRules& rules, Random& random,
                        const ReadCondition& read_condition, const TimeRound& time_round);

}  // namespace gemmsmith
