#include "policy/train/event_file.h"

#include <array>
#include <optional>

#include "base/bytes.h"

namespace gemmsmith {

namespace {

constexpr std::array<uint32_t, 256> CrcTable() {
  constexpr uint32_t kCastagnoli = 0x82f63b78;  // its bits reversed
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? kCastagnoli : 0);
    table[byte] = remainder;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = CrcTable();

// Protobuf's way to write a field's number with the kind of what follows it.
enum class WireKind : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Numbers of fields: Event, Summary and Summary.Value of TensorFlow's event.proto and summary.proto.
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
constexpr int kValue = 1;
constexpr int kTag = 1, kSimpleValue = 2;

class Message {
 public:
  void PutVarint(int field, uint64_t value) {
    PutKey(field, WireKind::kVarint);
    PutVarint(value);
  }
  void PutDouble(int field, double value) {
    PutKey(field, WireKind::kFixed64);
    bytes_.Put(value);
  }
  void PutFloat(int field, float value) {
    PutKey(field, WireKind::kFixed32);
    bytes_.Put(value);
  }
  void PutBytes(int field, std::string_view value) {
    PutKey(field, WireKind::kBytes);
    PutVarint(value.size());
    for (const char c : value) bytes_.Put(c);
  }
  std::string Take() && { return std::move(bytes_).Take(); }

 private:
  void PutKey(int field, WireKind kind) { PutVarint(uint64_t(field) << 3 | uint64_t(kind)); }
  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  void PutVarint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.Put(uint8_t(value | 128));
    bytes_.Put(uint8_t(value));
  }

  ByteWriter bytes_;
};

// TFRecord: length, its sum, content, its sum.
std::string Framed(const std::string& content) {
  ByteWriter length;
  length.Put(uint64_t(content.size()));
  const std::string head = std::move(length).Take();
  ByteWriter head_sum, sum;
  head_sum.Put(MaskedCrc32c(head));
  sum.Put(MaskedCrc32c(content));
  return head + std::move(head_sum).Take() + content + std::move(sum).Take();
}

std::optional<std::string_view> TakeFrame(ByteReader& reader) {
  const std::string_view head = reader.Take(sizeof(uint64_t));
  const uint32_t head_sum = reader.Get<uint32_t>();
  if (reader.failed() || head_sum != MaskedCrc32c(head)) return std::nullopt;
  const std::string_view content = reader.Take(ByteReader(head).Get<uint64_t>());
  const uint32_t sum = reader.Get<uint32_t>();
  if (reader.failed() || sum != MaskedCrc32c(content)) return std::nullopt;
  return content;
}

// Reads events as EncodeFirstEvent() and EncodeEvent() write them: the time first, then the step if there is one.
std::optional<FoundEvent> ReadEvent(std::string_view content) {
  ByteReader reader(content);
  FoundEvent place;
  if (reader.Get<uint8_t>() != (kWallTime << 3 | int(WireKind::kFixed64))) return std::nullopt;
  place.unix_seconds = reader.Get<double>();
  if (reader.Get<uint8_t>() != (kStep << 3 | int(WireKind::kVarint))) return place;
  uint64_t step = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    const uint8_t byte = reader.Get<uint8_t>();
    step |= uint64_t(byte & 127) << shift;
    if ((byte & 128) == 0) break;
  }
  place.step = int64_t(step);
  return reader.failed() ? std::nullopt : std::optional(place);
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ uint8_t(c)) & 255];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

std::string EncodeFirstEvent(double unix_seconds) {
  Message event;
  event.PutDouble(kWallTime, unix_seconds);
  event.PutBytes(kFileVersion, "brain.Event:2");
  return Framed(std::move(event).Take());
}

std::string EncodeEvent(const ScalarsOfStep& scalars) {
  Message summary;
  for (const Scalar& scalar : scalars.scalars) {
    Message value;
    value.PutBytes(kTag, scalar.name);
    value.PutFloat(kSimpleValue, float(scalar.value));
    summary.PutBytes(kValue, std::move(value).Take());
  }
  Message event;
  event.PutDouble(kWallTime, scalars.unix_seconds);
  event.PutVarint(kStep, uint64_t(scalars.step));
  event.PutBytes(kSummary, std::move(summary).Take());
  return Framed(std::move(event).Take());
}

std::vector<FoundEvent> FindEvents(std::string_view file) {
  std::vector<FoundEvent> events;
  ByteReader reader(file);
  while (reader.remaining() > 0) {
    const std::optional<std::string_view> content = TakeFrame(reader);
    std::optional<FoundEvent> place = content ? ReadEvent(*content) : std::nullopt;
    if (!place) break;
    place->end = file.size() - reader.remaining();
    events.push_back(*place);
  }
  return events;
}

}  // namespace gemmsmith
