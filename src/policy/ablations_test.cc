#include "policy/ablations.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(WithoutTest, WhatIsPrintedIsRead) {
  EXPECT_EQ(*ParseAblations(""), Ablations());
  EXPECT_EQ(Print(*ParseAblations("analysis,contrast")), "contrast,analysis");
  for (int parts = 0; parts < 16; ++parts) {
    const Ablations ablations{(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0};
    EXPECT_EQ(*ParseAblations(Print(ablations)), ablations);
  }
}

TEST(WithoutTest, WhatIsNoPartIsRefused) {
  const auto why_not = [](std::string_view text) {
    const Result<Ablations> ablations = ParseAblations(text);
    EXPECT_FALSE(ablations.ok()) << text;
    return ablations.ok() ? "" : ablations.status().message();
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
  EXPECT_EQ(Union({.analysis = true}, {}), Ablations{.analysis = true});
}

}  // namespace
}  // namespace gemmsmith
