#include "report/search_comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/recorded_cells.h"
#include "search/recorded_problem.h"
#include "search/tracing.h"

namespace gemmsmith {
namespace {

// Worths 1, 1/2, 1/4 and a failure, and then worse ones.
std::shared_ptr<const Recording> FewPlans() {
  return RecordedProblem(2, [](size_t i) {
    return i == 3 ? FailedOutcome(OutcomeKind::kTimedOut, "") : MeasuredOutcome(100 * std::exp2(double(i)));
  });
}

Traces TracesOf(const Recording& recording, std::vector<Trace> repeats) {
  const RecordedCells cells(recording, kRecordedGemm);
  Traces traces{.held_out = "512", .repeats = uint32_t(repeats.size())};
  traces.problems = {{kRecordedGemm, uint16_t(cells.space().size()), cells.Fingerprint()}};
  traces.proposers = {{"some", "", std::move(repeats)}};
  return traces;
}

Curve CurveOf(std::vector<Trace> repeats) {
  const auto recording = FewPlans();
  return CompareSearches(TracesOf(*recording, std::move(repeats)), *recording)->curves.at(0);
}

TEST(SearchComparisonTest, ScoresTheBestSoFarAndFailuresCountAsEvaluationsWithoutResult) {
  const Curve curve = CurveOf({{3, 2, 4, 1, 0}});
  EXPECT_EQ(curve.After(1).mean, 0);
  EXPECT_DOUBLE_EQ(curve.After(2).mean, 0.25);
  EXPECT_DOUBLE_EQ(curve.After(3).mean, 0.25);
  EXPECT_DOUBLE_EQ(curve.After(4).mean, 0.5);
  EXPECT_DOUBLE_EQ(curve.After(5).mean, 1);
  EXPECT_EQ(curve.FirstAt(0.5), 4u);
  EXPECT_EQ(CurveOf({{3, 2}}).FirstAt(0.5), std::nullopt);
}

TEST(SearchComparisonTest, AListThatEndsEarlierKeepsItsLastValueAndAnEmptyOneIsNamed) {
  const Curve curve = CurveOf({{2, 1}});
  EXPECT_DOUBLE_EQ(curve.After(kMaxEvaluations).mean, 0.5);
  EXPECT_EQ(curve.silent, 0u);
  const Curve silent = CurveOf({{}, {}});
  EXPECT_EQ(silent.After(kMaxEvaluations).mean, 0);
  EXPECT_EQ(silent.silent, 1u);
}

TEST(SearchComparisonTest, ASecondPlanThatIsAsFastChangesNothing) {
  const auto recording = RecordedProblem(1, [](size_t) { return MeasuredOutcome(100); });
  const Curve curve = CompareSearches(TracesOf(*recording, {{0, 1, 2}}), *recording)->curves.at(0);
  for (const Score& score : curve.scores) EXPECT_EQ(score.mean, 1);
}

TEST(SearchComparisonTest, TheIntervalIsOfTheRepeatsMeans) {
  std::vector<Trace> repeats(41, {1});  // 0.5
  repeats[0] = {0}, repeats[1] = {2};
  const Score score = CurveOf(repeats).After(1);
  EXPECT_DOUBLE_EQ(score.mean, (39 * 0.5 + 1 + 0.25) / 41);
  EXPECT_DOUBLE_EQ(score.interval.low, 0.5);  // one of 41 is below
  EXPECT_DOUBLE_EQ(score.interval.high, 0.5);
  repeats[2] = {0}, repeats[3] = {2};
  EXPECT_DOUBLE_EQ(CurveOf(repeats).After(1).interval.low, 0.25);
  EXPECT_DOUBLE_EQ(CurveOf(repeats).After(1).interval.high, 1);
}

TEST(SearchComparisonTest, TracesOfOtherRecordsAreRefused) {
  const auto recording = FewPlans();
  const auto other = RecordedProblem(2, [](size_t i) { return MeasuredOutcome(100 + double(i)); });
  const Status status = CompareSearches(TracesOf(*recording, {{0}}), *other).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("the traces were made from other records of gemm 64x64x512 tn f16 f32:"))
      << status.message();
}

TEST(SearchComparisonTest, TheBestAfterEightEvaluationsComesFirst) {
  const auto recording = FewPlans();
  Traces traces = TracesOf(*recording, {{2}});
  traces.proposers.push_back({"better", "", {{3, 0}}});
  const SearchComparison comparison = *CompareSearches(traces, *recording);
  EXPECT_EQ(comparison.curves[0].name, "better");
  EXPECT_EQ(comparison.shapes, 1u);
  EXPECT_FALSE(comparison.random_check);
}

// Against every subset of four plans, counted one by one.
TEST(BestOfDrawsTest, IsExactOnATinySpace) {
  const std::vector<double> worths = {0.25, 1, 0, 0.5};
  for (const size_t draws : {1, 2, 3, 4}) {
    double sum = 0, squares = 0;
    int subsets = 0;
    for (unsigned chosen = 0; chosen < 16; ++chosen) {
      if (size_t(__builtin_popcount(chosen)) != draws) continue;
      double best = 0;
      for (size_t i = 0; i < 4; ++i)
        if (chosen >> i & 1) best = std::max(best, worths[i]);
      sum += best, squares += best * best, ++subsets;
    }
    const ExpectedBest best = BestOfDraws(worths, 4);
    EXPECT_NEAR(best.mean[draws - 1], sum / subsets, 1e-12);
    EXPECT_NEAR(best.mean_square[draws - 1], squares / subsets, 1e-12);
  }
}

TEST(BestOfDrawsTest, MoreDrawsThanPlansFindTheBest) {
  const ExpectedBest best = BestOfDraws({0.25, 1, 0.5}, 64);
  for (size_t draws = 3; draws <= 64; ++draws) EXPECT_NEAR(best.mean[draws - 1], 1, 1e-12);
}

TEST(BestOfDrawsTest, RandomSearchAgreesWithItAndAnotherSearchDoesNot) {
  const auto recording = RecordedProblem(4, [](size_t i) {
    return i % 11 == 0 ? FailedOutcome(OutcomeKind::kResourceOver, "") : MeasuredOutcome(100 + double(i * i % 911));
  });
  std::vector<RecordedCells> problems;
  problems.emplace_back(*recording, kRecordedGemm);
  const auto check_of = [&](const std::string& search) {
    const NamedProposer called_random{
        .name = "random", .make = [&](const SearchContext& context) { return MakeProposer(search, context); }};
    const Traces traces =
        *TraceProposers({called_random}, problems, *FindDevice("h200"), {.repeats = 300}, [](size_t) {});
    return *CompareSearches(traces, *recording)->random_check;
  };
  const RandomCheck honest = check_of("random");
  EXPECT_LT(honest.largest_in_errors, 4);
  EXPECT_LT(std::abs(honest.difference), 0.03);
  EXPECT_GT(check_of("bayes").largest_in_errors, 6);
}

}  // namespace
}  // namespace gemmsmith
