#include "archive/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "archive/example_trials.h"
#include "archive/segment.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

Trial Measured(int number, double time_ns, bool samples = true) {
  Trial trial = ExampleTrial(number);
  Random random(uint64_t(number) + 5);
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.reason.clear();
  trial.outcome.timings = {ExampleTiming("ours", Clock::kDevice, time_ns, random),
                           ExampleTiming("lt_auto_tn", Clock::kDevice, 2 * time_ns, random)};
  trial.outcome.comparisons = {
      {"lt_auto_tn", Clock::kDevice, {.median = 2, .mean = 2, .interval = {1.9, 2.1}, .pairs = 20}}};
  KeepRecordedSamples(trial.outcome, samples);
  return trial;
}

EvaluationRequest RequestFor(const Trial& trial, uint64_t seed) {
  return {{.gemm = trial.gemm, .protocol = trial.outcome.protocol, .seed = seed}, trial.plan()};
}

TEST(Recording, KnowsWhatWasRecordedAndWhen) {
  std::vector<Trial> trials = ExampleTrials(130);
  trials[7].unix_ms = 1'795'219'200'000;  // 2026-11-21 00:00 UTC
  trials[7].setting.harness = "newest";
  const auto recording = Recording::FromTrials(trials);
  EXPECT_EQ(recording->Date(), "2026-11-21");
  EXPECT_EQ(recording->setting().harness, "newest");
  EXPECT_EQ(recording->Problems().size(), 60u);
  EXPECT_TRUE(recording->Has(ExampleGemm(3)));
  EXPECT_FALSE(recording->Has({.shape = {1, 1, 1}}));
  EXPECT_EQ(recording->SpaceFor(ExampleGemm(3)).plans().size(), 3u);  // 3, 63, 123
  EXPECT_EQ(recording->SpaceFor({.shape = {1, 1, 1}}).size(), 0u);
  EXPECT_EQ(recording->Find(ExampleGemm(3), ExamplePlan(1))->outcome, trials[63].outcome);
  EXPECT_EQ(recording->Find(ExampleGemm(3), ExamplePlan(77)), nullptr);
}

TEST(Recording, APackedLeadingDimensionIsTheSameProblem) {
  const auto recording = Recording::FromTrials({Measured(0, 1000)});
  Gemm written_out = ExampleGemm(0);
  written_out.lda = written_out.LeadingA();
  written_out.ldc = written_out.LeadingC();
  EXPECT_TRUE(recording->Has(written_out));
  written_out.ldc += 8;
  EXPECT_FALSE(recording->Has(written_out));
}

TEST(Recording, TheMostCarefulAndThenTheNewestTrialSpeaks) {
  Trial screen = Measured(0, 1000), careful = Measured(0, 1100), newer = Measured(0, 1200);
  careful.outcome.protocol = newer.outcome.protocol = Protocol::kShort;
  newer.unix_ms += 1;
  const auto recording = Recording::FromTrials({newer, careful, screen});
  EXPECT_EQ(recording->Find(screen.gemm, screen.plan())->outcome, newer.outcome);
  EXPECT_EQ(recording->Find(screen.gemm, screen.plan(), Protocol::kScreen)->outcome, screen.outcome);
}

TEST(Recording, ALessCarefulRecordNeverStandsForAMoreCarefulOne) {
  Trial screen = Measured(0, 1000), heat = Measured(0, 1100), careful = Measured(0, 1200);
  heat.outcome.protocol = Protocol::kHeat;
  careful.outcome.protocol = Protocol::kShort;
  const auto find = [&](const std::vector<Trial>& trials, Protocol protocol) {
    const Trial* trial = Recording::FromTrials(trials)->Find(screen.gemm, screen.plan(), protocol);
    return trial == nullptr ? std::string_view("none") : Name(trial->outcome.protocol);
  };
  EXPECT_EQ(find({screen}, Protocol::kShort), "none");
  EXPECT_EQ(find({screen, heat}, Protocol::kShort), "none");
  EXPECT_EQ(find({screen}, Protocol::kHeat), "none");
  EXPECT_EQ(find({careful, screen}, Protocol::kHeat), "short");
  EXPECT_EQ(find({careful, heat}, Protocol::kScreen), "heat");
  EXPECT_EQ(Recording::FromTrials({careful, heat, screen})->Find(screen.gemm, screen.plan())->outcome, careful.outcome);
}

TEST(Recording, OtherTrialsHaveAnotherFingerprint) {
  const Trial one = Measured(0, 1000), two = Measured(1, 1000);
  const auto fingerprint = [](std::vector<Trial> trials) { return Recording::FromTrials(trials)->Fingerprint(); };
  EXPECT_EQ(fingerprint({one, two}), fingerprint({one, two}));
  EXPECT_NE(fingerprint({one, two}), fingerprint({one}));
  EXPECT_NE(fingerprint({one}), fingerprint({two}));
}

TEST(Recording, NearestPrefersTheSameKindAndThenTheSmallestDistance) {
  std::vector<Trial> trials(4, ExampleTrial(0));
  trials[0].gemm = {.shape = {64, 64, 64}, .kind = {kTn}};
  trials[1].gemm = {.shape = {128, 128, 128}, .kind = {kNn}};
  trials[2].gemm = {.shape = {4096, 4096, 4096}, .kind = {kTn}};
  trials[3].gemm = {.shape = {256, 128, 128}, .kind = {kNn}};
  const auto recording = Recording::FromTrials(trials);
  const Gemm asked = {.shape = {130, 130, 130}, .kind = {kNn}};
  const std::vector<Gemm> expected = {trials[1].gemm, trials[3].gemm, trials[0].gemm};
  EXPECT_EQ(recording->Nearest(asked, 3), expected);
  EXPECT_EQ(recording->Nearest(asked, 100).size(), 4u);
}

TEST(Recording, BestIsTheFastestThatWasMeasured) {
  Trial slow = Measured(0, 2000), fast = Measured(60, 1000), wrong = Measured(120, 10);
  wrong.outcome.kind = OutcomeKind::kWrong;
  const auto recording = Recording::FromTrials({slow, fast, wrong});
  EXPECT_EQ(recording->Best(slow.gemm)->plan(), fast.plan());
  EXPECT_EQ(Recording::FromTrials({wrong})->Best(wrong.gemm), nullptr);
  EXPECT_EQ(recording->Best({.shape = {1, 1, 1}}), nullptr);
}

TEST(Recording, PlansOfAnotherLeadingClockThanMostHaveNoCell) {
  std::vector<Trial> trials = {Measured(0, 1000), Measured(60, 2000), Measured(120, 500)};  // of one problem
  ASSERT_EQ(trials[0].gemm, trials[2].gemm);
  for (Timing& timing : trials[2].outcome.timings) timing.clock = Clock::kDeviceCold;
  const auto recording = Recording::FromTrials(trials);
  EXPECT_EQ(recording->SpaceFor(trials[0].gemm).size(), 2u);
  EXPECT_EQ(recording->Best(trials[0].gemm)->plan(), trials[0].plan());
  const auto equal = Recording::FromTrials({trials[0], trials[2]});
  EXPECT_EQ(equal->SpaceFor(trials[0].gemm).size(), 1u);
  EXPECT_EQ(equal->Best(trials[0].gemm)->plan(), trials[2].plan()) << "of equally many the ring";
}

TEST(Recording, LoadRefusesWhatIsNoRecordingOfOneKnownDevice) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-replay-test");
  const auto load = [&](std::vector<Trial> trials) {
    const std::string segment = EncodeSegments(trials)[0];
    EXPECT_TRUE(WriteFileAtomic(folder.path() / "x.gsr", segment).ok());
    return Recording::Load(folder.path());
  };
  EXPECT_EQ(Recording::Load(folder.path()).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(load(ExampleTrials(5)).ok());
  std::vector<Trial> mixed = ExampleTrials(2);
  mixed[1].setting.device_key = "h100";
  EXPECT_NE(load(mixed).status().message().find("of h100 and h200"), std::string::npos);
  mixed[0].setting.device_key = mixed[1].setting.device_key = "abacus";
  EXPECT_EQ(load(mixed).status().code(), StatusCode::kUnavailable);
}

TEST(Replay, AnswersForTheRecordedDeviceAndSetting) {
  const Trial trial = Measured(0, 1000);
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({trial}));
  EXPECT_EQ(evaluator->device().key, "h200");
  EXPECT_EQ(evaluator->setting(), trial.setting);
}

TEST(Replay, ACellWithoutARecordIsNotFound) {
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({Measured(0, 1000)}));
  const Result<Outcome> outcome = evaluator->Evaluate(RequestFor(ExampleTrial(1), 1), {});
  EXPECT_EQ(outcome.status().code(), StatusCode::kNotFound);
}

TEST(Replay, AFailureIsAnsweredAsItWas) {
  Trial wrong = ExampleTrial(0);
  wrong.outcome = {.kind = OutcomeKind::kWrong, .stage = "correctness", .reason = "element 3"};
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({wrong}));
  EXPECT_EQ(*evaluator->Evaluate(RequestFor(wrong, 1), {}), wrong.outcome);
}

TEST(Replay, TheSameSeedGivesTheSameAnswerAndAnotherSeedAnother) {
  const Trial trial = Measured(0, 1000), other = Measured(1, 1000);
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({trial, other}));
  const Outcome first = *evaluator->Evaluate(RequestFor(trial, 1), {});
  static_cast<void>(evaluator->Evaluate(RequestFor(other, 1), {}));
  EXPECT_EQ(*evaluator->Evaluate(RequestFor(trial, 1), {}), first);
  EXPECT_NE(*evaluator->Evaluate(RequestFor(trial, 2), {}), first);
}

TEST(Replay, TheAnswerCarriesTheProtocolThatWasRecorded) {
  Trial trial = Measured(0, 1000);
  EvaluationRequest request = RequestFor(trial, 1);
  request.protocol = Protocol::kShort;
  EXPECT_EQ(MakeReplayEvaluator(Recording::FromTrials({trial}))->Evaluate(request, {}).status().code(),
            StatusCode::kNotFound);
  trial.outcome.protocol = Protocol::kShort;
  request.protocol = Protocol::kScreen;
  EXPECT_EQ(MakeReplayEvaluator(Recording::FromTrials({trial}))->Evaluate(request, {})->protocol, Protocol::kShort);
}

class ReplayNoise : public ::testing::TestWithParam<bool> {};

TEST_P(ReplayNoise, StaysWithinTheRecordAndMovesTheRatiosWithIt) {
  const Trial trial = Measured(0, 1000, GetParam());
  const Timing& recorded = trial.outcome.timings[0];
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({trial}));
  std::vector<double> medians;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Outcome outcome = *evaluator->Evaluate(RequestFor(trial, seed), {});
    const Timing& ours = outcome.timings[0];
    medians.push_back(ours.median_ns);
    if (GetParam()) {
      const auto [low, high] = std::minmax_element(recorded.samples_ns.begin(), recorded.samples_ns.end());
      EXPECT_GE(ours.median_ns, *low);
      EXPECT_LE(ours.median_ns, *high);
    } else {
      EXPECT_GE(ours.median_ns, recorded.interval.low * (1 - 1e-12));
      EXPECT_LE(ours.median_ns, recorded.interval.high * (1 + 1e-12));
    }
    EXPECT_LE(ours.interval.low, ours.median_ns);
    EXPECT_GE(ours.interval.high, ours.median_ns);
    EXPECT_EQ(outcome.timings[1], trial.outcome.timings[1]) << "baselines are as recorded";
    const RatioEstimate& ratio = outcome.comparisons[0].ratio;
    EXPECT_NEAR(ratio.median * ours.median_ns, 2 * recorded.median_ns, 1e-6);
    EXPECT_NEAR(ratio.interval.low * ours.median_ns, 1.9 * recorded.median_ns, 1e-6);
    EXPECT_EQ(ratio.pairs, 20);
  }
  EXPECT_NEAR(Median(medians), recorded.median_ns, 0.005 * recorded.median_ns);
  EXPECT_GT(StandardDeviation(medians), 0.05 * recorded.interval.Width());
  EXPECT_LT(StandardDeviation(medians), recorded.interval.Width());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSamples, ReplayNoise, ::testing::Bool());

TEST(Replay, ARecordWithoutSpreadIsAnsweredWithoutNoise) {
  Trial trial = Measured(0, 1000, false);
  trial.outcome.timings[0].interval = {1000, 1000};
  trial.outcome.timings[0].median_ns = 1000;
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({trial}));
  EXPECT_EQ(evaluator->Evaluate(RequestFor(trial, 3), {})->TimeNs(), 1000);
}

TEST(Replay, ARecordOfMediansAloneIsAnsweredAsItIs) {
  Trial trial = Measured(0, 1000, false);
  trial.outcome.timings[0].mean_ns = 0, trial.outcome.timings[0].interval = {};
  const auto evaluator = MakeReplayEvaluator(Recording::FromTrials({trial}));
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(*evaluator->Evaluate(RequestFor(trial, seed), {}), trial.outcome) << seed;
}

}  // namespace
}  // namespace gemmsmith
