#include "campaign/live_judge.h"

#include <gtest/gtest.h>

#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

class LiveJudgeTest : public testing::Test {
 protected:
  void SetUp() override {
    problem_.gemm = SomeGemm();
    problem_.device = SomeDevice();
    problem_.space = std::make_shared<Space>(plans_);
    evaluator_.judge = [](const EvaluationRequest& request) {
      Outcome outcome = MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
      outcome.timings.push_back({.contender = "lt_auto_tn", .clock = Clock::kDeviceCold, .median_ns = 50'000});
      return outcome;
    };
  }

  std::unique_ptr<LiveJudge> Open() {
    return *LiveJudge::Open({.campaign = "train", .compile_threads = 2}, evaluator_, &compiler_, *archive_);
  }
  Result<std::vector<JudgedPlans>> Judge(LiveJudge& judge, std::vector<Plan> plans) {
    const std::vector<DrawnPlans> drawn = {{&problem_, std::move(plans)}};
    return judge.Judge(drawn);
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("live_judge");
  const std::unique_ptr<Archive> archive_ = *Archive::Open(folder_.path() / "archive.sqlite");
  const std::vector<Plan> plans_ = SomePlans(20);
  RecordedProblem problem_;
  FakeEvaluator evaluator_;
  FakeCompiler compiler_;
};

TEST_F(LiveJudgeTest, MeasuresEachPlanOnce) {
  const std::unique_ptr<LiveJudge> judge = Open();
  const auto first = Judge(*judge, {plans_[0], plans_[1], plans_[0]});
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(evaluator_.requests.size(), 2u);
  for (const EvaluationRequest& request : evaluator_.requests) EXPECT_EQ(request.protocol, Protocol::kScreen);
  const JudgedPlans& judged = first->front();
  ASSERT_EQ(judged.size(), 3u);
  ASSERT_TRUE(judged[0] && judged[1] && judged[2]);
  EXPECT_EQ(judged[0]->kind, OutcomeKind::kMeasured);
  EXPECT_NEAR(*judged[0]->speed_up, 50'000 / SomeTimeNs(plans_[0]), 1e-3);
  EXPECT_EQ(judged[0]->reward, judged[2]->reward);
  EXPECT_GT(judged[SomeTimeNs(plans_[0]) < SomeTimeNs(plans_[1]) ? 0 : 1]->reward,
            judged[SomeTimeNs(plans_[0]) < SomeTimeNs(plans_[1]) ? 1 : 0]->reward);
  ASSERT_TRUE(Judge(*judge, {plans_[1], plans_[2]}).ok());
  EXPECT_EQ(evaluator_.requests.size(), 3u);
  EXPECT_EQ(judge->evaluations(), 3);
}

TEST_F(LiveJudgeTest, WhatWasMeasuredBeforeAnInterruptionIsKnown) {
  const auto before = Judge(*Open(), {plans_[0], plans_[1]});
  const std::unique_ptr<LiveJudge> judge = Open();
  EXPECT_EQ(judge->evaluations(), 2);
  const auto after = Judge(*judge, {plans_[0], plans_[1]});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(evaluator_.requests.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(after->front()[i]->reward, before->front()[i]->reward, 1e-6);
}

TEST_F(LiveJudgeTest, WhatCannotBeMeasuredHasTheGradeOfItsStage) {
  Plan illegal = DefaultPlan(FamilyId::kDirect);
  illegal.Set("warps_k", 16), illegal.Set("warps_m", 4);
  ASSERT_FALSE(IsLegal(illegal, problem_.gemm, problem_.device));
  evaluator_.judge = [](const EvaluationRequest& request) {
    Outcome outcome;
    outcome.kind = OutcomeKind::kWrong;
    outcome.protocol = request.protocol;
    return outcome;
  };
  const auto judged = Judge(*Open(), {illegal, plans_[0]});
  ASSERT_TRUE(judged.ok()) << judged.status().message();
  EXPECT_EQ(judged->front()[0]->kind, OutcomeKind::kIllegal);
  EXPECT_EQ(judged->front()[0]->reward, -1);
  EXPECT_EQ(judged->front()[1]->reward, -0.5);
  EXPECT_EQ(evaluator_.requests.size(), 1u) << "an illegal plan never reaches the GPU";
}

TEST_F(LiveJudgeTest, OfAPlanThatNoBaselineRacedBesideNobodyKnowsTheWorth) {
  evaluator_.judge = [](const EvaluationRequest& request) { return MeasuredIn(1000, request.protocol); };
  const auto judged = Judge(*Open(), {plans_[0]});
  ASSERT_TRUE(judged.ok());
  EXPECT_FALSE(judged->front()[0]);
}

TEST_F(LiveJudgeTest, WhereTheWorldFailsNothingOfTheStepCountsAndTheNextOneGoesOn) {
  const std::unique_ptr<LiveJudge> judge = Open();
  const auto judges = evaluator_.judge;
  evaluator_.judge = [](const EvaluationRequest&) -> Result<Outcome> { return Unavailable("the GPU is gone"); };
  EXPECT_EQ(Judge(*judge, {plans_[0], plans_[1]}).status().message(), "the GPU is gone");
  EXPECT_EQ(judge->evaluations(), 0);
  evaluator_.judge = judges;
  const auto judged = Judge(*judge, {plans_[2], plans_[0]});
  ASSERT_TRUE(judged.ok()) << judged.status().message();
  EXPECT_TRUE(judged->front()[0] && judged->front()[1]);
}

TEST_F(LiveJudgeTest, LetsThePolicyChooseFromAllThatASearchWould) {
  const std::unique_ptr<LiveJudge> judge = Open();
  const RecordedProblem* const twice[] = {&problem_, &problem_};
  const auto spaces = judge->SpacesOf(twice);
  ASSERT_EQ(spaces.size(), 2u);
  const std::shared_ptr<const Space>& space = spaces.front();
  for (const Plan& plan : plans_) EXPECT_TRUE(space->Contains(plan));
  for (const Plan& plan : RankedPlans(problem_.gemm, problem_.device, kLiveSpaceSize))
    EXPECT_TRUE(space->Contains(plan));
  EXPECT_EQ(spaces.back(), space) << "made once";
  EXPECT_EQ(judge->SpacesOf(twice).front(), space) << "and kept";
}

}  // namespace
}  // namespace gemmsmith
