#include "policy/train/pretraining.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "base/files.h"
#include "base/text.h"
#include "policy/train/event_file.h"
#include "policy/train/fake_trainer.h"
#include "policy/train/learning_rate.h"
#include "policy/train/trainer_library.h"

namespace gemmsmith {
namespace {

PretrainingSet SomeSet(const HeldOut& held_out = {}) { return *PretrainingSet::From(ExampleTrials(1200), held_out); }

PretrainingOptions FewSteps() {
  return {.steps = 10, .batch = 4, .warm_up = 2, .validate_every = 5, .validation_batch = 4};
}

// Stops after so many steps of this call.
Status Train(Trainer& trainer, const std::filesystem::path& folder, int stop_after = 1000,
             const PretrainingOptions& options = FewSteps(), const PretrainingSet& set = SomeSet()) {
  int steps = 0;
  return Pretrain(set, SmallConfig(), options, trainer, folder,
                  {.stop = [&] { return steps >= stop_after; },
                   .watch = [&](int64_t, std::optional<double>) { ++steps; },
                   .note = [](const std::string&) {}});
}

std::string Content(const std::filesystem::path& path) { return *ReadFile(path); }

TEST(PretrainingSetTest, DocumentsAreWholeAndWordsThatAreToldHaveNoWeight) {
  const PretrainingSet set = SomeSet();
  EXPECT_EQ(set.problems(), 60u);
  Random random(1);
  int with_exemplars = 0, with_best_goal = 0;
  for (int i = 0; i < 400; ++i) {
    const Document document = set.Draw({}, random);
    ASSERT_TRUE(document.candidate && document.judged && document.goal);
    for (const Exemplar& exemplar : document.exemplars) EXPECT_NE(exemplar.plan, *document.candidate);
    with_exemplars += document.exemplars.empty() ? 0 : 1;
    with_best_goal += *document.goal == kBestGoal ? 1 : 0;
    const WeightedTokens weighted = WeightedDocument(document);
    const size_t context = EncodeContext(document).size();
    const size_t said = weighted.tokens.size() - context;
    EXPECT_EQ(std::count(weighted.weights.begin() + long(context), weighted.weights.end(), 1.0f), long(said));
    EXPECT_EQ(weighted.weights[context - 1], 0.0f);
    EXPECT_EQ(weighted.weights[0], 0.0f);
    EXPECT_EQ(*Decode(weighted.tokens), Rounded(document));
  }
  EXPECT_GT(with_exemplars, 150);
  EXPECT_GT(with_best_goal, 160);
}

TEST(PretrainingSetTest, WhatIsLeftOutChangesNeitherProblemsNorPlans) {
  const PretrainingSet set = SomeSet();
  for (const Ablations& ablations :
       {Ablations{.contrast = true}, Ablations{.counters = true}, Ablations{.analysis = true}}) {
    Random random(1), same(1);
    int exemplars = 0, counters = 0, analyses = 0;
    for (int i = 0; i < 200; ++i) {
      const Document whole = set.Draw({}, random), document = set.Draw(ablations, same);
      EXPECT_EQ(document.gemm, whole.gemm);
      EXPECT_EQ(document.candidate, whole.candidate);
      EXPECT_EQ(document.judged, whole.judged);
      exemplars += int(document.exemplars.size());
      for (const Exemplar& exemplar : document.exemplars) counters += int(exemplar.judged.counters.size());
      analyses += document.analysis ? 1 : 0;
    }
    EXPECT_EQ(exemplars == 0, ablations.contrast);
    EXPECT_EQ(counters == 0, ablations.contrast || ablations.counters);
    EXPECT_EQ(analyses == 0, ablations.contrast || ablations.analysis);
  }
}

TEST(PretrainingSetTest, TimesAreOfTheMostCarefulTrialAndCountersOfTheLatestThatHasSome) {
  Trial screened = ExampleTrial(0), timed = screened, profiled = screened;
  screened.outcome = {.kind = OutcomeKind::kMeasured, .timings = {{.contender = "ours", .median_ns = 3000}}};
  profiled.outcome = screened.outcome;
  profiled.outcome.counters.emplace();
  (*profiled.outcome.counters)[Counter::kTensorPipe] = 40;
  timed.outcome = screened.outcome;
  timed.outcome.protocol = Protocol::kShort;
  timed.outcome.timings[0].median_ns = 2000;
  const std::vector<Trial> trials = {screened, profiled, timed};
  const TrialsByProblem grouped = GroupTrials(trials);
  const auto& [key, plans] = *grouped.begin();
  const JudgedAs judged = AsJudged(key.second, *FindDevice(key.first), plans.begin()->second);
  EXPECT_DOUBLE_EQ(*judged.score, ScoreOf(key.second, *FindDevice(key.first), 2000));
  ASSERT_EQ(judged.counters.size(), 1u);
  EXPECT_EQ(judged.counters[0].second, 40);
}

TEST(PretrainingSetTest, PlansThatTheWordsCannotSayAreLeftOut) {
  Trial spoken = ExampleTrial(0), last = spoken;
  spoken.subject = *ParsePlan("wgmma schedule=pingpong");
  last.subject = *ParsePlan("wgmma schedule=pingpong trigger=last");
  const std::vector<Trial> trials = {spoken, last};
  const TrialsByProblem grouped = GroupTrials(trials);
  ASSERT_EQ(grouped.size(), 1u);
  EXPECT_EQ(grouped.begin()->second.size(), 1u);
  EXPECT_TRUE(grouped.begin()->second.contains(spoken.plan()));
}

TEST(PretrainingSetTest, ShapesWithAHeldOutSizeAreOnlyValidatedOn) {
  const PretrainingSet set = SomeSet({.sizes = {128}});
  EXPECT_GT(set.held_out_problems(), 0u);
  EXPECT_EQ(set.problems() + set.held_out_problems(), 60u);
  const auto has_it = [](const Shape& shape) { return shape.m == 128 || shape.n == 128 || shape.k == 128; };
  Random random(1);
  int told = 0;
  for (int i = 0; i < 400; ++i) {
    told += has_it(set.Draw({}, random).gemm.shape) ? 1 : 0;
    EXPECT_TRUE(has_it(set.DrawHeldOut({}, random).gemm.shape));
  }
  EXPECT_GT(told, 0) << "of a training shape a size is told an octave away now and then";
  EXPECT_LT(told, 60);
  EXPECT_FALSE(PretrainingSet::From(ExampleTrials(100), {.sizes = {64, 128, 256}}).ok());
  EXPECT_FALSE(PretrainingSet::From({}, {}).ok());
}

TEST(PretrainingTest, ARunThatWasStoppedEndsWithTheSameWeightsAndLogAsOneThatWasNot) {
  const TemporaryFolder whole = *TemporaryFolder::Create("pretraining");
  FakeTrainer trainer;
  ASSERT_TRUE(Train(trainer, whole.path()).ok());
  const std::string weights = Content(whole.path() / "weights.safetensors"), log = Content(whole.path() / "log.jsonl");
  EXPECT_EQ(Split(log, '\n').size(), 11u);
  for (int stop_after = 1; stop_after < 10; ++stop_after) {
    const TemporaryFolder parts = *TemporaryFolder::Create("pretraining");
    for (int call = 0; call * stop_after < 10; ++call) {
      FakeTrainer another;
      ASSERT_TRUE(Train(another, parts.path(), stop_after).ok());
    }
    EXPECT_EQ(Content(parts.path() / "weights.safetensors"), weights) << stop_after;
    EXPECT_EQ(Content(parts.path() / "log.jsonl"), log) << stop_after;
    const std::string file = Content(parts.path() / "events.out.tfevents.gemmsmith");
    const std::vector<FoundEvent> events = FindEvents(file);
    ASSERT_EQ(events.size(), 11u) << stop_after;
    for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].step, int64_t(i));
    EXPECT_EQ(events.back().end, file.size());
  }
}

// kill -9 leaves what the last checkpoint left, and perhaps a longer log.
TEST(PretrainingTest, WhatWasLoggedBehindTheCheckpointIsLoggedAgain) {
  const TemporaryFolder folder = *TemporaryFolder::Create("pretraining");
  FakeTrainer trainer, another;
  ASSERT_TRUE(Train(trainer, folder.path(), 4).ok());
  const std::string log = Content(folder.path() / "log.jsonl");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "log.jsonl", log + "{\"step\": 5, \"loss\": 9}\n{\"st").ok());
  ASSERT_TRUE(Train(another, folder.path()).ok());
  const std::string all = Content(folder.path() / "log.jsonl");
  EXPECT_EQ(Split(all, '\n').size(), 11u);
  EXPECT_TRUE(all.starts_with(log));
  EXPECT_EQ(all.find("\"loss\": 9"), std::string::npos);
}

TEST(PretrainingTest, OtherOptionsAndDamageAreRefusedInOneLine) {
  const TemporaryFolder folder = *TemporaryFolder::Create("pretraining");
  FakeTrainer trainer;
  ASSERT_TRUE(Train(trainer, folder.path(), 4).ok());
  PretrainingOptions options = FewSteps();
  options.seed = 2;
  const Status other = Train(trainer, folder.path(), 4, options);
  EXPECT_NE(other.message().find("was made with other options or words"), std::string::npos) << other.message();
  options = FewSteps();
  options.ablations.counters = true;
  EXPECT_EQ(Train(trainer, folder.path(), 4, options).code(), StatusCode::kInvalidArgument);
  for (const char* file : {"checkpoint_a.safetensors", "checkpoint_b.safetensors", "checkpoint_c.safetensors"})
    ASSERT_TRUE(WriteFileAtomic(folder.path() / file, "x").ok());
  EXPECT_NE(Train(trainer, folder.path()).message().find("remove them to begin anew"), std::string::npos);
}

TEST(PretrainingTest, ValidationLossIsLoggedWhereProblemsAreHeldOut) {
  const TemporaryFolder folder = *TemporaryFolder::Create("pretraining");
  FakeTrainer trainer;
  ASSERT_TRUE(Train(trainer, folder.path(), 1000, FewSteps(), SomeSet({.sizes = {128}})).ok());
  const std::string log = Content(folder.path() / "log.jsonl");
  int validated = 0;
  for (const std::string_view line : Split(log, '\n')) validated += line.find("validation_loss") != line.npos ? 1 : 0;
  EXPECT_EQ(validated, 2);
}

TEST(PretrainingTest, TheLearningRateRisesThenFallsToATenth) {
  EXPECT_DOUBLE_EQ(WarmedUp(1, 100, 1000, 50), 0.5);
  EXPECT_DOUBLE_EQ(WarmedUp(1, 100, 1000, 100), 1);
  EXPECT_NEAR(WarmedUp(1, 100, 1000, 550), 0.55, 1e-9);
  EXPECT_NEAR(WarmedUp(1, 100, 1000, 1000), 0.1, 1e-9);
}

TEST(PretrainingTest, WithTorchAStoppedRunEndsInTheSameWeightsToo) {
  PretrainingOptions options = FewSteps();
  options.steps = 30, options.learning_rate = 1e-2;
  std::string weights[2];
  for (const int parts : {1, 2}) {
    const TemporaryFolder folder = *TemporaryFolder::Create("pretraining");
    for (int call = 0; call < parts; ++call) {
      Result<std::unique_ptr<Trainer>> trainer = OpenTorchTrainer(SmallConfig(), "cpu");
      if (!trainer.ok()) GTEST_SKIP() << trainer.status().message();
      const Status trained = Train(**trainer, folder.path(), 30 / parts, options);
      ASSERT_TRUE(trained.ok()) << trained.message();
    }
    weights[parts - 1] = Content(folder.path() / "weights.safetensors");
    const std::string log = Content(folder.path() / "log.jsonl");
    const std::vector<std::string_view> lines = Split(log, '\n');
    const auto loss = [&](size_t line) { return nlohmann::json::parse(lines[line])["loss"].get<double>(); };
    EXPECT_LT(loss(29), 0.8 * loss(0));
  }
  EXPECT_EQ(weights[0], weights[1]);
}

}  // namespace
}  // namespace gemmsmith
