#include "archive/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace gemmsmith {
namespace {

constexpr int kRoundedBits = 12, kRoundedBitsOfRaces = 14;

uint64_t ZigZag(int64_t value) { return (uint64_t(value) << 1) ^ uint64_t(value >> 63); }
int64_t UnZigZag(uint64_t value) { return int64_t(value >> 1) ^ -int64_t(value & 1); }

void AppendVarint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(char(value | 0x80));
  bytes.push_back(char(value));
}

constexpr int kF32SignificantBits = 24;

// A real in a record: the upper bits of its f32, rounded to nearest.
uint32_t RealCode(float value, int significant_bits) {
  const int dropped = kF32SignificantBits - significant_bits;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t half = std::isfinite(value) ? uint32_t(1) << (dropped - 1) : 0;
  return (bits + half) >> dropped;
}

float FromRealCode(uint32_t code, int significant_bits) {
  return std::bit_cast<float>(code << (kF32SignificantBits - significant_bits));
}

// A value that is not finite predicts nothing: the bits of a computed NaN differ between machines.
uint32_t ExpectedCode(double near, int significant_bits) {
  return RealCode(std::isfinite(near) ? float(near) : 0, significant_bits);
}

// Differences wrap around, so that every pair of values has one.
int64_t Difference(int64_t value, int64_t before) { return int64_t(uint64_t(value) - uint64_t(before)); }
int64_t Sum(int64_t before, int64_t difference) { return int64_t(uint64_t(before) + uint64_t(difference)); }

}  // namespace

int RoundedBits(Protocol protocol) { return IsThorough(protocol) ? kRoundedBitsOfRaces : kRoundedBits; }

bool RecordsSpread(int significant_bits) { return significant_bits > kRoundedBits; }

double RecordedReal(double value, int significant_bits) {
  return FromRealCode(RealCode(float(value), significant_bits), significant_bits);
}

void ColumnEncoder::PutInteger(RecordField column, int64_t value) {
  int64_t& previous = previous_integer_[size_t(column)];
  AppendVarint(columns_[size_t(column)], ZigZag(Difference(value, previous)));
  previous = value;
}

void ColumnEncoder::RealNear(RecordField column, std::string_view, double& value, double near) {
  float rounded = float(value);
  SampleNear(column, rounded, near);
  value = rounded;
  previous_real_[size_t(column)] = value;
}

void ColumnEncoder::SampleNear(RecordField column, float& value, double near) {
  const uint32_t code = RealCode(value, significant_bits_);
  const uint64_t difference = ZigZag(int64_t(code) - int64_t(ExpectedCode(near, significant_bits_)));
  auto& planes = reals_[size_t(column)];
  for (size_t i = 0; i < kRealBytes; ++i) planes[i].push_back(char(difference >> (8 * i)));
  value = FromRealCode(code, significant_bits_);
}

void ColumnEncoder::Text(RecordField column, std::string_view, const std::string& text) {
  auto& dictionary = dictionaries_[size_t(column)];
  std::string& bytes = columns_[size_t(column)];
  text_bytes_ += text.size();
  const auto [known, is_new] = dictionary.emplace(text, dictionary.size());
  AppendVarint(bytes, known->second);
  if (!is_new) return;
  AppendVarint(bytes, text.size());
  bytes.append(text);
}

ColumnBytes ColumnEncoder::Columns() const {
  ColumnBytes columns = columns_;
  for (size_t i = 0; i < kColumnCount; ++i)
    for (const std::string& plane : reals_[i]) columns[i] += plane;
  return columns;
}

bool ColumnEncoder::WithinLimits() const {
  size_t bytes = 0;
  for (size_t i = 0; i < kColumnCount; ++i) {
    const size_t column_bytes = columns_[i].size() + kRealBytes * reals_[i][0].size();
    if (column_bytes > kMaxColumnBytes) return false;
    bytes += column_bytes;
  }
  return bytes <= kMaxSegmentRawBytes && text_bytes_ <= kMaxSegmentTextBytes && items_ <= kMaxSegmentItems;
}

ColumnDecoder::ColumnDecoder(const ColumnBytes& columns, size_t column_count) : column_count_(column_count) {
  for (size_t i = 0; i < kColumnCount; ++i) rest_[i] = columns[i];
}

void ColumnDecoder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

uint64_t ColumnDecoder::Varint(RecordField column) {
  std::string_view& rest = rest_[size_t(column)];
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !failed(); shift += 7) {
    if (rest.empty()) break;
    const uint8_t byte = uint8_t(rest.front());
    rest.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Fail(DataLoss(fmt::format("column {} is damaged", int(column))));
  return 0;
}

int64_t ColumnDecoder::GetInteger(RecordField column, int64_t low, int64_t high) {
  const int64_t difference = UnZigZag(Varint(column));
  int64_t& previous = previous_integer_[size_t(column)];
  const int64_t value = Sum(previous, difference);
  if (value < low || value > high) Fail(DataLoss(fmt::format("column {} holds a value out of range", int(column))));
  return failed() ? std::max<int64_t>(low, 0) : previous = value;
}

void ColumnDecoder::RealNear(RecordField column, std::string_view, double& value, double near) {
  if (IsMissing(column)) return;
  float rounded = 0;
  SampleNear(column, rounded, near);
  value = previous_real_[size_t(column)] = rounded;
}

void ColumnDecoder::SampleNear(RecordField column, float& value, double near) {
  if (IsMissing(column)) return;
  const std::string_view planes = rest_[size_t(column)];
  const size_t count = planes.size() / kRealBytes, next = next_real_[size_t(column)];
  if (planes.size() % kRealBytes != 0 || next == count)
    return Fail(DataLoss(fmt::format("column {} is damaged", int(column))));
  ++next_real_[size_t(column)];
  uint64_t difference = 0;
  for (size_t i = 0; i < kRealBytes; ++i) difference |= uint64_t(uint8_t(planes[i * count + next])) << (8 * i);
  const int64_t code = int64_t(ExpectedCode(near, significant_bits_)) + UnZigZag(difference);
  if (code < 0 || code >> (32 - kF32SignificantBits + significant_bits_) != 0)
    Fail(DataLoss(fmt::format("column {} holds a value out of range", int(column))));
  value = failed() ? 0 : FromRealCode(uint32_t(code), significant_bits_);
}

void ColumnDecoder::Text(RecordField column, std::string_view, std::string& text) {
  if (IsMissing(column)) return;
  auto& dictionary = dictionaries_[size_t(column)];
  const uint64_t index = Varint(column);
  if (!failed() && index == dictionary.size()) {
    const uint64_t length = Varint(column);
    std::string_view& rest = rest_[size_t(column)];
    if (length > rest.size()) return Fail(DataLoss(fmt::format("column {} is damaged", int(column))));
    dictionary.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (index >= dictionary.size()) Fail(DataLoss(fmt::format("column {} names a text it does not have", int(column))));
  if (failed()) return;
  text_bytes_ += dictionary[index].size();
  if (text_bytes_ > kMaxSegmentTextBytes) return Fail(DataLoss("the texts are too long for one segment"));
  text = dictionary[index];
}

void ColumnDecoder::CountItems(size_t count) {
  items_ += count;
  if (items_ > kMaxSegmentItems) Fail(DataLoss("too many timings for one segment"));
}

Status ColumnDecoder::Finish() const {
  if (failed()) return status_;
  for (size_t i = 0; i < kColumnCount; ++i)
    if (rest_[i].size() != next_real_[i] * kRealBytes)
      return DataLoss(fmt::format("column {} has bytes after its end", i));
  return OkStatus();
}

}  // namespace gemmsmith
