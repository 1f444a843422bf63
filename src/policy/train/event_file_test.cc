#include "policy/train/event_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace gemmsmith {
namespace {

// A second reader, from the formats' descriptions alone: sums bit by bit, every field of a message by its number.
uint32_t PlainMaskedCrc(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = ((crc ^ uint32_t(uint8_t(c)) >> bit) & 1) != 0;
      crc = odd ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

template <class T>
T NumberAt(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

uint64_t TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = uint8_t(bytes.at(0));
    bytes.remove_prefix(1);
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

// By field: the bytes of numbers of fixed size and of texts; varints as eight bytes.
std::multimap<int, std::string> Fields(std::string_view bytes) {
  std::multimap<int, std::string> fields;
  while (!bytes.empty()) {
    const uint64_t key = TakeVarint(bytes);
    size_t size = 0;
    switch (key & 7) {
      case 0: {
        const uint64_t value = TakeVarint(bytes);
        fields.emplace(int(key >> 3), std::string(reinterpret_cast<const char*>(&value), sizeof value));
        continue;
      }
      case 1:
        size = 8;
        break;
      case 2:
        size = TakeVarint(bytes);
        break;
      case 5:
        size = 4;
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
        return fields;
    }
    fields.emplace(int(key >> 3), std::string(bytes.substr(0, size)));
    bytes.remove_prefix(size);
  }
  return fields;
}

struct ReadEvent {
  double wall_time = 0;
  int64_t step = 0;
  std::string file_version;
  std::map<std::string, float> scalars;
};

std::vector<ReadEvent> ReadAll(std::string_view file) {
  std::vector<ReadEvent> events;
  while (!file.empty()) {
    const uint64_t size = NumberAt<uint64_t>(file, 0);
    EXPECT_EQ(NumberAt<uint32_t>(file, 8), PlainMaskedCrc(file.substr(0, 8)));
    const std::string_view content = file.substr(12, size);
    EXPECT_EQ(NumberAt<uint32_t>(file, 12 + size), PlainMaskedCrc(content));
    file.remove_prefix(16 + size);
    ReadEvent event;
    for (const auto& [field, bytes] : Fields(content)) {
      if (field == 1) event.wall_time = NumberAt<double>(bytes, 0);
      if (field == 2) event.step = NumberAt<int64_t>(bytes, 0);
      if (field == 3) event.file_version = bytes;
      if (field != 5) continue;
      for (const auto& [value_field, value] : Fields(bytes)) {
        EXPECT_EQ(value_field, 1);
        const std::multimap<int, std::string> parts = Fields(value);
        EXPECT_EQ(parts.size(), 2u);
        event.scalars[parts.find(1)->second] = NumberAt<float>(parts.find(2)->second, 0);
      }
    }
    events.push_back(event);
  }
  return events;
}

std::string SomeFile() {
  return EncodeFirstEvent(1.7e9) + EncodeEvent({1, 1.7e9 + 0.25, {{"loss", 2.5}, {"completions/mean_length", 17}}}) +
         EncodeEvent({300, 1.7e9 + 1, {{"loss", -0.1}}}) + EncodeEvent({1 << 20, 1.7e9 + 2, {}});
}

TEST(EventFileTest, SumsAreThoseOfTheCastagnoliPolynomial) {
  // The check value of CRC-32C's catalogues, 0xe3069283 of "123456789", and 32 zeros of RFC 3720, masked.
  const auto masked = [](uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; };
  EXPECT_EQ(MaskedCrc32c("123456789"), masked(0xe3069283));
  EXPECT_EQ(MaskedCrc32c(std::string(32, '\0')), masked(0x8a9136aa));
  EXPECT_EQ(MaskedCrc32c(SomeFile()), PlainMaskedCrc(SomeFile()));
}

TEST(EventFileTest, ASecondReaderFindsEveryNumber) {
  const std::vector<ReadEvent> events = ReadAll(SomeFile());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_EQ(events[0].wall_time, 1.7e9);
  EXPECT_EQ(events[1].step, 1);
  EXPECT_EQ(events[1].wall_time, 1.7e9 + 0.25);
  EXPECT_EQ(events[1].scalars, (std::map<std::string, float>{{"loss", 2.5f}, {"completions/mean_length", 17.0f}}));
  EXPECT_EQ(events[2].step, 300);
  EXPECT_EQ(events[2].scalars, (std::map<std::string, float>{{"loss", -0.1f}}));
  EXPECT_EQ(events[3].step, 1 << 20);
}

TEST(EventFileTest, EventsAreFoundAgainWithTheirTimesAndPlaces) {
  const std::string file = SomeFile();
  const std::vector<FoundEvent> events = FindEvents(file);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].step, 0);
  EXPECT_EQ(events[0].end, EncodeFirstEvent(1.7e9).size());
  EXPECT_EQ(events[2].step, 300);
  EXPECT_EQ(events[2].unix_seconds, 1.7e9 + 1);
  EXPECT_EQ(events[3].step, 1 << 20);
  EXPECT_EQ(events[3].end, file.size());
}

TEST(EventFileTest, WhatIsCutOffOrDamagedEndsTheSoundBeginning) {
  const std::string file = SomeFile();
  const std::vector<FoundEvent> whole = FindEvents(file);
  for (size_t size = 0; size < file.size(); ++size) {
    const std::vector<FoundEvent> events = FindEvents(std::string_view(file).substr(0, size));
    const auto sound = std::count_if(whole.begin(), whole.end(), [&](const FoundEvent& e) { return e.end <= size; });
    EXPECT_EQ(events.size(), size_t(sound)) << size;
  }
  for (size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = char(damaged[at] ^ 0x10);
    const auto before = std::count_if(whole.begin(), whole.end(), [&](const FoundEvent& e) { return e.end <= at; });
    EXPECT_EQ(FindEvents(damaged).size(), size_t(before)) << at;
  }
  EXPECT_TRUE(FindEvents("rubbish that is long enough for a head and some more").empty());
}

}  // namespace
}  // namespace gemmsmith
