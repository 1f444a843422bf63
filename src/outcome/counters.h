// Counters of a candidate's run: a fixed set, each with a unit, a definition and one source. docs/counters.md says what
// good values look like.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gemmsmith {

// In the order of every form in which they are written; one is never taken out, and a new one goes to the end.
enum class Counter : uint8_t {
  kDuration,
  kTensorPipe,
  kTensorPipeHalf,
  kSmBusy,
  kIssueActive,
  kInstructions,
  kAchievedOccupancy,
  kTheoreticalOccupancy,
  kCtasPerMultiprocessor,
  kWaves,
  kRegisters,
  kSmemBytes,
  kDramGbs,
  kDramPercent,
  kL2Percent,
  kL2HitPercent,
  kBankConflictsLoad,
  kBankConflictsStore,
  kBankConflictsWgmma,
  kStallLongScoreboard,
  kStallShortScoreboard,
  kStallBarrier,
  kStallMembar,
  kStallWgmma,
  kStallMathPipe,
  kStallMioThrottle,
  kStallLgThrottle,
  kStallWait,
  kStallBranch,
  kStallNoInstruction,
  kStallSleeping,
  kStallDispatch,
  kStallNotSelected,
};
inline constexpr Counter kLastCounter = Counter::kStallNotSelected;
inline constexpr size_t kCounterCount = size_t(kLastCounter) + 1;

// How the values of several kernels of one call are combined.
enum class Combining : uint8_t {
  kSum,
  kByDuration,      // their mean, each weighted by how long its kernel took
  kByInstructions,  // their mean, each weighted by its kernel's instructions
  kOfLongest,       // that of the kernel that took longest
};

struct CounterDefinition {
  Counter counter;
  Combining combining;
  std::string_view name;        // "tensor_pipe_percent", as in records and --json
  std::string_view unit;        // "%", "GB/s", "" for plain counts
  std::string_view definition;  // one line
  std::string_view metric;      // of CUPTI and Nsight Compute; "" where it follows from kernel, launch and device alone
  double scale = 1;             // what the metric's value is multiplied with
  std::string_view beside;      // another metric: the value is then the share of the first in the sum of both
};
// As many as there are counters, in their order.
std::span<const CounterDefinition> CounterDefinitions();
const CounterDefinition& DefinitionOf(Counter counter);

// A value that is missing is absent, never 0.
class Counters {
 public:
  // "cupti", "ncu", in older records of sources "guest" (CUPTI in the source's own process), or "" without a profiler.
  std::string observer;
  std::string lacks;  // why what is absent is absent, one line; "" where nothing is

  std::optional<double>& operator[](Counter counter) { return values_[size_t(counter)]; }
  const std::optional<double>& operator[](Counter counter) const { return values_[size_t(counter)]; }
  bool operator==(const Counters&) const = default;

  // For what is written: a bit for each counter that is there, the first in the lowest.
  uint64_t PresentBits() const;
  // Makes exactly these present; what was not becomes 0. `bits` is below 2 ^ kCounterCount.
  void MarkPresent(uint64_t bits);

 private:
  std::array<std::optional<double>, kCounterCount> values_;
};

// Combines all kernels of one call. A counter is absent if a kernel lacks it or the weight it needs. The result does
// not say what the kernels lack.
Counters Combine(std::span<const Counters> kernels);

}  // namespace gemmsmith
