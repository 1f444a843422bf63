#include "policy/without.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(WithoutTest, WhatIsPrintedIsRead) {
  EXPECT_EQ(*ParseWithout(""), Without());
  EXPECT_EQ(Print(*ParseWithout("analysis,contrast")), "contrast,analysis");
  for (int parts = 0; parts < 16; ++parts) {
    const Without without{(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0};
    EXPECT_EQ(*ParseWithout(Print(without)), without);
  }
}

TEST(WithoutTest, WhatIsNoPartIsRefused) {
  const auto why_not = [](std::string_view text) {
    const Result<Without> without = ParseWithout(text);
    EXPECT_FALSE(without.ok()) << text;
    return without.ok() ? "" : without.status().message();
  };
  EXPECT_EQ(why_not("masks"),
            "'masks' is no part to train without; there are contrast, counters, mask, analysis and prior");
  EXPECT_NE(why_not("mask,").find("'' is no part"), std::string::npos);
  EXPECT_NE(why_not("mask, counters").find("' counters' is no part"), std::string::npos);
  EXPECT_NE(why_not("x\ny").find("'x?y'"), std::string::npos);
  EXPECT_EQ(why_not("mask,mask"), "'mask' stands there twice");
}

TEST(WithoutTest, TheUnionLeavesOutWhatEitherDoes) {
  EXPECT_EQ(Print(Union({.contrast = true}, {.mask = true})), "contrast,mask");
  EXPECT_EQ(Union({.analysis = true}, {}), Without{.analysis = true});
}

}  // namespace
}  // namespace gemmsmith
