#include "archive/standings.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

Trial Measured(const Shape& shape, Protocol protocol, double time_ns, double over_nn, double over_tn) {
  Trial trial{.gemm = {shape, {kTn}}};
  Outcome& outcome = trial.outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.protocol = protocol;
  outcome.timings = {{.contender = "ours", .clock = Clock::kDevice, .median_ns = time_ns}};
  for (auto [name, ratio] : {std::pair{"lt_auto_nn", over_nn}, {"lt_auto_tn", over_tn}, {"cublas_nn", 0.1}})
    outcome.comparisons.push_back({name, Clock::kDevice, {ratio, ratio, {ratio - 0.01, ratio + 0.01}, 10}});
  return trial;
}

TEST(Standings, ComeFromTheBestCarefulTrialAgainstTheHardestAutoTuning) {
  const Shape one{64, 64, 64}, two{64, 64, 128};
  Trial failed = Measured(one, Protocol::kShort, 1, 9, 9);
  failed.outcome.kind = OutcomeKind::kWrong;
  const std::vector<Standing> standings =
      StandingsOf({failed, Measured(one, Protocol::kScreen, 900, 5, 5), Measured(one, Protocol::kShort, 1000, 2, 3),
                   Measured(one, Protocol::kShort, 1100, 1, 1), Measured(two, Protocol::kScreen, 1000, 0.6, 0.5),
                   Measured({8192, 8192, 8192}, Protocol::kScreen, 1e9, 1.005, 2),
                   Measured({65, 64, 64}, Protocol::kScreen, 1000, 4, 4)});
  ASSERT_EQ(standings.size(), 3u);
  EXPECT_EQ(standings[0].shape_class, std::nullopt);
  EXPECT_DOUBLE_EQ(standings[0].geometric_mean, 4.0);
  EXPECT_EQ(standings[1].shape_class, ShapeClass::kTiny);
  EXPECT_EQ(standings[1].problems, 2);
  EXPECT_DOUBLE_EQ(standings[1].geometric_mean, 1.0);
  EXPECT_DOUBLE_EQ(standings[1].minimum, 0.5);
  EXPECT_EQ(standings[1].wins, 1);
  EXPECT_EQ(standings[1].losses, 1);
  EXPECT_EQ(standings[2].shape_class, ShapeClass::kLarge);
  EXPECT_EQ(standings[1].clear_wins, 1);
  EXPECT_EQ(standings[1].clear_losses, 1);
  EXPECT_EQ(standings[2].wins, 1) << "1.005x";
  EXPECT_EQ(standings[2].clear_wins, 0) << "the interval reaches down to 0.995";
  EXPECT_EQ(standings[2].losses, 0);
}

TEST(Standings, WhereMediansAloneWereRecordedNothingIsClear) {
  Trial win = Measured({64, 64, 64}, Protocol::kScreen, 1000, 2, 3),
        loss = Measured({64, 64, 128}, Protocol::kScreen, 1000, 0.5, 3);
  for (Trial* trial : {&win, &loss})
    for (Comparison& comparison : trial->outcome.comparisons) comparison.ratio.interval = {};
  const std::vector<Standing> standings = StandingsOf({win, loss});
  ASSERT_EQ(standings.size(), 1u);
  EXPECT_EQ(standings[0].wins, 1);
  EXPECT_EQ(standings[0].losses, 1);
  EXPECT_EQ(standings[0].clear_wins, 0);
  EXPECT_EQ(standings[0].clear_losses, 0);
}

TEST(Standings, TotalsHoldEveryClassOfTheGridAndNothingElse) {
  const std::vector<Standing> totals = TotalsOf({Measured({64, 64, 64}, Protocol::kShort, 1000, 4, 5),
                                                 Measured({8192, 8192, 8192}, Protocol::kScreen, 1e9, 1, 2),
                                                 Measured({65, 64, 64}, Protocol::kScreen, 1000, 9, 9)});
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].layout, kTn);
  EXPECT_EQ(totals[0].problems, 2);
  EXPECT_DOUBLE_EQ(totals[0].geometric_mean, 2.0);
  EXPECT_DOUBLE_EQ(totals[0].minimum, 1.0);
}

TEST(Standings, TimesInChainsAreAFigureOfTheirOwn) {
  Trial chained = Measured({64, 64, 64}, Protocol::kShort, 1000, 2, 3);
  Outcome& outcome = chained.outcome;
  outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceChained, .median_ns = 500});
  outcome.timings.push_back({.contender = "lt_auto_nn", .clock = Clock::kDevice, .median_ns = 2000});
  outcome.timings.push_back({.contender = "lt_auto_tn", .clock = Clock::kDevice, .median_ns = 3000});
  outcome.comparisons.push_back({"lt_auto_nn", Clock::kDeviceChained, {4, 4, {3.9, 4.1}, 10}});
  const std::vector<Standing> standings = StandingsOf({chained, Measured({64, 64, 128}, Protocol::kShort, 1000, 2, 2)});
  ASSERT_EQ(standings.size(), 1u);
  EXPECT_DOUBLE_EQ(standings[0].geometric_mean, 2.0);
  EXPECT_EQ(standings[0].problems, 2);
  EXPECT_EQ(standings[0].chained_problems, 1);
  EXPECT_DOUBLE_EQ(standings[0].chained_mean, 4.0);
}

TEST(Standings, AHeatTellsMoreThanAScreenAndLessThanAShort) {
  const Shape shape{64, 64, 64};
  const Trial screen = Measured(shape, Protocol::kScreen, 900, 5, 5),
              heat = Measured(shape, Protocol::kHeat, 950, 4, 4),
              careful = Measured(shape, Protocol::kShort, 1000, 3, 3);
  EXPECT_DOUBLE_EQ(StandingsOf({heat, screen})[0].geometric_mean, 4);
  EXPECT_DOUBLE_EQ(StandingsOf({screen, careful, heat})[0].geometric_mean, 3);
}

TEST(Trial, DecidesInChainsWhereBIsConstantAndTheKernelChains) {
  Trial trial = Measured({16, 4096, 4096}, Protocol::kShort, 1000, 2, 3);
  trial.outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceChained, .median_ns = 800});
  EXPECT_EQ(trial.DecidingNs(), 1000);
  trial.gemm.kind.constant_b = true;
  EXPECT_EQ(trial.DecidingNs(), 800);
  trial.outcome.timings.pop_back();
  EXPECT_EQ(trial.DecidingNs(), 1000);
}

TEST(RankedTime, TheRingBeatsRepeatedCallsHoweverCareful) {
  const RankedTime repeated{Clock::kDevice, Protocol::kShort, 100}, ring{Clock::kDeviceCold, Protocol::kScreen, 200},
      careful{Clock::kDeviceCold, Protocol::kShort, 300}, faster{Clock::kDeviceCold, Protocol::kShort, 250};
  EXPECT_TRUE(ring.Beats(repeated));
  EXPECT_FALSE(repeated.Beats(ring));
  EXPECT_TRUE(careful.Beats(ring));
  EXPECT_TRUE(faster.Beats(careful));
  EXPECT_FALSE(careful.Beats(careful));
}

TEST(Standings, OfNothingAreNone) { EXPECT_TRUE(StandingsOf({}).empty()); }

}  // namespace
}  // namespace gemmsmith
