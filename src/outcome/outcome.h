// The outcome of judging one candidate. A failed candidate is an everyday value, never an exception.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "base/status.h"
#include "compile/binary.h"
#include "gpu/clock_limits.h"
#include "outcome/counters.h"

namespace gemmsmith {

// The closed set, in the order of the stages that can end a candidate.
enum class OutcomeKind : uint8_t {
  kIllegal,  // Check() refuses the plan
  kCompileFailed,
  kResourceOver,  // needs more registers, shared memory or local memory than it may have
  kLaunchFailed,  // refused by the driver, or crashed while running
  kTimedOut,
  kWrong,    // a correctness test failed
  kCheated,  // touched inputs or guard bands, or left its workspace dirty
  kMeasured,
  kVerified,  // passed its tests and was not to be timed
};
inline constexpr OutcomeKind kLastOutcomeKind = OutcomeKind::kVerified;
std::string_view Name(OutcomeKind kind);  // "illegal", "compile_failed", ... "measured", "verified"
std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name);

// Which clock a time was taken with; docs/measuring.md defines them.
enum class Clock : uint8_t {
  kDevice,
  kOffline,
  kDeviceChained,
  kServer,
  kHost,
  kDeviceCold,         // the ring: each call of the graph has operands of its own, none in L2
  kEnergy,             // as kDevice, in windows of a second and more, with the GPU's energy counter
  kDeviceColdChained,  // the ring, calls overlapping
};
inline constexpr Clock kLastClock = Clock::kDeviceColdChained;
// The clock without overlapping calls that a clock of chains is raced together with; every other clock itself.
// Chained times are compared with the baselines' times on it.
constexpr Clock PlainOf(Clock clock) {
  if (clock == Clock::kDeviceChained) return Clock::kDevice;
  return clock == Clock::kDeviceColdChained ? Clock::kDeviceCold : clock;
}
constexpr bool IsChained(Clock clock) { return PlainOf(clock) != clock; }
// The chains of kDevice or kDeviceCold.
constexpr Clock ChainedOf(Clock plain) {
  return plain == Clock::kDeviceCold ? Clock::kDeviceColdChained : Clock::kDeviceChained;
}
// Clocks of single calls, launches included.
inline constexpr Clock kCallClocks[] = {Clock::kOffline, Clock::kServer, Clock::kHost};
// "device", "offline", "device_chained", "server", "host", "device_cold", "energy", "device_cold_chained"
std::string_view Name(Clock clock);
std::optional<Clock> ParseClock(std::string_view name);

// The clocks to time on. kDevice and kDeviceCold bring their chains with them for every plan that can be chained.
class ClockSet {
 public:
  constexpr ClockSet() = default;
  constexpr ClockSet(std::initializer_list<Clock> clocks) {
    for (const Clock clock : clocks) Add(clock);
  }
  constexpr void Add(Clock clock) { bits_ |= Bit(clock); }
  constexpr bool Has(Clock clock) const { return (bits_ & Bit(clock)) != 0; }
  constexpr uint32_t bits() const { return bits_; }
  // Returns nullopt for bits that stand for no clock.
  static constexpr std::optional<ClockSet> FromBits(uint32_t bits) {
    if (bits >= 2 * Bit(kLastClock)) return std::nullopt;
    ClockSet set;
    set.bits_ = bits;
    return set;
  }
  constexpr bool operator==(const ClockSet&) const = default;

 private:
  static constexpr uint32_t Bit(Clock clock) { return uint32_t{1} << int(clock); }
  uint32_t bits_ = 0;
};

// kHeat: one race of the better part of a screen, in which the slower half drops out again and again. kLong: as in the
// paper: 10 s of warm-up, then at least 30 s a clock with interleaved entries.
enum class Protocol : uint8_t { kScreen, kShort, kHeat, kLong };
inline constexpr Protocol kLastProtocol = Protocol::kLong;
std::string_view Name(Protocol protocol);  // "screen", "short", "heat", "long"
// Whether every test runs and every baseline races.
inline bool IsThorough(Protocol protocol) { return protocol == Protocol::kShort || protocol == Protocol::kLong; }
std::optional<Protocol> ParseProtocol(std::string_view name);

// The GPU's consumption while a contender ran alone, on kEnergy. Medians of windows.
struct Energy {
  double joules = 0;  // a call
  Interval interval;  // 95 %, of that median
  double watts = 0;
  double sm_clock_mhz = 0;
  bool operator==(const Energy&) const = default;
};

// One contender on one clock.
struct Timing {
  std::string contender;  // "ours", "lt_auto_nn", "lt_auto_tn", "lt_heuristic_nn", ..., "cublas_tn"
  Clock clock = Clock::kDevice;
  double median_ns = 0;
  double mean_ns = 0;
  Interval interval;  // 95 %, of the median
  int sample_count = 0;
  std::vector<float> samples_ns;  // in measuring order; thinned evenly where there are very many, after the statistics
  std::optional<Energy> energy;   // on kEnergy
  bool operator==(const Timing&) const = default;
};

// A contender against a baseline of the same run: t_baseline / t_contender of paired samples. Above 1 the contender is
// faster. On kEnergy, the ratio of joules a call.
struct Comparison {
  std::string baseline;
  Clock clock = Clock::kDevice;  // the contender's; the baseline's is PlainOf() it
  RatioEstimate ratio;
  std::string contender = "ours";
  bool operator==(const Comparison&) const = default;
};

// One correctness test, over all its calls.
struct TestRecord {
  std::string test;
  bool passed = false;
  double max_abs_error = 0;  // of any element; infinite where one was no number
  double bound = 0;          // the largest error that passes; 0: every element equals its reference
  double seconds = 0;
  bool operator==(const TestRecord&) const = default;
};

// The verdict of the correctness tests, filled in as far as they ran.
struct Verdict {
  bool passed = false;
  std::string test;                   // the test that failed: "binary", "relative", ...
  std::string explanation;            // where, got, expected, how many
  double max_abs_error = 0;           // against the reference, on normal inputs
  double baseline_max_abs_error = 0;  // the largest error of a baseline on them
  double relative_error = 0;          // Frobenius, against fp64
  std::vector<TestRecord> tests;      // in the order they ran, where nothing was timed; not in segments or JSON lines

  // The published work's bound: no further off than the worst baseline. Ours allows a tenth more.
  bool IsWithinBaselines() const { return max_abs_error <= baseline_max_abs_error; }
  bool operator==(const Verdict&) const = default;
};

struct RunConditions {
  int sm_clock_mhz = 0;  // median while timing
  double power_watts = 0;
  int discarded_batches = 0;
  ClockLimits limits;            // all that were seen; older records know of the power cap alone
  bool in_steady_state = false;  // the device times are those of steady-state windows (docs/measuring.md)

  // Adds the conditions of a further race. Clock and power stay those of the first race that knew them.
  void Add(const RunConditions& race);
  bool operator==(const RunConditions&) const = default;
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kIllegal;
  std::string stage;   // "check", "compile", "screening", "resources", "launch", "correctness", "honesty", "timing"
  std::string reason;  // one line a policy can learn from; empty when measured or verified
  CodeFacts facts;     // from compilation on
  Verdict verdict;     // from correctness on
  Protocol protocol = Protocol::kScreen;
  std::vector<Timing> timings;  // ours first, then baselines
  std::vector<Comparison> comparisons;
  RunConditions conditions;
  // The algorithm of each baseline of this run, or why it is missing: ("lt_auto_tn", "id66/t20/... , best of 8
  // candidates").
  std::vector<std::pair<std::string, std::string>> baseline_algorithms;
  double compile_seconds = 0;
  double evaluate_seconds = 0;
  std::optional<Counters> counters;  // of a candidate that passed, where they were asked for
  std::string recipe;                // of a free-form source that was launched: program/recipe.h; else empty

  const Timing* Find(std::string_view contender, Clock clock) const;
  // Removes every time and every comparison of this contender.
  void Withdraw(std::string_view contender);
  // The clock that decides: kDeviceCold where anything was timed on it, else kDevice, as in older records. Times of two
  // outcomes compare only where both have the same one.
  Clock LeadingClock() const;
  // Ours on the leading clock, and in its chains; null where there is none.
  const Timing* Ours() const { return Find("ours", LeadingClock()); }
  const Timing* OursChained() const { return Find("ours", ChainedOf(LeadingClock())); }
  // Measured, and ours has a time on the leading clock.
  bool IsTimed() const { return kind == OutcomeKind::kMeasured && Ours() != nullptr; }
  // The median of Ours(); CHECKs that the outcome is kMeasured.
  double TimeNs() const;
  // Our time over that of the baselines with this prefix in the same rounds: the geometric mean over all that were
  // compared on the clock. Returns nullopt where none was.
  std::optional<double> TimeOver(std::string_view prefix, Clock clock) const;
  // The joules of one of our calls on the energy clock; infinite where they were not measured.
  double Joules() const;
  // The fastest baseline with this prefix ("lt_auto", "" for any) on a clock; null where there is none.
  const Timing* FastestBaseline(std::string_view prefix, Clock clock) const;
  bool operator==(const Outcome&) const = default;
};

// For records older than RunConditions::in_steady_state. A steady-state race in `short` had 8 rounds, fewer than any
// other; in `long`, races of long calls reached steady state.
bool LooksInSteadyState(const Outcome& outcome);

// Exact binary form, for the worker's pipe and the archive. Decode refuses bytes that are truncated, too long, out of
// range or of an unknown version. Bytes of the present version that it takes, Encode gives back unchanged.
std::string EncodeOutcome(const Outcome& outcome);
Result<Outcome> DecodeOutcome(std::string_view bytes);

}  // namespace gemmsmith
