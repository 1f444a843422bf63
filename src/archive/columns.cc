#include "archive/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace gemmsmith {
namespace {

uint64_t ZigZag(int64_t value) { return (uint64_t(value) << 1) ^ uint64_t(value >> 63); }
int64_t UnZigZag(uint64_t value) { return int64_t(value >> 1) ^ -int64_t(value & 1); }

void AppendVarint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(char(value | 0x80));
  bytes.push_back(char(value));
}

// A real in a record: the upper 25 bits of its f32, rounded to nearest. 17 significant bits are far below any spread
// that was ever measured, and the other seven would be half of a record's bytes.
constexpr int kDroppedBits = 7;
constexpr uint32_t kCodeMask = (uint32_t(1) << (32 - kDroppedBits)) - 1;

uint32_t RealCode(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t half = std::isfinite(value) ? uint32_t(1) << (kDroppedBits - 1) : 0;
  return (bits + half) >> kDroppedBits;
}

float FromRealCode(uint32_t code) { return std::bit_cast<float>(code << kDroppedBits); }

// What is not finite is no prediction: the bits of a computed NaN differ between machines.
uint32_t ExpectedCode(double near) { return RealCode(std::isfinite(near) ? float(near) : 0); }

// Differences wrap around, so that every pair of values has one.
int64_t Difference(int64_t value, int64_t before) { return int64_t(uint64_t(value) - uint64_t(before)); }
int64_t Sum(int64_t before, int64_t difference) { return int64_t(uint64_t(before) + uint64_t(difference)); }

}  // namespace

double RecordedReal(double value) { return FromRealCode(RealCode(float(value))); }

void ColumnEncoder::PutInteger(Column column, int64_t value) {
  int64_t& previous = previous_integer_[size_t(column)];
  AppendVarint(columns_[size_t(column)], ZigZag(Difference(value, previous)));
  previous = value;
}

void ColumnEncoder::RealNear(Column column, double& value, double near) {
  float rounded = float(value);
  SampleNear(column, rounded, near);
  value = rounded;
  previous_real_[size_t(column)] = value;
}

void ColumnEncoder::SampleNear(Column column, float& value, double near) {
  const uint32_t code = RealCode(value);
  AppendVarint(columns_[size_t(column)], ZigZag(int64_t(code) - int64_t(ExpectedCode(near))));
  value = FromRealCode(code);
}

void ColumnEncoder::Text(Column column, const std::string& text) {
  auto& dictionary = dictionaries_[size_t(column)];
  std::string& bytes = columns_[size_t(column)];
  text_bytes_ += text.size();
  const auto [known, is_new] = dictionary.emplace(text, dictionary.size());
  AppendVarint(bytes, known->second);
  if (!is_new) return;
  AppendVarint(bytes, text.size());
  bytes.append(text);
}

bool ColumnEncoder::WithinLimits() const {
  size_t bytes = 0;
  for (const std::string& column : columns_) {
    if (column.size() > kMaxColumnBytes) return false;
    bytes += column.size();
  }
  return bytes <= kMaxSegmentRawBytes && text_bytes_ <= kMaxSegmentTextBytes && items_ <= kMaxSegmentItems;
}

ColumnDecoder::ColumnDecoder(const ColumnBytes& columns, size_t column_count) : column_count_(column_count) {
  for (size_t i = 0; i < kColumnCount; ++i) rest_[i] = columns[i];
}

void ColumnDecoder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

uint64_t ColumnDecoder::Varint(Column column) {
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

int64_t ColumnDecoder::GetInteger(Column column, int64_t low, int64_t high) {
  const int64_t difference = UnZigZag(Varint(column));
  int64_t& previous = previous_integer_[size_t(column)];
  const int64_t value = Sum(previous, difference);
  if (value < low || value > high) Fail(DataLoss(fmt::format("column {} holds a value out of range", int(column))));
  return failed() ? std::max<int64_t>(low, 0) : previous = value;
}

void ColumnDecoder::RealNear(Column column, double& value, double near) {
  if (IsMissing(column)) return;
  float rounded = 0;
  SampleNear(column, rounded, near);
  value = previous_real_[size_t(column)] = rounded;
}

void ColumnDecoder::SampleNear(Column column, float& value, double near) {
  if (IsMissing(column)) return;
  const int64_t difference = UnZigZag(Varint(column));
  const int64_t code = Sum(ExpectedCode(near), difference);
  if (code < 0 || code > kCodeMask) Fail(DataLoss(fmt::format("column {} holds a value out of range", int(column))));
  value = failed() ? 0 : FromRealCode(uint32_t(code));
}

void ColumnDecoder::Text(Column column, std::string& text) {
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
    if (!rest_[i].empty()) return DataLoss(fmt::format("column {} has bytes after its end", i));
  return OkStatus();
}

}  // namespace gemmsmith
