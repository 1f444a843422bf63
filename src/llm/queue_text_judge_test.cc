#include "llm/queue_text_judge.h"

#include <gtest/gtest.h>

#include "llm/fake_writer.h"

namespace gemmsmith {
namespace {

Result<std::vector<std::vector<JudgedText>>> JudgeFates(const std::vector<std::vector<std::string>>& fates) {
  std::vector<WrittenTexts> written;
  for (const std::vector<std::string>& problem : fates) {
    written.push_back({.gemm = {.shape = {64, 64, 64}}});
    for (const std::string& fate : problem) written.back().sources.push_back(SourceThat(fate));
  }
  FakeSourceJudge judge;
  QueueTextJudge texts(judge, "fake");
  Result<std::vector<std::vector<JudgedText>>> judged = texts.Judge(written);
  for (const Protocol protocol : judge.protocols()) EXPECT_EQ(protocol, Protocol::kScreen);
  return judged;
}

TEST(QueueTextJudge, AMeasuredKernelIsWorthItsSpeedUpAndOthersTheirGrade) {
  const auto judged = JudgeFates({{"takes 500", "is wrong"}, {}, {"takes 2000"}});
  ASSERT_TRUE(judged.ok()) << judged.status().message();
  ASSERT_EQ(judged->size(), 3u);
  ASSERT_EQ((*judged)[0].size(), 2u);
  EXPECT_EQ((*judged)[0][0].reward, 2);
  EXPECT_EQ((*judged)[0][0].speed_up, 2);
  EXPECT_EQ((*judged)[0][0].kind, OutcomeKind::kMeasured);
  EXPECT_EQ((*judged)[0][0].time_ns, 500);
  EXPECT_EQ((*judged)[0][1].time_ns, std::nullopt);
  EXPECT_EQ((*judged)[0][1].reward, -0.9);
  EXPECT_EQ((*judged)[0][1].kind, OutcomeKind::kCompileFailed);
  EXPECT_TRUE((*judged)[1].empty());
  EXPECT_EQ((*judged)[2][0].reward, 0.5);
}

TEST(QueueTextJudge, AFailureOfTheMachineIsNoReward) {
  EXPECT_EQ(JudgeFates({{"takes 500", "fails"}}).status().code(), StatusCode::kUnavailable);
}

TEST(QueueTextJudge, AKernelThatNoGpuTimedHasNoReward) {
  EXPECT_EQ(JudgeFates({{"untimed"}}).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace gemmsmith
