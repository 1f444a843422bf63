#include "policy/train/imitation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "base/files.h"
#include "policy/train/fake_trainer.h"
#include "policy/train/trainer_library.h"
#include "policy/train/training_log.h"
#include "policy/vocabulary.h"
#include "program/cost.h"

namespace gemmsmith {
namespace {

// Direct plans of two problems; the less warps split K, the faster, whatever is predicted.
std::vector<RecordedProblem> ImitatedProblems() {
  std::vector<Trial> trials;
  for (const int m : {256, 1024})
    for (const int warps_k : {1, 2, 4, 8, 16})
      for (const int tile_n : {8, 16, 32, 64}) {
        Trial trial = ExampleTrial(0);
        trial.gemm.shape.m = m;
        Plan plan = DefaultPlan(FamilyId::kDirect);
        plan.Set("warps_k", warps_k), plan.Set("tile_n", tile_n);
        trial.subject = plan;
        trial.outcome = {};
        trial.outcome.kind = OutcomeKind::kMeasured;
        trial.outcome.timings = {{.contender = "ours", .median_ns = 4000.0 * warps_k + tile_n},
                                 {.contender = "lt_auto_nn", .median_ns = 2000},
                                 {.contender = "lt_auto_tn", .median_ns = 2000}};
        trials.push_back(trial);
      }
  return RecordedProblems(trials, {}, {});
}

Status ImitateSome(Trainer& trainer, const std::filesystem::path& folder, const ImitationOptions& options,
                   int stop_after = 1000) {
  int steps = 0;
  const std::vector<RecordedProblem> problems = ImitatedProblems();
  return Imitate(problems, problems, NewModel(SmallConfig(), 1), options, trainer, folder,
                 {.stop = [&] { return steps >= stop_after; },
                  .watch = [&](int64_t, std::optional<double>) { ++steps; },
                  .note = [](const std::string&) {}});
}

TEST(ImitationTest, LogsWhatThePriorAloneHasAndTheWeightsSayWhatWasLeftOut) {
  FakeTrainer trainer;
  const TemporaryFolder folder = *TemporaryFolder::Create("imitation");
  ASSERT_TRUE(ImitateSome(trainer, folder.path(),
                          {.steps = 6, .problems = 2, .validate_every = 3, .ablations = {.contrast = true}})
                  .ok());
  const std::vector<nlohmann::ordered_json> lines = ReadLog(folder.path());
  ASSERT_EQ(lines.size(), 6u);
  for (const nlohmann::ordered_json& line : lines) {
    EXPECT_GT(line["prior_loss"].get<double>(), 0);
    EXPECT_EQ(line.contains("validation_prior_loss"), line["step"] == 3 || line["step"] == 6);
  }
  EXPECT_EQ(Print(ReadModel(folder.path() / "weights.safetensors")->ablations), "contrast");
}

TEST(ImitationTest, WithoutThePriorAllPlansAreAlikeToIt) {
  double losses[2];
  for (const bool is_ablated : {false, true}) {
    FakeTrainer trainer;
    const TemporaryFolder folder = *TemporaryFolder::Create("imitation");
    ASSERT_TRUE(ImitateSome(trainer, folder.path(), {.steps = 1, .ablations = {.prior = is_ablated}}).ok());
    losses[is_ablated] = ReadLog(folder.path())[0]["prior_loss"];
  }
  EXPECT_LT(losses[true], 4) << "twenty plans, with a choice at each of two axes";
  EXPECT_GT(losses[false], losses[true]) << "what is predicted is wrong here";
}

TEST(ImitationTest, NothingToImitateIsRefused) {
  FakeTrainer trainer;
  const TemporaryFolder folder = *TemporaryFolder::Create("imitation");
  const Status status = Imitate({}, {}, NewModel(SmallConfig(), 1), {}, trainer, folder.path(), {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("no problem to imitate")) << status.message();
}

TEST(ImitationTest, WithTorchItLearnsTheBestPlansAndAStoppedRunEndsAsOneThatWasNot) {
  Result<std::unique_ptr<Trainer>> trainer = OpenTorchTrainer(SmallConfig(), "cpu");
  if (!trainer.ok()) GTEST_SKIP() << trainer.status().message();
  ImitationOptions options{.steps = 60, .problems = 2, .learning_rate = 1e-2, .warm_up = 5, .validate_every = 20};
  options.ablations.prior = true;  // it is hopelessly wrong here
  const TemporaryFolder whole = *TemporaryFolder::Create("imitation"), parts = *TemporaryFolder::Create("imitation");
  ASSERT_TRUE(ImitateSome(**trainer, whole.path(), options).ok());
  ASSERT_TRUE(ImitateSome(**trainer, parts.path(), options, 25).ok());
  ASSERT_TRUE(ImitateSome(**trainer, parts.path(), options).ok());
  for (const char* file : {"weights.safetensors", "log.jsonl"})
    EXPECT_EQ(*ReadFile(whole.path() / file), *ReadFile(parts.path() / file)) << file;
  const nlohmann::ordered_json last = ReadLog(whole.path()).back();
  EXPECT_LT(last["validation_loss"].get<double>(), 0.6 * last["validation_prior_loss"].get<double>());
}

}  // namespace
}  // namespace gemmsmith
