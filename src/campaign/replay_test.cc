// Campaigns over records: nothing is compiled, and not everything has an answer.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/hash.h"
#include "campaign/campaign_fixture.h"

namespace gemmsmith {
namespace {

TEST_F(CampaignTest, SameSeedWithoutACompilerJudgesInTheSameOrder) {
  with_compiler = false;
  ASSERT_TRUE(RunWith(nullptr, 20).ok());
  const std::vector<EvaluationRequest> first = std::exchange(evaluator.requests, {});
  ASSERT_TRUE(RunWith(nullptr, 20).ok());
  ASSERT_EQ(first.size(), evaluator.requests.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].subject, evaluator.requests[i].subject);
}

TEST_F(CampaignTest, MissesCostNoBudgetAndAreNotStored) {
  with_compiler = false;
  evaluator.judge = [](const EvaluationRequest& request) -> Result<Outcome> {
    if (HashBytes(Print(request.plan())).low % 2 == 0) return NotFound("no record");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWith(store.archive.get(), 10);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->evaluations, 10);
  EXPECT_GT(result->misses, 0);
  EXPECT_EQ(int(evaluator.requests.size()), 10 + result->misses);
  EXPECT_EQ(store.Trials().size(), 10u);
}

// A recording that holds the screening of every plan, and nothing more careful.
TEST_F(CampaignTest, StagesThatARecordLacksAreLeftOutAndTheScreeningDecides) {
  with_compiler = false;
  options.finalists = 4;
  evaluator.judge = [](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.protocol != Protocol::kScreen) return NotFound("no record");
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  const Result<ProblemResult> result = RunWhole();
  ASSERT_TRUE(result.ok() && result->best);
  EXPECT_TRUE(result->complete);
  EXPECT_EQ(result->best->plan(), Fastest());
  EXPECT_EQ(result->best->outcome.protocol, Protocol::kScreen);
  EXPECT_EQ(result->misses, 0) << "only proposals without a record are";
  EXPECT_EQ(store.Trials().size(), space.size());
}

TEST_F(CampaignTest, AMoreCarefulAnswerThanAskedForCountsForWhatItIs) {
  with_compiler = false;
  options.finalists = 4;
  evaluator.judge = [](const EvaluationRequest& request) {
    return MeasuredIn(SomeTimeNs(request.plan()), Protocol::kShort);
  };
  const Result<ProblemResult> first = RunWith(store.archive.get(), 30);
  ASSERT_TRUE(first.ok() && first->best);
  EXPECT_EQ(first->evaluations, 30);
  EXPECT_EQ(CountTrials(Protocol::kShort), 30);
  const Result<ProblemResult> second = RunWith(store.archive.get(), 30);
  EXPECT_EQ(second->resumed, 30);
  EXPECT_EQ(second->evaluations, 0);
  EXPECT_EQ(second->best->plan(), first->best->plan());
}

}  // namespace
}  // namespace gemmsmith
