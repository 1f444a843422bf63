#include "evaluate/time/pairing.h"

#include <numeric>
#include <optional>

namespace gemmsmith {

namespace {

// What NVML said around the rounds.
class ConditionLog {
 public:
  explicit ConditionLog(const ReadCondition& read) : read_(read) {}

  // Whether the GPU was ours and unhindered at this moment.
  Result<bool> Undisturbed() {
    if (!read_) return true;
    ASSIGN_OR_RETURN(const GpuCondition now, read_());
    disturbance_ = now.slowed_down ? "the GPU is slowed down (thermal or hardware)"
                                   : fmt::format("{} other processes compute on the GPU", now.other_processes);
    clocks_.push_back(now.sm_clock_mhz);
    watts_.push_back(now.power_watts);
    power_capped_ = power_capped_ || now.power_capped;
    return !now.slowed_down && now.other_processes == 0;
  }
  const std::string& disturbance() const { return disturbance_; }

  RunConditions Summary(int discarded) const {
    RunConditions conditions;
    conditions.discarded_batches = discarded;
    if (clocks_.empty()) return conditions;
    conditions.sm_clock_mhz = int(Median(clocks_));
    conditions.power_watts = Median(watts_);
    conditions.power_capped = power_capped_;
    return conditions;
  }

 private:
  const ReadCondition& read_;
  std::vector<double> clocks_, watts_;
  bool power_capped_ = false;
  std::string disturbance_;
};

using Samples = std::vector<std::vector<double>>;  // [contender][round]

bool NarrowEnough(std::span<const RaceEntry> entries, const RaceRules& rules, const Samples& samples) {
  if (rules.interval_width <= 0) return false;
  std::optional<size_t> fastest;
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].is_rival && (!fastest || Median(samples[i]) < Median(samples[*fastest]))) fastest = i;
  if (!fastest) return false;
  const RatioEstimate ratio = PairedRatio(samples[*fastest], samples[0]);
  return ratio.interval.Width() < rules.interval_width * ratio.median;
}

Timing Summarize(const RaceEntry& entry, Clock clock, const std::vector<double>& samples) {
  Timing timing;
  timing.contender = entry.name;
  timing.clock = clock;
  timing.median_ns = Median(samples);
  timing.mean_ns = Mean(samples);
  timing.interval = MedianInterval(samples);
  timing.sample_count = int(samples.size());
  timing.samples_ns.assign(samples.begin(), samples.end());
  return timing;
}

RaceResult Conclude(std::span<const RaceEntry> entries, Clock clock, const Samples& samples, RunConditions conditions) {
  RaceResult result;
  result.conditions = conditions;
  for (size_t i = 0; i < entries.size(); ++i) {
    result.timings.push_back(Summarize(entries[i], clock, samples[i]));
    if (i > 0) result.comparisons.push_back({entries[i].name, clock, PairedRatio(samples[i], samples[0])});
  }
  return result;
}

}  // namespace

Result<RaceResult> Race(std::span<const RaceEntry> entries, const RaceRules& rules, Clock clock, Random& random,
                        const ReadCondition& read_condition, const TimeRound& time_round) {
  GEMMSMITH_CHECK(!entries.empty() && rules.min_rounds >= 1 && rules.max_rounds >= rules.min_rounds,
                  "{} contenders, {} to {} rounds", entries.size(), rules.min_rounds, rules.max_rounds);
  Samples samples(entries.size());
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  ConditionLog log(read_condition);
  ASSIGN_OR_RETURN(bool was_undisturbed, log.Undisturbed());
  int kept = 0, discarded = 0;
  while (kept < rules.max_rounds) {
    random.Shuffle(order);
    ASSIGN_OR_RETURN(const std::vector<double> times, time_round(order));
    GEMMSMITH_CHECK(times.size() == entries.size(), "{} times for {} contenders", times.size(), entries.size());
    ASSIGN_OR_RETURN(const bool is_undisturbed, log.Undisturbed());
    const bool keep = was_undisturbed && is_undisturbed;
    was_undisturbed = is_undisturbed;
    if (!keep) {
      if (++discarded >= rules.max_rounds)
        return Unavailable(fmt::format("{} rounds of timing were discarded: {}", discarded, log.disturbance()));
      continue;
    }
    for (size_t i = 0; i < times.size(); ++i) samples[i].push_back(times[i]);
    if (++kept >= rules.min_rounds && NarrowEnough(entries, rules, samples)) break;
  }
  return Conclude(entries, clock, samples, log.Summary(discarded));
}

}  // namespace gemmsmith
