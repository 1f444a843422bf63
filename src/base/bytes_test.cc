#include "base/bytes.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

enum class Colour : uint8_t { kRed, kBlue };

std::string Sample() {
  ByteWriter writer;
  writer.Put(uint16_t(0x1234));
  writer.Put(Colour::kBlue);
  writer.PutString("text");
  writer.PutVector(std::vector<double>{1.5, -2});
  writer.PutVector(std::vector<float>{});
  return std::move(writer).Take();
}

TEST(Bytes, WhatIsPutIsGot) {
  const std::string bytes = Sample();
  EXPECT_EQ(bytes.substr(0, 2), "\x34\x12") << "little-endian";
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Get<uint16_t>(), 0x1234);
  EXPECT_EQ(reader.Get<Colour>(), Colour::kBlue);
  EXPECT_EQ(reader.GetString(), "text");
  EXPECT_EQ(reader.GetVector<double>(), (std::vector<double>{1.5, -2}));
  EXPECT_TRUE(reader.GetVector<float>().empty());
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_FALSE(reader.failed());
}

TEST(Bytes, ATruncationAnywhereFailsAndReadsNothingBeyond) {
  const std::string bytes = Sample();
  for (size_t length = 0; length < bytes.size(); ++length) {
    ByteReader reader(std::string_view(bytes).substr(0, length));
    reader.Get<uint16_t>(), reader.Get<Colour>(), reader.GetString(), reader.GetVector<double>(),
        reader.GetVector<float>();
    EXPECT_TRUE(reader.failed()) << length;
    EXPECT_EQ(reader.Get<uint64_t>(), 0u);
  }
}

TEST(Bytes, AHugeCountAllocatesNothing) {
  ByteWriter writer;
  writer.Put(uint32_t(0xffffffff));
  const std::string bytes = std::move(writer).Take();
  ByteReader text(bytes), numbers(bytes);
  EXPECT_EQ(text.GetString(), "");
  EXPECT_TRUE(text.failed());
  EXPECT_TRUE(numbers.GetVector<double>().empty());
  EXPECT_TRUE(numbers.failed());
}

}  // namespace
}  // namespace gemmsmith
