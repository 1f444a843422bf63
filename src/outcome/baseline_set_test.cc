#include "outcome/baseline_set.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace gemmsmith {
namespace {

std::string NamesFor(std::string_view text, Protocol protocol, const Layout& layout = kTn) {
  const Result<BaselineSet> set = BaselineSet::Parse(text);
  EXPECT_TRUE(set.ok()) << text << ": " << set.status().message();
  std::vector<std::string> names;
  for (const BaselineId& id : set.ok() ? set->For(protocol, layout) : std::vector<BaselineId>())
    names.push_back(Name(id));
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

// Weights may be stored in either order, so nn and tn are rivals of each other.
TEST(BaselineSet, AKindRacesInNnAndTnOrInTheLayoutOfAColumnMajorA) {
  EXPECT_EQ(NamesFor("default,torch", Protocol::kScreen, kNn), "lt_auto_nn lt_auto_tn torch_nn torch_tn");
  EXPECT_EQ(NamesFor("default,torch", Protocol::kScreen, kColumnRow), "lt_auto_col-row torch_col-row");
  EXPECT_EQ(NamesFor("default", Protocol::kShort, kColumnColumn),
            "lt_auto_col-col lt_heuristic_col-col cublas_col-col");
  EXPECT_EQ(NamesFor("lt_auto,lt_auto_nn", Protocol::kShort, kColumnRow), "lt_auto_col-row lt_auto_nn");
  EXPECT_EQ(NamesFor("cublas_col-row", Protocol::kShort, kTn), "cublas_col-row");
}

TEST(BaselineSet, AFamilyIsANameWithoutItsLayout) {
  for (const char* name : {"lt_auto", "lt_auto_nn", "lt_auto_tn", "lt_auto_col-row", "lt_auto_col-col"})
    EXPECT_EQ(FamilyOf(name), "lt_auto");
  for (const char* name : {"ours", "lt_heuristic", "lt_auto_max", "col-row", ""}) EXPECT_EQ(FamilyOf(name), name);
}

TEST(BaselineSet, NobodyRacesTwice) {
  EXPECT_EQ(NamesFor("lt_auto,default,lt_auto_nn,so:x,so:x", Protocol::kScreen), "lt_auto_nn lt_auto_tn so:x");
}

TEST(BaselineSet, RoundTripsThroughItsText) {
  EXPECT_EQ(BaselineSet().Print(), "default");
  for (const char* text : {"default", "torch", "cublas_tn,lt_auto", "default,lt_exhaustive_tn,so:./k.so", "so:a b",
                           "lt_auto_col-row,cublas_col-col"}) {
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
