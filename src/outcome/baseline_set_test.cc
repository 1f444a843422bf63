#include "outcome/baseline_set.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace gemmsmith {
namespace {

std::string NamesFor(std::string_view text, Protocol protocol) {
  const Result<BaselineSet> set = BaselineSet::Parse(text);
  EXPECT_TRUE(set.ok()) << text << ": " << set.status().message();
  std::vector<std::string> names;
  for (const BaselineId& id : set.ok() ? set->For(protocol) : std::vector<BaselineId>()) names.push_back(Name(id));
  return Join(names, " ");
}

TEST(BaselineSet, TheDefaultIsTheProtocols) {
  EXPECT_EQ(*BaselineSet::Parse("default"), BaselineSet());
  EXPECT_EQ(NamesFor("default", Protocol::kScreen), "lt_auto_nn lt_auto_tn");
  EXPECT_EQ(NamesFor("default", Protocol::kHeat), "lt_auto_nn lt_auto_tn");
  for (const Protocol protocol : {Protocol::kShort, Protocol::kLong})
    EXPECT_EQ(NamesFor("default", protocol),
              "lt_auto_nn lt_heuristic_nn cublas_nn lt_auto_tn lt_heuristic_tn cublas_tn");
}

TEST(BaselineSet, WhatIsNamedIsRacedWhateverTheProtocol) {
  EXPECT_EQ(NamesFor("torch,cublas_tn", Protocol::kScreen), "torch_nn torch_tn cublas_tn");
  EXPECT_EQ(NamesFor("default,torch_nn", Protocol::kScreen), "lt_auto_nn lt_auto_tn torch_nn");
  EXPECT_EQ(NamesFor("lt_exhaustive,so:/a/b.so", Protocol::kShort), "lt_exhaustive_nn lt_exhaustive_tn so:/a/b.so");
}

TEST(BaselineSet, NobodyRacesTwice) {
  EXPECT_EQ(NamesFor("lt_auto,default,lt_auto_nn,so:x,so:x", Protocol::kScreen), "lt_auto_nn lt_auto_tn so:x");
}

TEST(BaselineSet, RoundTripsThroughItsText) {
  EXPECT_EQ(BaselineSet().Print(), "default");
  for (const char* text : {"default", "torch", "cublas_tn,lt_auto", "default,lt_exhaustive_tn,so:./k.so", "so:a b"}) {
    const Result<BaselineSet> set = BaselineSet::Parse(text);
    ASSERT_TRUE(set.ok()) << text;
    const Result<BaselineSet> again = BaselineSet::Parse(set->Print());
    ASSERT_TRUE(again.ok()) << set->Print();
    EXPECT_EQ(*again, *set);
  }
}

TEST(BaselineSet, AWrongWordIsNamedWithTheNearestRightOne) {
  for (const char* text : {"", "lt_auto,", "so:", "lt_auto_xx", "Default", "cublas nn"})
    EXPECT_EQ(BaselineSet::Parse(text).status().code(), StatusCode::kInvalidArgument) << text;
  EXPECT_NE(BaselineSet::Parse("lt_uato").status().message().find("did you mean 'lt_auto'?"), std::string::npos)
      << BaselineSet::Parse("lt_uato").status().message();
}

}  // namespace
}  // namespace gemmsmith
