#include "outcome/test_list.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

std::string NamesOf(const std::vector<TestPlan>& tests) {
  std::string names;
  for (const TestPlan& test : tests) names += std::string(names.empty() ? "" : " ") + std::string(Name(test.id));
  return names;
}

TEST(TestsFor, ASearchRunsTheCheapOnesAndJudgementAll) {
  const Gemm gemm{{64, 64, 64}};
  EXPECT_EQ(NamesOf(TestsFor(gemm, false)), "binary relative cancellation chain");
  EXPECT_EQ(NamesOf(TestsFor(gemm, true)),
            "binary relative cancellation chain dense_binary uniform special baseline_bounded repeat certified");
}

TEST(TestsFor, WhereTheContractIsAnF16AccumulatorNothingHasToCancelExactly) {
  Gemm gemm{{64, 64, 64}};
  gemm.kind.accumulation = Accumulation::kF16;
  EXPECT_EQ(NamesOf(TestsFor(gemm, false)), "binary relative chain");
}

TEST(TestsFor, OnlyWhatIsWantedRuns) {
  const Result<TestSet> wanted = ParseTestSet("repeat,binary");
  ASSERT_TRUE(wanted.ok());
  EXPECT_EQ(NamesOf(TestsFor({{64, 64, 64}}, true, *wanted)), "binary repeat");
  EXPECT_EQ(NamesOf(TestsFor({{64, 64, 64}}, false, *wanted)), "binary");
}

TEST(InputsOf, NamesEachKindOnceAndTheNormalOnesFirst) {
  const Gemm gemm{{64, 64, 64}};
  using enum InputKind;
  EXPECT_EQ(InputsOf(TestsFor(gemm, false)), (std::vector{kNormal, kBinary, kCancellation}));
  EXPECT_EQ(InputsOf(TestsFor(gemm, true)).size(), size_t(kLastInputKind) + 1);
  EXPECT_EQ(InputsOf(TestsFor(gemm, true, *ParseTestSet("chain"))), (std::vector{kNormal, kBinary}));
}

TEST(ParseTestSet, NamesWhatThereIs) {
  const Result<TestSet> none = ParseTestSet("binary,cancelation");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("'cancelation' is no test; there are binary, relative, cancellation"),
            std::string::npos)
      << none.status().message();
}

TEST(TestSet, KeepsItsBitsAndRefusesUnknownOnes) {
  const TestSet all = TestSet::All();
  for (int test = 0; test <= int(kLastTestId); ++test) EXPECT_TRUE(all.Has(TestId(test)));
  EXPECT_EQ(*TestSet::FromBits(all.bits()), all);
  EXPECT_FALSE(TestSet::FromBits(all.bits() + 1).has_value());
  EXPECT_TRUE(TestSet().empty());
}

}  // namespace
}  // namespace gemmsmith
