#include "evaluate/time/pairing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/seconds.h"

namespace gemmsmith {

namespace {

// How far races of the same entries differ, as a share of a ratio, though nothing in one race shows it. The cause may
// be the clock that the power cap allows, or where graphs lie. Up to 0.1 ms a call, the standard deviation of 100
// races' medians was 0.0002 to 0.0005 for spin kernels (eight runs on H200s, November 2026). For products of 3 to 30 us
// it was 0.0006 to 0.0113. The constant is two and a half times the largest. With twice it only 87 of 100 intervals
// held the middle one: more races lie far out than in a normal distribution. Longer calls: cublas_nn over cublas_tn,
// one and the same kernels on different days and GPUs. There it was 0.0064 (94 pairs of races, up to 0.3 ms) and 0.0043
// (45, above); the constant is twice a value between. (Windows of energy are of long calls: their nanojoules are far
// above as many nanoseconds.)
constexpr double kBetweenRaces = 0.028, kBetweenRacesFromTenthMsOn = 0.011, kTenthMsInNs = 100e3;

// NVML's readings around the rounds.
class ConditionLog {
 public:
  explicit ConditionLog(const ReadCondition& read) : read_(read) {}

  // Whether the GPU was ours and unhindered at this moment.
  Result<bool> Undisturbed() {
    if (!read_) return true;
    ASSIGN_OR_RETURN(const GpuCondition now, read_());
    const bool is_undisturbed = !now.limits.HasAnyOf(kSlowDowns) && now.other_processes == 0;
    if (!is_undisturbed)
      disturbance_ = now.limits.HasAnyOf(kSlowDowns)
                         ? "the GPU is slowed down (thermal or hardware)"
                         : fmt::format("{} other processes compute on the GPU", now.other_processes);
    clocks_.push_back(now.sm_clock_mhz);
    watts_.push_back(now.power_watts);
    limits_.Add(now.limits);
    return is_undisturbed;
  }
  const std::string& disturbance() const { return disturbance_; }

  RunConditions Summary(int discarded) const {
    RunConditions conditions;
    conditions.discarded_batches = discarded;
    if (clocks_.empty()) return conditions;
    conditions.sm_clock_mhz = int(Median(clocks_));
    conditions.power_watts = Median(watts_);
    conditions.limits = limits_;
    return conditions;
  }

 private:
  const ReadCondition& read_;
  std::vector<double> clocks_, watts_;
  ClockLimits limits_;
  std::string disturbance_;
};

// State of a race: the entries that still race, and the samples of all.
class SampledField {
 public:
  explicit SampledField(std::span<const RaceEntry> entries) : entries_(entries), samples_(entries.size()) {
    racing_.resize(entries.size());
    std::iota(racing_.begin(), racing_.end(), size_t{0});
    for (const RaceEntry& entry : entries) candidates_ = std::max(candidates_, entry.candidate + 1);
    racing_candidates_ = candidates_;
  }

  int kept() const { return kept_; }
  int pending() const { return pending_; }
  int racing_candidates() const { return racing_candidates_; }

  Status AddRound(Random& random, const TimeRound& time_round) {
    DrawOrder(random);
    ASSIGN_OR_RETURN(const std::vector<double> times, time_round(order_));
    GEMMSMITH_CHECK(times.size() == entries_.size(), "{} times for {} entries", times.size(), entries_.size());
    for (size_t i : order_) samples_[i].push_back(times[i]);
    ++pending_;
    ++visited_;
    return OkStatus();
  }
  void Keep() {
    kept_ += pending_;
    for (; pending_ > 0; --pending_) kept_rounds_.push_back(visited_ - pending_);
  }
  int DiscardPending() {
    for (size_t i : racing_) samples_[i].resize(std::min(samples_[i].size(), size_t(kept_)));
    is_mirror_due_ = false;
    return std::exchange(pending_, 0);
  }

  bool NarrowEnough(double width) const {
    if (width <= 0) return false;
    const std::optional<size_t> fastest = FastestDecisive();
    if (!fastest) return false;
    return std::all_of(racing_.begin(), racing_.end(), [&](size_t i) {
      if (!IsCompared(i) || i == *fastest || entries_[i].is_hopeless) return true;
      if (IsChained(entries_[i].clock)) return true;  // no baseline is chained
      const RatioEstimate ratio = PairedRatio(samples_[*fastest], samples_[i]);
      return ratio.interval.Width() < width * ratio.median;
    });
  }

  // The slower half of our candidates drops out, but never so many that fewer than `survivors` are left.
  void Halve(int survivors) {
    std::vector<std::pair<double, int>> by_time;
    std::vector<bool> seen(size_t(candidates_), false);
    for (size_t i : racing_) {
      const int candidate = entries_[i].candidate;
      if (candidate == kNoCandidate || seen[size_t(candidate)]) continue;
      seen[size_t(candidate)] = true;
      by_time.emplace_back(Median(samples_[i]), candidate);
    }
    std::sort(by_time.begin(), by_time.end());
    const size_t half = (by_time.size() + 1) / 2;
    const size_t stay = std::min(by_time.size(), std::max(half, size_t(survivors)));
    std::vector<bool> stays(size_t(candidates_), false);
    for (size_t i = 0; i < stay; ++i) stays[size_t(by_time[i].second)] = true;
    std::erase_if(racing_, [&](size_t i) {
      return entries_[i].candidate != kNoCandidate && !stays[size_t(entries_[i].candidate)];
    });
    racing_candidates_ = int(stay);
    is_mirror_due_ = false;
  }

  // An entry that dropped out has only the first rounds and is compared over these.
  RaceResult Conclude(RunConditions conditions) const {
    RaceResult result;
    result.conditions = conditions;
    result.kept_rounds = kept_rounds_;
    result.comparisons.resize(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      result.timings.push_back(Summarize(entries_[i], samples_[i]));
    }
    for (size_t i = 0; i < entries_.size(); ++i) result.comparisons[i] = Compare(i);
    return result;
  }

 private:
  // Every second round visits its entries in the reverse of the order before. A place in a round is then worth the same
  // for all; the first one finds a cooler GPU.
  void DrawOrder(Random& random) {
    if (is_mirror_due_) {
      std::reverse(order_.begin(), order_.end());
    } else {
      order_ = racing_;
      random.Shuffle(order_);
    }
    is_mirror_due_ = !is_mirror_due_;
    std::erase_if(order_, [&](size_t i) { return HasItsRound(i); });
  }
  // Ours against every baseline; where none is ours, everybody against the decisive ones.
  bool StandsAgainst(size_t i, size_t baseline) const {
    if (entries_[baseline].candidate != kNoCandidate || baseline == i) return false;
    return candidates_ > 0 ? entries_[i].candidate != kNoCandidate : entries_[baseline].is_decisive;
  }
  std::vector<Comparison> Compare(size_t i) const {
    std::vector<Comparison> comparisons;
    for (size_t baseline = 0; baseline < entries_.size(); ++baseline) {
      if (!StandsAgainst(i, baseline)) continue;
      const auto same_rounds = std::span(samples_[baseline]).first(samples_[i].size());
      comparisons.push_back(
          {entries_[baseline].name, entries_[i].clock, MeasuredRatio(same_rounds, samples_[i]), entries_[i].name});
    }
    return comparisons;
  }
  std::optional<size_t> FastestDecisive() const {
    std::optional<size_t> fastest;
    for (size_t i : racing_)
      if (entries_[i].is_decisive && (!fastest || Median(samples_[i]) < Median(samples_[*fastest]))) fastest = i;
    return fastest;
  }
  // Whether its ratio to the fastest decisive baseline is asked for: ours, or everybody's where none is ours.
  bool IsCompared(size_t i) const { return candidates_ == 0 || entries_[i].candidate != kNoCandidate; }
  // Whether a hopeless entry has had its one round. If the round is discarded, they race again.
  bool HasItsRound(size_t i) const { return entries_[i].is_hopeless && !samples_[i].empty(); }

  static Timing Summarize(const RaceEntry& entry, const std::vector<double>& samples) {
    Timing timing;
    timing.contender = entry.name;
    timing.clock = entry.clock;
    timing.median_ns = Median(samples);
    timing.mean_ns = Mean(samples);
    timing.interval = MedianInterval(samples);
    timing.sample_count = int(samples.size());
    timing.samples_ns = Thin(samples, kMaxKeptSamples);
    return timing;
  }

  const std::span<const RaceEntry> entries_;
  std::vector<std::vector<double>> samples_;  // [entry][round]
  std::vector<size_t> racing_, order_;
  int candidates_ = 0, racing_candidates_ = 0;
  int kept_ = 0, pending_ = 0, visited_ = 0;
  std::vector<int> kept_rounds_;
  bool is_mirror_due_ = false;
};

// When the rounds suffice for the next decision.
class Stages {
 public:
  explicit Stages(const RaceRules& rules) : rules_(rules), stage_rounds_(rules.min_rounds), next_(rules.min_rounds) {}

  // `seconds` of rounds that are kept or may be.
  bool IsDecisionDue(const SampledField& state, double seconds) const {
    const int rounds = state.kept() + state.pending();
    if (rounds >= rules_.max_rounds) return true;
    if (rules_.min_seconds > 0) return rounds >= rules_.min_rounds && seconds >= rules_.min_seconds;
    if (rules_.survivors > 0) return rounds >= next_;
    return rounds >= rules_.min_rounds && state.NarrowEnough(rules_.interval_width);
  }
  // With the rounds kept; true ends the race.
  bool Decide(SampledField& state) {
    if (rules_.survivors <= 0 || state.kept() >= rules_.max_rounds) return true;
    state.Halve(rules_.survivors);
    stage_rounds_ *= 2;
    next_ += stage_rounds_;
    return state.racing_candidates() <= rules_.survivors;
  }

 private:
  const RaceRules& rules_;
  int stage_rounds_, next_;
};

// Four times as much was discarded as may be kept.
bool IsHopelessMachine(const RaceRules& rules, int discarded_rounds, double discarded_seconds) {
  if (rules.min_seconds > 0) return discarded_seconds >= 4 * rules.min_seconds;
  return discarded_rounds >= 4 * rules.max_rounds;
}

}  // namespace

RatioEstimate MeasuredRatio(std::span<const double> reference, std::span<const double> ours) {
  RatioEstimate ratio = PairedRatio(reference, ours);
  const double share = (Median(ours) < kTenthMsInNs ? kBetweenRaces : kBetweenRacesFromTenthMsOn) * ratio.median;
  ratio.interval.low = std::max(ratio.median - std::hypot(ratio.median - ratio.interval.low, share), 0.0);
  ratio.interval.high = ratio.median + std::hypot(ratio.interval.high - ratio.median, share);
  return ratio;
}

std::vector<float> Thin(std::span<const double> samples, size_t most) {
  const size_t kept = std::min(samples.size(), most);
  std::vector<float> thinned(kept);
  for (size_t i = 0; i < kept; ++i) thinned[i] = float(samples[i * samples.size() / kept]);
  return thinned;
}

Result<RaceResult> Race(std::span<const RaceEntry> entries, const RaceRules& rules, Random& random,
                        const ReadCondition& read_condition, const TimeRound& time_round) {
  GEMMSMITH_CHECK(!entries.empty() && rules.min_rounds >= 1 && rules.max_rounds >= rules.min_rounds,
                  "{} entries, {} to {} rounds", entries.size(), rules.min_rounds, rules.max_rounds);
  SampledField state(entries);
  Stages stages(rules);
  ConditionLog log(read_condition);
  ASSIGN_OR_RETURN(bool was_undisturbed, log.Undisturbed());
  int discarded = 0;
  double kept_seconds = 0, discarded_seconds = 0;
  while (true) {
    const auto start = std::chrono::steady_clock::now();
    bool is_due = false;
    do {
      RETURN_IF_ERROR(state.AddRound(random, time_round));
      is_due = stages.IsDecisionDue(state, kept_seconds + SecondsSince(start));
    } while (!is_due && SecondsSince(start) < rules.reading_interval_seconds);
    const double seconds = SecondsSince(start);
    ASSIGN_OR_RETURN(const bool is_undisturbed, log.Undisturbed());
    const bool keep = was_undisturbed && is_undisturbed;
    was_undisturbed = is_undisturbed;
    if (!keep) {
      discarded += state.DiscardPending();
      discarded_seconds += seconds;
      if (!IsHopelessMachine(rules, discarded, discarded_seconds)) continue;
      return Unavailable(fmt::format("{} rounds of timing were discarded: {}", discarded, log.disturbance()));
    }
    state.Keep();
    kept_seconds += seconds;
    if (is_due && stages.Decide(state)) return state.Conclude(log.Summary(discarded));
  }
}

}  // namespace gemmsmith
