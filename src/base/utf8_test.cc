#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace gemmsmith {
namespace {

TEST(Utf8, CharactersHaveOneToFourBytes) {
  EXPECT_EQ(CharacterBytes("a\xff"), 1u);
  EXPECT_EQ(CharacterBytes("\xc2\xb5s"), 2u);
  EXPECT_EQ(CharacterBytes("\xe2\x82\xac"), 3u);
  EXPECT_EQ(CharacterBytes("\xf4\x8f\xbf\xbf"), 4u);
}

TEST(Utf8, WrongFormsAreNoCharacter) {
  for (const char* wrong : {"\x80", "\xc1\xbf", "\xc2", "\xc2q", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(CharacterBytes(wrong), 0u) << testing::PrintToString(wrong);
    EXPECT_FALSE(IsUtf8(std::string("a") + wrong)) << testing::PrintToString(wrong);
  }
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("a\xc2\xb5\xe2\x82\xac"));
}

}  // namespace
}  // namespace gemmsmith
