// The columns of a segment: one byte string for each field over all trials.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "evaluate/outcome.h"

namespace gemmsmith {

// In the order of the file. A field is never taken out or moved; a new one goes to the end. A file that ends before it
// leaves the field as a new Trial has it.
enum class Column : uint8_t {
  kProblem,
  kSubject,
  kCampaign,
  kSeed,
  kUnixMs,
  kDeviceKey,
  kDeviceName,
  kGpuUuid,
  kDriver,
  kToolchain,
  kLibraries,
  kHarness,
  kKind,
  kStage,
  kReason,
  kProtocol,
  kRegisters,
  kLocalBytes,
  kStaticSmemBytes,
  kCodeBytes,
  kInstructions,
  kLocalMemoryInstructions,
  kMmaF32,
  kMmaF16,
  kWgmmaF32,
  kWgmmaF16,
  kPassed,
  kTest,
  kExplanation,
  kMaxAbsError,
  kBaselineMaxAbsError,
  kRelativeError,
  kTimingCount,
  kContender,
  kTimingClock,
  kMedianNs,
  kMeanNs,
  kIntervalLow,
  kIntervalHigh,
  kSampleCount,
  kKeptSampleCount,
  kSampleNs,
  kComparisonCount,
  kBaseline,
  kComparisonClock,
  kRatioMedian,
  kRatioMean,
  kRatioLow,
  kRatioHigh,
  kPairs,
  kSmClockMhz,
  kPowerWatts,
  kDiscardedBatches,
  kPowerCapped,
  kBaselineAlgorithmCount,
  kAlgorithmBaseline,
  kBaselineAlgorithm,
  kCompileSeconds,
  kEvaluateSeconds,
  kComparisonContender,
  kCountersGiven,
  kCounterObserver,
  kCounterLacks,
  kCountersPresent,
  kCounterValue,
  kNewerClockLimits,
  kSettled,
  kEnergyGiven,
  kJoules,
  kJoulesLow,
  kJoulesHigh,
  kEnergyWatts,
  kEnergyClockMhz,
  kSignificantBits,
};
inline constexpr size_t kColumnCount = size_t(Column::kSignificantBits) + 1;
// Every file has these.
inline constexpr size_t kFirstColumnCount = size_t(Column::kEvaluateSeconds) + 1;

using ColumnBytes = std::array<std::string, kColumnCount>;

// What a segment may expand to, so that no bytes make a reader ask for unbounded memory.
inline constexpr size_t kMaxSegmentTrials = 16384;
inline constexpr size_t kMaxColumnBytes = 32u << 20;
inline constexpr size_t kMaxSegmentRawBytes = 128u << 20;  // of all columns
inline constexpr size_t kMaxSegmentTextBytes = 64u << 20;  // over all trials, repeated texts counted each time
inline constexpr size_t kMaxSegmentItems = 1u << 20;       // timings, comparisons, algorithms

// How precise the real numbers of a trial are in a segment, in significant bits: 17, or where it is rounded 12 (an
// error of at most 1 in 4,096) if it was timed as carefully as in a screening or a heat, 14 (1 in 16,384) if in a race
// that is published.
inline constexpr int kSignificantBits = 17;
int RoundedBits(Protocol protocol);
// Whether the means and intervals of such a trial's times and ratios are recorded: not those of rounded screenings and
// heats, of which searches ask the median, and whose few rounds seldom make an interval that means anything.
bool RecordsSpread(int significant_bits);
// What a segment makes of a real number: so many significant bits, as an f32.
double RecordedReal(double value, int significant_bits);

// A real of a column is four bytes, each in a plane of its own: the high ones are nearly all alike.
inline constexpr size_t kRealBytes = 4;

// The median of each contender on each clock in the last trial that had it: what the next one lies near.
class LastMedians {
 public:
  double& Of(const std::string& contender, Clock clock) { return medians_[{contender, clock}]; }

 private:
  std::map<std::pair<std::string, Clock>, double> medians_;
};

// The methods of encoder and decoder have the same names and take the field itself: TrialFields (trial_fields.h) names
// each field once for both.
class ColumnEncoder {
 public:
  explicit ColumnEncoder(bool rounds) : rounds_(rounds) {}

  // The difference to the value before, as a zig-zag varint.
  template <class Int>
  void Integer(Column column, Int& value) {
    PutInteger(column, int64_t(value));
  }
  void Flag(Column column, bool& value) { PutInteger(column, value); }
  // As many bits as `count` says.
  void Bits(Column column, uint64_t& bits, size_t /*count*/) { PutInteger(column, int64_t(bits)); }
  // Whether it is there, and if so its fields.
  template <class Item>
  void Optional(Column given, std::optional<Item>& item, auto&& fields) {
    PutInteger(given, item.has_value());
    if (item) fields(*item);
  }
  template <class Enum>
  void Choice(Column column, Enum& value, Enum /*last*/) {
    PutInteger(column, int64_t(value));
  }
  // The index in the column's dictionary; a new text follows its index.
  void Text(Column column, const std::string& text);
  // Rounds the value to RecordedReal() and writes the distance of its bits from those of `near`, which the reader knows
  // too.
  void RealNear(Column column, double& value, double near);
  void Real(Column column, double& value) { RealNear(column, value, previous_real_[size_t(column)]); }
  void SampleNear(Column column, float& value, double near);
  // Of the reals from here on.
  void Precision(Column column, Protocol protocol) {
    significant_bits_ = rounds_ ? RoundedBits(protocol) : kSignificantBits;
    PutInteger(column, significant_bits_);
  }
  bool RecordsSpread() const { return gemmsmith::RecordsSpread(significant_bits_); }
  LastMedians& last_medians() { return last_medians_; }
  // The number of items in one column; each item has at least a byte in another.
  template <class Item>
  void List(Column count, Column /*items*/, std::vector<Item>& items, auto&& fields) {
    PutInteger(count, int64_t(items.size()));
    if constexpr (!std::is_same_v<Item, float>) items_ += items.size();
    for (Item& item : items) fields(item);
  }

  bool WithinLimits() const;
  ColumnBytes Columns() const;

 private:
  void PutInteger(Column column, int64_t value);

  const bool rounds_;
  ColumnBytes columns_;  // but those of reals
  std::array<std::array<std::string, kRealBytes>, kColumnCount> reals_;
  LastMedians last_medians_;
  int significant_bits_ = kSignificantBits;
  std::array<int64_t, kColumnCount> previous_integer_{};
  std::array<double, kColumnCount> previous_real_{};
  std::array<std::map<std::string, uint64_t, std::less<>>, kColumnCount> dictionaries_;
  size_t text_bytes_ = 0, items_ = 0;
};

// After the first value that is not there or out of range, failed() is true and every value is zero or empty. Fields of
// columns that the file does not have are left as they are.
class ColumnDecoder {
 public:
  // The first so many of the columns, which outlive it.
  ColumnDecoder(const ColumnBytes& columns, size_t column_count);

  template <class Int>
  void Integer(Column column, Int& value) {
    constexpr bool kNarrow = sizeof(Int) < sizeof(int64_t);
    if (IsMissing(column)) return;
    value = Int(GetInteger(column, kNarrow ? int64_t(std::numeric_limits<Int>::min()) : INT64_MIN,
                           kNarrow ? int64_t(std::numeric_limits<Int>::max()) : INT64_MAX));
  }
  void Bits(Column column, uint64_t& bits, size_t count) {
    if (!IsMissing(column)) bits = uint64_t(GetInteger(column, 0, (int64_t{1} << count) - 1));
  }
  template <class Item>
  void Optional(Column given, std::optional<Item>& item, auto&& fields) {
    bool is_given = false;
    Flag(given, is_given);
    if (is_given) fields(item.emplace());
  }
  void Flag(Column column, bool& value) {
    if (!IsMissing(column)) value = GetInteger(column, 0, 1) == 1;
  }
  template <class Enum>
  void Choice(Column column, Enum& value, Enum last) {
    if (!IsMissing(column)) value = Enum(GetInteger(column, 0, int64_t(last)));
  }
  void Text(Column column, std::string& text);
  void RealNear(Column column, double& value, double near);
  void Real(Column column, double& value) { RealNear(column, value, previous_real_[size_t(column)]); }
  void SampleNear(Column column, float& value, double near);
  void Precision(Column column, Protocol /*protocol*/) {
    if (!IsMissing(column)) significant_bits_ = int(GetInteger(column, kLeastBits, kMostBits));
  }
  bool RecordsSpread() const { return gemmsmith::RecordsSpread(significant_bits_); }
  LastMedians& last_medians() { return last_medians_; }
  template <class Item>
  void List(Column count, Column item_column, std::vector<Item>& items, auto&& fields) {
    if (IsMissing(count)) return;
    const size_t size = size_t(GetInteger(count, 0, int64_t(rest_[size_t(item_column)].size())));
    if constexpr (!std::is_same_v<Item, float>) CountItems(size);
    items.resize(failed() ? 0 : size);
    for (Item& item : items) fields(item);
  }
  void Fail(Status status);

  bool failed() const { return !status_.ok(); }
  // OK when every column was read to its end.
  Status Finish() const;

 private:
  // Of the 24 of an f32 some are dropped.
  static constexpr int kLeastBits = 8, kMostBits = 23;

  bool IsMissing(Column column) const { return size_t(column) >= column_count_; }
  uint64_t Varint(Column column);
  int64_t GetInteger(Column column, int64_t low, int64_t high);
  void CountItems(size_t count);

  const size_t column_count_;
  std::array<std::string_view, kColumnCount> rest_;  // of a column of reals all
  std::array<size_t, kColumnCount> next_real_{};
  LastMedians last_medians_;
  int significant_bits_ = kSignificantBits;
  std::array<int64_t, kColumnCount> previous_integer_{};
  std::array<double, kColumnCount> previous_real_{};
  std::array<std::vector<std::string_view>, kColumnCount> dictionaries_;
  size_t text_bytes_ = 0, items_ = 0;
  Status status_;
};

}  // namespace gemmsmith
