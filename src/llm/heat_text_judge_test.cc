#include "llm/heat_text_judge.h"

#include <gtest/gtest.h>

#include "llm/racing_judge.h"

namespace gemmsmith {
namespace {

const WrittenTexts kSmall{{.shape = {64, 64, 64}}, {"fast too", "fast", "ends"}},
    kLarge{{.shape = {128, 64, 64}}, {"fast"}};

TEST(HeatTextJudge, RacesEachProblemByItself) {
  RacingJudge racing(2);
  HeatTextJudge judge(racing, "fake", [] { return false; });
  const WrittenTexts written[] = {kSmall, kLarge, {{.shape = {8, 8, 8}}, {"ends"}}};
  const auto judged = judge.Judge(written);
  ASSERT_TRUE(judged.ok()) << judged.status().message();
  EXPECT_FALSE(racing.mixed_);
  EXPECT_EQ(racing.timed_, 3);
  ASSERT_EQ((*judged)[0].size(), 3u);
  EXPECT_EQ((*judged)[0][1].speed_up, 1.5);
  EXPECT_EQ((*judged)[0][2].kind, OutcomeKind::kWrong);
  EXPECT_EQ((*judged)[0][2].speed_up, std::nullopt);
  EXPECT_EQ((*judged)[1][0].speed_up, 1.5);
  EXPECT_EQ((*judged)[2][0].kind, OutcomeKind::kWrong);
}

TEST(HeatTextJudge, AStopLeavesTheOtherProblemsOut) {
  RacingJudge racing;
  HeatTextJudge judge(racing, "fake", [&] { return racing.timed_ > 0; });
  const WrittenTexts written[] = {kLarge, kSmall};
  const auto judged = judge.Judge(written);
  ASSERT_TRUE(judged.ok()) << judged.status().message();
  EXPECT_EQ((*judged)[0].size(), 1u);
  EXPECT_TRUE((*judged)[1].empty());
}

TEST(HeatTextJudge, AFailureOfTheMachineIsNoVerdict) {
  RacingJudge racing;
  HeatTextJudge judge(racing, "fake", [] { return false; });
  const WrittenTexts written[] = {{{.shape = {64, 64, 64}}, {"fast", "fails"}}};
  EXPECT_EQ(judge.Judge(written).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace gemmsmith
