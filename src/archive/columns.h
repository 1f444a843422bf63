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
#include "outcome/outcome_fields.h"

namespace gemmsmith {

// A column for each field. A file that ends before a column leaves the field as a new Trial has it.
inline constexpr size_t kColumnCount = kRecordFieldCount;
// Every file has these.
inline constexpr size_t kFirstColumnCount = size_t(RecordField::kEvaluateSeconds) + 1;

using ColumnBytes = std::array<std::string, kColumnCount>;

// Limits of what a segment may expand to, so that no bytes make a reader ask for unbounded memory.
inline constexpr size_t kMaxSegmentTrials = 16384;
inline constexpr size_t kMaxColumnBytes = 32u << 20;
inline constexpr size_t kMaxSegmentRawBytes = 128u << 20;  // of all columns
inline constexpr size_t kMaxSegmentTextBytes = 64u << 20;  // over all trials, repeated texts counted each time
inline constexpr size_t kMaxSegmentItems = 1u << 20;       // timings, comparisons, algorithms

// The significant bits of real numbers in a segment: 17. In a rounded segment, trials of screens and heats have 12 (an
// error of at most 1 in 4,096), trials of published races 14 (1 in 16,384).
inline constexpr int kSignificantBits = 17;
int RoundedBits(Protocol protocol);
// Whether means and intervals of times and ratios are recorded. Those of rounded screens and heats are not: searches
// use their medians, and few rounds make no interval that means anything.
bool RecordsSpread(int significant_bits);
// A real number as a segment records it: so many significant bits of its f32.
double RecordedReal(double value, int significant_bits);

// A real of a column is four bytes, each in a plane of its own: the high ones are nearly all alike.
inline constexpr size_t kRealBytes = 4;

// The median of each contender on each clock in the last trial that had it. The next one lies near it.
class LastMedians {
 public:
  double& Of(const Timing& timing) { return medians_[{timing.contender, timing.clock}]; }

 private:
  std::map<std::pair<std::string, Clock>, double> medians_;
};

// The common part of encoder and decoder. Both expect a real near the one before it in its column, and a
// median near the last one of its contender.
template <class Coder>
class ColumnCoder : public CoderBase<Coder> {
 public:
  static constexpr bool kPredicts = true;

  void Real(RecordField column, std::string_view name, double& value) {
    coder().RealNear(column, name, value, previous_real_[size_t(column)]);
  }
  void MedianNear(RecordField column, std::string_view name, double& median_ns, const Timing& of) {
    double& last = last_medians_.Of(of);
    coder().RealNear(column, name, median_ns, last);
    last = median_ns;
  }
  bool HasSpread() const { return RecordsSpread(significant_bits_); }

 protected:
  LastMedians last_medians_;
  int significant_bits_ = kSignificantBits;
  std::array<int64_t, kColumnCount> previous_integer_{};
  std::array<double, kColumnCount> previous_real_{};

 private:
  Coder& coder() { return static_cast<Coder&>(*this); }
};

// Writes the fields of one trial after the other.
class ColumnEncoder : public ColumnCoder<ColumnEncoder> {
 public:
  explicit ColumnEncoder(bool rounds) : rounds_(rounds) {}

  // The index in the column's dictionary; a new text follows its index.
  void Text(RecordField column, std::string_view name, const std::string& text);
  template <class Value>
  void Printed(RecordField column, std::string_view name, const Value& value, auto&& /*parse*/) {
    Text(column, name, Print(value));
  }
  void Integer(RecordField column, std::string_view, auto value) { PutInteger(column, int64_t(value)); }
  void Flag(RecordField column, std::string_view, bool value) { PutInteger(column, value); }
  template <class Enum>
  void Choice(RecordField column, std::string_view, Enum value, Enum /*last*/) {
    PutInteger(column, int64_t(value));
  }
  void Limits(RecordField column, std::string_view, const ClockLimits& limits) {
    PutInteger(column, int64_t(limits.NewerBits()));
  }
  void Presence(RecordField column, uint64_t bits, std::span<const CounterDefinition>) {
    PutInteger(column, int64_t(bits));
  }
  // Rounds the value to RecordedReal() and writes the distance of its bits from those of `near`.
  void RealNear(RecordField column, std::string_view, double& value, double near);
  void Samples(RecordField count, std::string_view, std::vector<float>& samples, double near) {
    PutInteger(count, int64_t(samples.size()));
    for (float& sample : samples) SampleNear(Next(count), sample, near);
  }
  void Precision(RecordField column, Protocol protocol) {
    significant_bits_ = rounds_ ? RoundedBits(protocol) : kSignificantBits;
    PutInteger(column, significant_bits_);
  }
  template <class Item>
  void Optional(RecordField column, std::string_view, std::optional<Item>& item, auto&& fields) {
    PutInteger(column, item.has_value());
    if (item) fields(*this, *item);
  }
  template <class Item>
  void List(RecordField count, std::string_view, std::vector<Item>& items, auto&& fields) {
    PutInteger(count, int64_t(items.size()));
    items_ += items.size();
    for (Item& item : items) fields(*this, item);
  }

  bool WithinLimits() const;
  ColumnBytes Columns() const;

 private:
  // The difference to the value before, as a zig-zag varint.
  void PutInteger(RecordField column, int64_t value);
  void SampleNear(RecordField column, float& value, double near);

  const bool rounds_;
  ColumnBytes columns_;  // without those of reals
  std::array<std::array<std::string, kRealBytes>, kColumnCount> reals_;
  std::array<std::map<std::string, uint64_t, std::less<>>, kColumnCount> dictionaries_;
  size_t text_bytes_ = 0, items_ = 0;
};

// After the first value that is missing or out of range, failed() is true and every value is zero or empty. Fields of
// columns that the file does not have are left as they are.
class ColumnDecoder : public ColumnCoder<ColumnDecoder> {
 public:
  // The first `column_count` of the columns, which outlive it.
  ColumnDecoder(const ColumnBytes& columns, size_t column_count);

  void Text(RecordField column, std::string_view name, std::string& text);
  template <class Value>
  void Printed(RecordField column, std::string_view name, Value& value, auto&& parse) {
    std::string text;
    Text(column, name, text);
    if (failed()) return;
    auto parsed = parse(text);
    if (!parsed.ok()) return Fail(DataLoss(fmt::format("a trial's {}: {}", name, parsed.status().message())));
    value = *std::move(parsed);
  }
  template <class Int>
  void Integer(RecordField column, std::string_view, Int& value) {
    constexpr bool kIsNarrow = sizeof(Int) < sizeof(int64_t);
    if (IsMissing(column)) return;
    value = Int(GetInteger(column, kIsNarrow ? int64_t(std::numeric_limits<Int>::min()) : INT64_MIN,
                           kIsNarrow ? int64_t(std::numeric_limits<Int>::max()) : INT64_MAX));
  }
  void Flag(RecordField column, std::string_view, bool& value) {
    if (!IsMissing(column)) value = GetInteger(column, 0, 1) == 1;
  }
  template <class Enum>
  void Choice(RecordField column, std::string_view, Enum& value, Enum last) {
    if (!IsMissing(column)) value = Enum(GetInteger(column, 0, int64_t(last)));
  }
  void Limits(RecordField column, std::string_view, ClockLimits& limits) {
    limits.AddNewerBits(Bits(column, ClockLimits::kNewerCount));
  }
  void Presence(RecordField column, uint64_t& bits, std::span<const CounterDefinition> all) {
    bits = Bits(column, all.size());
  }
  void RealNear(RecordField column, std::string_view, double& value, double near);
  void Samples(RecordField count, std::string_view, std::vector<float>& samples, double near) {
    samples.resize(Count(count));
    for (float& sample : samples) SampleNear(Next(count), sample, near);
  }
  void Precision(RecordField column, Protocol /*protocol*/) {
    if (!IsMissing(column)) significant_bits_ = int(GetInteger(column, kMinBits, kMaxBits));
  }
  template <class Item>
  void Optional(RecordField column, std::string_view name, std::optional<Item>& item, auto&& fields) {
    bool is_given = false;
    Flag(column, name, is_given);
    if (is_given) fields(*this, item.emplace());
  }
  template <class Item>
  void List(RecordField count, std::string_view, std::vector<Item>& items, auto&& fields) {
    const size_t size = Count(count);
    CountItems(size);
    items.resize(failed() ? 0 : size);
    for (Item& item : items) fields(*this, item);
  }

  bool failed() const { return !status_.ok(); }
  // OK when every column was read to its end.
  Status Finish() const;

 private:
  // The 24 of an f32 less what is dropped.
  static constexpr int kMinBits = 8, kMaxBits = 23;

  void Fail(Status status);
  bool IsMissing(RecordField column) const { return size_t(column) >= column_count_; }
  uint64_t Varint(RecordField column);
  int64_t GetInteger(RecordField column, int64_t low, int64_t high);
  uint64_t Bits(RecordField column, size_t count) {
    return IsMissing(column) ? 0 : uint64_t(GetInteger(column, 0, (int64_t{1} << count) - 1));
  }
  // The length of a list. Each item has at least a byte in the next column; 0 after a failure.
  size_t Count(RecordField column) {
    if (IsMissing(column)) return 0;
    const size_t count = size_t(GetInteger(column, 0, int64_t(rest_[size_t(Next(column))].size())));
    return failed() ? 0 : count;
  }
  void CountItems(size_t count);
  void SampleNear(RecordField column, float& value, double near);

  const size_t column_count_;
  std::array<std::string_view, kColumnCount> rest_;  // the bytes not read yet; of reals, all
  std::array<size_t, kColumnCount> next_real_{};
  std::array<std::vector<std::string_view>, kColumnCount> dictionaries_;
  size_t text_bytes_ = 0, items_ = 0;
  Status status_;
};

}  // namespace gemmsmith
