#include "report/duel.h"

#include <gtest/gtest.h>

#include "archive/example_trials.h"

namespace gemmsmith {
namespace {

constexpr Shape kTiny{64, 64, 64}, kUpper{2048, 2048, 2048};

Plan Staged(int stages, std::string_view more = "") {
  return *ParsePlan("wgmma stages=" + std::to_string(stages) + std::string(more));
}

Trial Timed(const Plan& plan, double time_ns, const Shape& shape, Layout layout = kTn,
            Protocol protocol = Protocol::kShort) {
  Trial trial = ExampleTimed(plan, shape, time_ns);
  trial.gemm.kind.layout = layout;
  trial.outcome.protocol = protocol;
  return trial;
}

DuelSide Side(std::string name, const Races& races, const std::vector<Trial>& trials) {
  DuelSide side(std::move(name));
  for (const Trial& trial : trials) side.Take(trial, races);
  return side;
}

TEST(Races, OfAProblemTheMostCarefulProtocolCountsAndOfAPlanTheLatestTrial) {
  Trial late = Timed(Staged(3), 70, kTiny);
  late.unix_ms += 1;
  const Races races = *Races::Of(std::vector{late, Timed(Staged(3), 100, kTiny), Timed(Staged(4), 90, kTiny),
                                             Timed(Staged(4), 50, kTiny, kTn, Protocol::kHeat),
                                             Timed(Staged(5), 40, kTiny, kTn, Protocol::kScreen)});
  const Gemm gemm{.shape = kTiny};
  EXPECT_EQ(races.TimeNs(gemm, Staged(3)), 70);
  EXPECT_EQ(races.TimeNs(gemm, Staged(4)), 90);
  EXPECT_EQ(races.TimeNs(gemm, Staged(5)), std::nullopt);
  EXPECT_EQ(races.FastestNs(gemm), 70);
}

TEST(Races, AreOfOneDeviceModelAndOfSomething) {
  Trial other = Timed(Staged(3), 100, kTiny);
  other.setting.device_key = "h100";
  EXPECT_EQ(Races::Of(std::vector{Timed(Staged(4), 1, kTiny), other}).status().message(),
            "these are races of several device models, of 'h200' and 'h100'");
  EXPECT_EQ(Races::Of({}).status().message(), "no plan was timed in these races");
}

TEST(Duel, TimesAreThoseOfTheRaceAndWinnersThoseOfTheSides) {
  const Races races =
      *Races::Of(std::vector{Timed(Staged(3), 100, kTiny), Timed(Staged(4), 80, kTiny), Timed(Staged(5), 90, kTiny)});
  // What each side saw by itself is of another run: only who won there counts.
  const std::vector<DuelSide> sides = {Side("sweep", races, {Timed(Staged(3), 70, kTiny), Timed(Staged(5), 75, kTiny)}),
                                       Side("policy", races, {Timed(Staged(4), 500, kTiny)})};
  const std::vector<DuelRow> rows = *Duel(races, sides);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0].of_fastest, 0.8);
  EXPECT_EQ(rows[0].untried, 0);
  EXPECT_DOUBLE_EQ(rows[1].of_fastest, 1);
  EXPECT_DOUBLE_EQ(rows[1].mean, 1.25);
  EXPECT_EQ(rows[1].untried, 1);
}

TEST(Duel, OfAShapeTheFasterLayoutThatBothRacedCounts) {
  const Races races = *Races::Of(std::vector{Timed(Staged(3), 100, kUpper, kNn), Timed(Staged(4), 99, kUpper, kNn),
                                             Timed(Staged(3), 110, kUpper), Timed(Staged(4), 96, kUpper),
                                             Timed(Staged(3), 10, kTiny), Timed(Staged(4), 9, kTiny, kNn)});
  const std::vector<DuelSide> sides = {
      Side("sweep", races, {Timed(Staged(3), 1, kUpper, kNn), Timed(Staged(3), 1, kUpper), Timed(Staged(3), 1, kTiny)}),
      Side("policy", races,
           {Timed(Staged(4), 1, kUpper, kNn), Timed(Staged(3), 1, kUpper), Timed(Staged(4), 1, kTiny, kNn)})};
  const DuelRow row = Duel(races, sides)->at(1);
  EXPECT_EQ(row.problems, 3);
  EXPECT_EQ(row.not_raced, 1) << "its winner of tiny in tn";
  EXPECT_EQ(row.shapes, 1) << "nobody else raced for tiny in nn";
  EXPECT_DOUBLE_EQ(row.mean, 100.0 / 99);
  EXPECT_EQ(row.highest_shape, kUpper);
  EXPECT_DOUBLE_EQ(row.of_fastest, (1 + 96.0 / 110 + 1) / 3);
}

TEST(Duel, ATwinOfWhatWasTriedIsNotNew) {
  const Plan twin = Staged(3, " fixed=all"), other = Staged(4, " fixed=all");
  const Races races = *Races::Of(std::vector{Timed(twin, 90, kTiny), Timed(Staged(3), 100, kTiny),
                                             Timed(other, 90, kUpper), Timed(Staged(3), 100, kUpper)});
  const std::vector<DuelSide> sides = {Side("sweep", races, {Timed(Staged(3), 1, kTiny), Timed(Staged(3), 1, kUpper)}),
                                       Side("policy", races, {Timed(twin, 1, kTiny), Timed(other, 1, kUpper)})};
  EXPECT_EQ(Duel(races, sides)->at(1).untried, 1);
}

TEST(Duel, ASideThatRacedWithNobodyIsNamed) {
  const Races races = *Races::Of(std::vector{Timed(Staged(3), 100, kTiny)});
  const std::vector<DuelSide> sides = {Side("sweep", races, {Timed(Staged(3), 100, kTiny)}),
                                       Side("other", races, {Timed(Staged(4), 1, kTiny), Timed(Staged(3), 1, kUpper)})};
  EXPECT_EQ(Duel(races, sides).status().message(), "no winner of 'other' raced with one of 'sweep'");
}

}  // namespace
}  // namespace gemmsmith
