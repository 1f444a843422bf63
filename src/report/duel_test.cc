#include "report/duel.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

constexpr Shape kTiny{64, 64, 64}, kUpper{2048, 2048, 2048};

Plan Staged(int stages) { return *ParsePlan("wgmma stages=" + std::to_string(stages)); }

Trial Timed(int stages, double time_ns, const Shape& shape, Layout layout = kTn, Protocol protocol = Protocol::kShort) {
  Trial trial{.gemm = {.shape = shape, .kind = {.layout = layout}}, .subject = Staged(stages)};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = protocol;
  trial.outcome.timings = {{.contender = "ours", .clock = Clock::kDevice, .median_ns = time_ns}};
  trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
  trial.unix_ms = 1'795'219'200'000;
  return trial;
}

Races RacesOf(const std::vector<Trial>& trials) {
  Races races;
  for (const Trial& trial : trials) races.Take(trial);
  return races;
}

DuelSide Side(std::string name, const Races& races, const std::vector<Trial>& trials) {
  DuelSide side(std::move(name), races);
  for (const Trial& trial : trials) side.Take(trial);
  return side;
}

TEST(Duel, TimesAreThoseOfTheRaceAndWinnersThoseOfTheSides) {
  const Races races = RacesOf({Timed(3, 100, kTiny), Timed(4, 80, kTiny), Timed(5, 90, kTiny)});
  // What each side saw by itself is of another run: only who won there counts.
  const std::vector<DuelSide> sides = {Side("sweep", races, {Timed(3, 70, kTiny), Timed(5, 75, kTiny)}),
                                       Side("policy", races, {Timed(4, 500, kTiny)})};
  const std::vector<DuelRow> rows = *Duel(races, sides);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0].of_fastest, 0.8);
  EXPECT_EQ(rows[0].untried, 0);
  EXPECT_DOUBLE_EQ(rows[1].of_fastest, 1);
  EXPECT_DOUBLE_EQ(rows[1].mean, 1.25);
  EXPECT_EQ(rows[1].faster, 1);
  EXPECT_EQ(rows[1].untried, 1);
}

TEST(Duel, OfAShapeTheFasterLayoutCountsAndTheMostCarefulTrialNamesTheWinner) {
  const Races races = RacesOf({Timed(3, 100, kUpper, kNn), Timed(4, 99, kUpper, kNn), Timed(3, 110, kUpper, kTn),
                               Timed(4, 96, kUpper, kTn), Timed(3, 10, kTiny)});
  const std::vector<DuelSide> sides = {
      Side("sweep", races, {Timed(3, 100, kUpper, kNn), Timed(3, 110, kUpper, kTn), Timed(3, 10, kTiny)}),
      Side("policy", races,
           {Timed(4, 60, kUpper, kNn), Timed(3, 50, kUpper, kNn, Protocol::kScreen), Timed(3, 90, kUpper, kTn)})};
  const std::vector<DuelRow> rows = *Duel(races, sides);
  EXPECT_EQ(rows[1].problems, 2);
  EXPECT_EQ(rows[1].shapes, 1);
  EXPECT_DOUBLE_EQ(rows[1].mean, 100.0 / 99) << "its nn kernel, chosen in the short protocol, beside the sweep's";
  EXPECT_DOUBLE_EQ(rows[1].of_fastest, (1 + 96.0 / 110) / 2);
  EXPECT_EQ(rows[1].near, 1);
  EXPECT_EQ(rows[1].untried, 1);
}

TEST(Duel, ASideWithoutAWinnerInTheRacesIsNamed) {
  const Races races = RacesOf({Timed(3, 100, kTiny)});
  const std::vector<DuelSide> sides = {Side("sweep", races, {Timed(3, 100, kTiny)}),
                                       Side("other", races, {Timed(4, 100, kTiny), Timed(3, 50, kUpper)})};
  EXPECT_EQ(Duel(races, sides).status().message(), "no winner of 'other' is in these races");
}

}  // namespace
}  // namespace gemmsmith
