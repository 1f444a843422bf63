#include "policy/train/grpo.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "base/files.h"
#include "policy/train/fake_trainer.h"
#include "policy/train/trainer_library.h"
#include "policy/train/training_log.h"
#include "program/cost.h"
#include "program/legality.h"

namespace gemmsmith {
namespace {

// Direct plans of one problem, the faster the more warps split K; one in nine is wrong.
std::vector<Trial> SomeTrials() {
  std::vector<Trial> trials;
  for (const int warps_k : {1, 2, 4, 8, 16}) {
    for (const int tile_n : {8, 16, 32, 64}) {
      Trial trial = ExampleTrial(0);
      Plan plan = DefaultPlan(FamilyId::kDirect);
      plan.Set("warps_k", warps_k), plan.Set("tile_n", tile_n);
      trial.subject = plan;
      trial.outcome = {};
      trial.outcome.kind = trials.size() % 9 == 8 ? OutcomeKind::kWrong : OutcomeKind::kMeasured;
      if (trial.outcome.kind == OutcomeKind::kMeasured)
        trial.outcome.timings = {{.contender = "ours", .median_ns = 4000.0 / warps_k + tile_n},
                                 {.contender = "lt_auto_nn", .median_ns = 2000},
                                 {.contender = "lt_auto_tn", .median_ns = 2000}};
      trials.push_back(trial);
    }
  }
  return trials;
}

TEST(RecordedRewardsTest, ProblemsHaveTheRewardsOfTheirPlans) {
  const std::vector<RecordedProblem> problems = RecordedProblems(SomeTrials(), {}, {});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].space->size(), 20u);
  EXPECT_EQ(problems[0].variants.size(), 20u);
  int wrong = 0;
  for (const auto& [plan, recorded] : problems[0].plans) {
    EXPECT_TRUE(problems[0].space->Contains(plan));
    wrong += recorded.kind == OutcomeKind::kWrong && recorded.reward == -0.5 ? 1 : 0;
  }
  EXPECT_EQ(wrong, 2);
  EXPECT_TRUE(RecordedProblems(SomeTrials(), {.sizes = {problems[0].gemm.shape.k}}, {}).empty());
}

TEST(RecordedRewardsTest, PlansThatWereNotRecordedHaveAGradeWhereTheyAreIllegalAndElseNothing) {
  const RecordedProblem problem = std::move(RecordedProblems(SomeTrials(), {}, {})[0]);
  const Plan recorded = problem.space->plans()[0];
  EXPECT_EQ(problem.Judge(recorded)->reward, problem.plans.at(recorded).reward);
  Plan legal = DefaultPlan(FamilyId::kDirect);
  legal.Set("tile_m", 32);
  ASSERT_TRUE(IsLegal(legal, problem.gemm, problem.device));
  EXPECT_FALSE(problem.Judge(legal));
  Plan illegal = DefaultPlan(FamilyId::kDirect);
  illegal.Set("warps_k", 16), illegal.Set("warps_m", 4);
  ASSERT_FALSE(IsLegal(illegal, problem.gemm, problem.device));
  EXPECT_EQ(problem.Judge(illegal)->kind, OutcomeKind::kIllegal);
  EXPECT_EQ(problem.Judge(illegal)->reward, -1);
}

class GrpoTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::unique_ptr<Trainer>* trainer : {&trainer_, &reference_}) {
      Result<std::unique_ptr<Trainer>> opened = OpenTorchTrainer(SmallConfig(), "cpu");
      if (!opened.ok()) GTEST_SKIP() << opened.status().message();
      *trainer = *std::move(opened);
    }
  }

  Status Learn(const std::filesystem::path& folder, const GrpoOptions& options, int stop_after = 1000) {
    int steps = 0;
    return LearnByReward(RecordedProblems(SomeTrials(), {}, {}), NewModel(SmallConfig(), 1), options,
                         *MakeRecordedJudge(), *trainer_, *reference_, folder,
                         {.stop = [&] { return steps >= stop_after; },
                          .watch = [&](int64_t, std::optional<double>) { ++steps; },
                          .note = [](const std::string&) {}});
  }

  std::unique_ptr<Trainer> trainer_, reference_;
};

// No torch: nothing is learned, but plans are drawn and judged.
TEST(GrpoMaskTest, WithoutTheMaskIllegalPlansAreDrawnAndTheWeightsSaySo) {
  for (const bool masked : {true, false}) {
    FakeTrainer trainer, reference;
    const TemporaryFolder folder = *TemporaryFolder::Create("grpo");
    PolicyModel begin = NewModel(SmallConfig(), 1);
    begin.ablations.counters = true;
    const Status learned = LearnByReward(
        RecordedProblems(SomeTrials(), {}, {}), begin, {.steps = 3, .problems = 2, .ablations = {.mask = !masked}},
        *MakeRecordedJudge(), trainer, reference, folder.path(),
        {.stop = [] { return false; }, .watch = [](int64_t, std::optional<double>) {}, .note = nullptr});
    ASSERT_TRUE(learned.ok()) << learned.message();
    for (const nlohmann::ordered_json& line : ReadLog(folder.path())) {
      EXPECT_EQ(line["legal"] == 1.0, masked) << line;
      EXPECT_TRUE(!masked || line["missed"] == 0.0) << line;
      EXPECT_TRUE(masked || line["reward"] < 0.0) << line;
    }
    const Ablations ablations = ReadModel(folder.path() / "weights.safetensors")->ablations;
    EXPECT_EQ(Print(ablations), masked ? "counters" : "counters,mask");
  }
}

// Nor here. Every plan takes as long as it is predicted to take.
TEST(GrpoPriorTest, WhatIsDrawnFirstIsWhatIsPredictedToBeFast) {
  std::vector<Trial> trials = SomeTrials();
  for (Trial& trial : trials)
    if (!trial.outcome.timings.empty())
      trial.outcome.timings[0].median_ns = PredictTimeNs(trial.plan(), trial.gemm, KnownDevices()[0]);
  const auto speed_up = [&](const Ablations& ablations) {
    FakeTrainer trainer, reference;
    const TemporaryFolder folder = *TemporaryFolder::Create("grpo");
    const Status learned =
        LearnByReward(RecordedProblems(trials, {}, {}), NewModel(SmallConfig(), 1),
                      {.steps = 1, .ablations = ablations}, *MakeRecordedJudge(), trainer, reference, folder.path(),
                      {.stop = [] { return false; }, .watch = [](int64_t, std::optional<double>) {}, .note = nullptr});
    EXPECT_TRUE(learned.ok()) << learned.message();
    return ReadLog(folder.path())[0]["speedup"].get<double>();
  };
  EXPECT_GT(speed_up({}), 1.05 * speed_up({.prior = true}));
}

TEST_F(GrpoTest, LearnsWhichPlansAreFast) {
  const TemporaryFolder folder = *TemporaryFolder::Create("grpo");
  // Times of no GPU: what is predicted is far from them.
  const Status learned =
      Learn(folder.path(), {.steps = 40, .problems = 2, .learning_rate = 1e-2, .ablations = {.prior = true}});
  ASSERT_TRUE(learned.ok()) << learned.message();
  const std::vector<nlohmann::ordered_json> lines = ReadLog(folder.path());
  ASSERT_EQ(lines.size(), 40u);
  EXPECT_LT(lines[0]["reward"].get<double>(), 0.6);
  EXPECT_GT(lines[39]["reward"].get<double>(), 1.2);
  EXPECT_GT(lines[39]["speedup"].get<double>(), 2 * lines[0]["speedup"].get<double>());
  EXPECT_GT(lines[39]["kl"].get<double>(), 0);
  EXPECT_EQ(lines[0]["completions/mean_length"], 11);
  EXPECT_TRUE(ReadModel(folder.path() / "weights.safetensors").ok());
}

TEST_F(GrpoTest, AStoppedRunEndsAsOneThatWasNot) {
  const GrpoOptions options{.steps = 8, .problems = 2, .group = 4, .learning_rate = 1e-2};
  const TemporaryFolder whole = *TemporaryFolder::Create("grpo"), parts = *TemporaryFolder::Create("grpo");
  ASSERT_TRUE(Learn(whole.path(), options).ok());
  ASSERT_TRUE(Learn(parts.path(), options, 5).ok());
  ASSERT_TRUE(Learn(parts.path(), options).ok());
  for (const char* file : {"weights.safetensors", "log.jsonl"})
    EXPECT_EQ(*ReadFile(whole.path() / file), *ReadFile(parts.path() / file)) << file;
}

TEST_F(GrpoTest, TheWeightOfTheKlHoldsThePolicyBack) {
  double kl[2];
  for (const int heavy : {0, 1}) {
    const TemporaryFolder folder = *TemporaryFolder::Create("grpo");
    ASSERT_TRUE(
        Learn(folder.path(),
              {.steps = 30, .problems = 1, .learning_rate = 1e-2, .policy = {.kl_weight = heavy == 1 ? 10.0 : 0.0}})
            .ok());
    kl[heavy] = ReadLog(folder.path()).back()["kl"];
  }
  EXPECT_LT(kl[1], 0.2 * kl[0]);
}

}  // namespace
}  // namespace gemmsmith
