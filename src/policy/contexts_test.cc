#include "policy/contexts.h"

#include <gtest/gtest.h>

#include <map>

namespace gemmsmith {
namespace {

Exemplar Scored(double score, std::vector<std::pair<Counter, double>> counters = {}) {
  Exemplar exemplar{DefaultPlan(FamilyId::kDirect), {.kind = OutcomeKind::kMeasured, .score = score}};
  exemplar.judged.counters = std::move(counters);
  return exemplar;
}

TEST(ContextsTest, ExemplarsComeFromDifferentBucketsAndAreMostlyGood) {
  std::vector<Exemplar> variants;
  for (int i = 1; i <= 80; ++i) variants.push_back(Scored(0.01 * i));
  Random random(1);
  double sum = 0;
  for (int i = 0; i < 500; ++i) {
    const std::vector<Exemplar> chosen = ChooseExemplars(variants, 1, random);
    ASSERT_EQ(chosen.size(), 2u);
    const auto bucket = [](const Exemplar& exemplar) { return int((*exemplar.judged.score - 0.01) / 0.79 * 8); };
    EXPECT_NE(bucket(chosen[0]), bucket(chosen[1]));
    sum += *chosen[0].judged.score;
  }
  EXPECT_GT(sum / 500, 0.5);  // the mean of all is 0.405
}

TEST(ContextsTest, AHighTemperatureDrawsBucketsAlike) {
  std::vector<Exemplar> variants = {Scored(0.1), Scored(0.9)};
  Random random(2);
  int best_first = 0;
  for (int i = 0; i < 1000; ++i) best_first += *ChooseExemplars(variants, 1000, random)[0].judged.score > 0.5 ? 1 : 0;
  EXPECT_NEAR(best_first, 500, 80);
}

TEST(ContextsTest, PlansWithoutAScoreAreNoExemplars) {
  std::vector<Exemplar> variants = {{DefaultPlan(FamilyId::kDirect), {.kind = OutcomeKind::kWrong}}};
  Random random(3);
  EXPECT_TRUE(ChooseExemplars(variants, 1, random).empty());
  variants.push_back(Scored(0.5));
  EXPECT_EQ(ChooseExemplars(variants, 1, random).size(), 1u);
}

TEST(ContextsTest, AnalysisNamesTheFasterOneAndWhatSpeaksForIt) {
  const Exemplar slow = Scored(0.3, {{Counter::kTensorPipe, 30}, {Counter::kWaves, 1}, {Counter::kStallWgmma, 8}});
  const Exemplar fast = Scored(0.6, {{Counter::kTensorPipe, 60}, {Counter::kWaves, 1.01}, {Counter::kStallWgmma, 1}});
  const std::vector<Exemplar> exemplars = {slow, fast};
  const std::optional<Analysis> analysis = Analyse(exemplars);
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->faster, Mark::kSecond);
  const std::vector<Analysis::Reason> reasons = {{Counter::kStallWgmma, false}, {Counter::kTensorPipe, true}};
  EXPECT_EQ(analysis->reasons, reasons);
}

TEST(ContextsTest, WhatIsLeftOutIsNotThereAndChangesNoOtherDraw) {
  std::vector<Exemplar> variants;
  for (int i = 1; i <= 40; ++i) variants.push_back(Scored(0.02 * i, {{Counter::kTensorPipe, 2.0 * i}}));
  const auto context = [&](const Ablations& ablations, uint64_t* next) {
    Random random(7);
    const Document document = ContextFor({.shape = {64, 64, 64}}, KnownDevices()[0], variants, {ablations}, random);
    *next = random.Next();
    return document;
  };
  uint64_t next = 0, other = 0;
  const Document whole = context({}, &next);
  ASSERT_EQ(whole.exemplars.size(), 2u);
  ASSERT_FALSE(whole.analysis->reasons.empty());
  const Document no_contrast = context({.contrast = true}, &other);
  EXPECT_TRUE(no_contrast.exemplars.empty() && !no_contrast.analysis);
  EXPECT_EQ(other, next);
  const Document no_counters = context({.counters = true}, &other);
  EXPECT_EQ(no_counters.exemplars[0].plan, whole.exemplars[0].plan);
  EXPECT_EQ(no_counters.exemplars[0].judged.score, whole.exemplars[0].judged.score);
  EXPECT_TRUE(no_counters.exemplars[0].judged.counters.empty() && no_counters.exemplars[1].judged.counters.empty());
  EXPECT_EQ(no_counters.analysis->faster, whole.analysis->faster);
  EXPECT_TRUE(no_counters.analysis->reasons.empty());
  EXPECT_EQ(other, next);
  const Document no_analysis = context({.analysis = true}, &other);
  EXPECT_EQ(no_analysis.exemplars, whole.exemplars);
  EXPECT_FALSE(no_analysis.analysis);
  EXPECT_EQ(other, next);
  EXPECT_EQ(context({.mask = true}, &other), whole);
}

TEST(ContextsTest, WithinTheNoiseNeitherIsFaster) {
  const std::vector<Exemplar> exemplars = {Scored(0.500), Scored(0.501)};
  EXPECT_EQ(Analyse(exemplars)->faster, Mark::kNeither);
  EXPECT_FALSE(Analyse(std::span(exemplars).first(1)));
}

TEST(ContextsTest, GoalsAreClassesOfBestOverOwnTime) {
  const auto goal = [](double score) { return kGoalPercents[size_t(GoalOf(Scored(score).judged, 0.5))]; };
  EXPECT_EQ(goal(0.5), 98);
  EXPECT_EQ(goal(0.491), 98);
  EXPECT_EQ(goal(0.489), 95);
  EXPECT_EQ(goal(0.26), 50);
  EXPECT_EQ(goal(0.001), 0);
  EXPECT_EQ(GoalOf({.kind = OutcomeKind::kWrong}, 0.5), 0);
}

TEST(ContextsTest, NoContextIsLongerThanTheLongest) {
  Counters counters;
  for (size_t i = 0; i < kCounterCount; ++i) counters[Counter(i)] = 3.0 + double(i);
  Outcome outcome{.kind = OutcomeKind::kMeasured};
  outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceCold, .median_ns = 3000});
  outcome.counters = counters;
  const Gemm gemm{.shape = {12345677, 54321, 999999937}, .lda = 999999999, .ldb = 1073741823, .ldc = 1073741823};
  std::vector<Exemplar> variants;
  for (int i = 0; i < 10; ++i) {
    outcome.timings[0].median_ns *= 1.5;
    outcome.counters->operator[](Counter::kWaves) = i;
    variants.push_back({DefaultPlan(FamilyId::kWgmma), AsJudged(gemm, KnownDevices()[0], outcome)});
  }
  Random random(1);
  const size_t words = EncodeContext(ContextFor(gemm, KnownDevices()[0], variants, {}, random)).size();
  EXPECT_LE(words, size_t(LongestContext()));
  EXPECT_GT(words, size_t(LongestContext()) - 40);
}

}  // namespace
}  // namespace gemmsmith
