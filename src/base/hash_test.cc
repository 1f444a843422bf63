#include "base/hash.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

// Names of cache entries and records: these values may never change.
TEST(Hash, GoldenValues) {
  EXPECT_EQ(HashBytes(std::string_view()).Hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(HashBytes(std::string_view("abc")).Hex(), "06b05ab6733a618578af5f94892f3950");
}

TEST(Hash, HexIsAlways32DigitsWithTheHighHalfFirst) {
  EXPECT_EQ((Hash128{.low = 1, .high = 0}).Hex(), "00000000000000000000000000000001");
  EXPECT_EQ((Hash128{.low = 0, .high = 0xab}).Hex(), "00000000000000ab0000000000000000");
}

TEST(Hash, OneBitChangesIt) {
  std::string bytes(1000, '\0');
  const Hash128 before = HashBytes(bytes);
  bytes[777] = 1;
  EXPECT_NE(HashBytes(bytes), before);
}

TEST(Hash, SpansAndTextsAgree) {
  const uint8_t bytes[] = {'a', 'b', 'c'};
  EXPECT_EQ(HashBytes(std::span<const uint8_t>(bytes)), HashBytes(std::string_view("abc")));
}

}  // namespace
}  // namespace gemmsmith
