#include "evaluate/time/source_clock.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{{4096, 4096, 4096}, {kTn}};

SourceTime Exactly(double ns) { return {.judge_ns = ns, .event_ns = ns}; }

// Batches as a guest with this overhead makes them, with noise that only ever adds.
std::vector<SourceBatch> Batches(double call_ns, double event_share, double overhead_ns, double noise_ns) {
  Random random(7);
  std::vector<SourceBatch> batches;
  for (int i = 0; i < 5; ++i)
    for (int calls : {100, 600 + 10 * i})
      batches.push_back(
          {calls, overhead_ns + calls * call_ns + noise_ns * random.Uniform(), calls * call_ns * event_share});
  return batches;
}

TEST(SourceClock, WhatABatchTakesBesideItsCallsIsNotCounted) {
  const SourceTime time = TimeOf(Batches(5e3, 1, 300e3, 0));
  EXPECT_NEAR(time.judge_ns, 5e3, 1);
  EXPECT_NEAR(time.event_ns, 5e3, 1);
  EXPECT_EQ(DisagreementOfClocks(time), "");
}

TEST(SourceClock, NoiseOfTheHostMovesItLittle) { EXPECT_NEAR(TimeOf(Batches(5e3, 1, 300e3, 60e3)).judge_ns, 5e3, 100); }

TEST(SourceClock, EventsThatSayLessAreALie) {
  const SourceTime time = TimeOf(Batches(50e3, 0.5, 300e3, 20e3));
  EXPECT_NE(DisagreementOfClocks(time).find("its events say 25.00 us a call, the judge's clock 50."), std::string::npos)
      << DisagreementOfClocks(time);
}

TEST(SourceClock, ClocksAgreeWithinAMicrosecondOrATwentieth) {
  EXPECT_EQ(DisagreementOfClocks({.judge_ns = 2900, .event_ns = 2000}), "");
  EXPECT_NE(DisagreementOfClocks({.judge_ns = 3100, .event_ns = 2000}), "");
  EXPECT_EQ(DisagreementOfClocks({.judge_ns = 104e3, .event_ns = 100e3}), "");
  EXPECT_NE(DisagreementOfClocks({.judge_ns = 106e3, .event_ns = 100e3}), "");
  // The judge's clock is never too slow: who claims more than it is believed.
  EXPECT_EQ(DisagreementOfClocks({.judge_ns = 100e3, .event_ns = 200e3}), "");
}

TEST(SourceClock, EventsOfTheRaceAreHeldAgainstTheClockOfAllBatches) {
  const SourceTime time = Exactly(100e3);
  const auto raced = [](double event_ns) { return std::vector<SourceBatch>(9, {100, 0, 100 * event_ns}); };
  EXPECT_EQ(DisagreementOfRace(time, raced(86e3)), "");
  EXPECT_EQ(DisagreementOfRace(time, raced(300e3)), "");
  EXPECT_EQ(DisagreementOfRace(time, raced(10e3)),
            "in the race its events say 10.00 us a call, the judge's clock 100.00 us");
  EXPECT_EQ(DisagreementOfRace(Exactly(3e3), raced(2.1e3)), "") << "a microsecond is noise";
  EXPECT_NE(DisagreementOfRace(Exactly(800), raced(0)), "");
}

TEST(SourceClock, WhatCallsWithPausesTakeIsTheLeastThatIsPublished) {
  EXPECT_DOUBLE_EQ(LeastBySpaces(Exactly(105e3)), 105e3 - 2.1e3);
  EXPECT_DOUBLE_EQ(LeastBySpaces(Exactly(4e3)), 3e3) << "a microsecond is noise";
  EXPECT_EQ(LeastBySpaces(Exactly(0.5e3)), 0);
}

// Fewer than half of the batches leave the median alone, not the mean.
TEST(SourceClock, EventsOfSomeBatchesOfTheRaceAreNotLost) {
  std::vector<SourceBatch> raced(11, {100, 0, 100 * 100e3});
  raced.resize(20, {100, 0, 100 * 2e3});
  EXPECT_NE(DisagreementOfRace(Exactly(100e3), raced), "");
  for (size_t i = 13; i < raced.size(); ++i) raced[i].event_ns = 100 * 100e3;
  EXPECT_EQ(DisagreementOfRace(Exactly(100e3), raced), "") << "two outliers";
}

// Nothing of it shows in all batches together, where the honest ones are more.
TEST(SourceClock, WhoIsHonestOutsideOfTheRaceAloneIsFound) {
  std::vector<SourceBatch> batches = Batches(50e3, 1, 300e3, 0);
  const size_t alone = batches.size();
  for (int round = 0; round < 5; ++round) batches.push_back({100, 300e3 + 100 * 50e3, 1e3});
  EXPECT_EQ(DisagreementOfClocks(TimeOf(batches)), "");
  EXPECT_NE(DisagreementOfRace(TimeOf(batches), std::span(batches).subspan(alone)), "");
}

TEST(SourceClock, WhatCallsTakeLongerIsSeenInPairsOfBatches) {
  const auto calls_of = [](double call_ns, double noise_ns) { return Batches(call_ns, 1, 300e3, noise_ns); };
  EXPECT_NEAR(ExcessOf(calls_of(6e3, 0), calls_of(5e3, 0)).ns, 1e3, 1e-6);
  EXPECT_NEAR(ExcessOf(calls_of(6e3, 0), calls_of(5e3, 0)).noise_ns, 0, 1e-6);
  const Excess noisy = ExcessOf(calls_of(6e3, 60e3), calls_of(5e3, 0));
  EXPECT_NEAR(noisy.ns, 1050, 50);
  EXPECT_GT(noisy.noise_ns, 5);
  EXPECT_LT(noisy.noise_ns, 50);
}

TEST(SourceClock, OnePairThatWasInterruptedMovesTheExcessLittle) {
  std::vector<SourceBatch> interrupted = Batches(5e3, 1, 300e3, 0);
  interrupted.back().judge_ns += 5e6;
  EXPECT_NEAR(ExcessOf(interrupted, Batches(5e3, 1, 300e3, 0)).ns, 0, 1e-6);
}

// Who leaves out one of twelve calls, wherever a batch begins in his count.
TEST(SourceClock, OneCallInTwelveIsMissed) {
  Random random(9);
  std::vector<SourceBatch> renewed, sham;
  for (int turn = 0; turn < 7; ++turn)
    for (const int calls : {20 + turn, 70 + 2 * turn}) {
      const int skipped = (calls + int(random.Below(12))) / 12;
      renewed.push_back({calls, 300e3 + calls * 250e3 + 40e3 * random.Uniform(), 0});
      sham.push_back({calls, 300e3 + (calls - skipped) * 250e3 + 40e3 * random.Uniform(), 0});
    }
  EXPECT_NE(DisagreementOfRenewals(renewed, sham, 229e3), "");
  EXPECT_EQ(DisagreementOfRenewals(renewed, renewed, 250e3), "");
}

TEST(SourceClock, WorkThatIsSkippedWhereNothingChangedShowsBehindShamRenewals) {
  const auto renewed_beside_sham = [](double renewed_ns, double sham_ns, double call_ns) {
    return DisagreementOfRenewals(Batches(renewed_ns, 1, 300e3, 0), Batches(sham_ns, 1, 300e3, 0), call_ns);
  };
  EXPECT_EQ(renewed_beside_sham(120e3, 118.6e3, 100e3), "");
  EXPECT_EQ(renewed_beside_sham(25e3, 24.75e3, 5e3), "") << "a quarter of a microsecond is noise";
  EXPECT_EQ(renewed_beside_sham(120e3, 140e3, 100e3), "") << "slower is not suspicious";
  EXPECT_EQ(renewed_beside_sham(120e3, 116.9e3, 100e3),
            "calls take 3.10 us longer where inputs change between them than where the same is written again");
  EXPECT_NE(renewed_beside_sham(25e3, 24.6e3, 5e3), "");
}

TEST(SourceClock, ScatterIsAllowedWithinBounds) {
  // Half of the pairs say 1 us, half 4 us.
  std::vector<SourceBatch> renewed = Batches(100e3, 1, 300e3, 0), scattered = renewed;
  for (size_t i = 0; i < scattered.size(); ++i)
    scattered[i].judge_ns -= scattered[i].calls * (i / 2 % 2 == 0 ? 1e3 : 4e3);
  EXPECT_EQ(DisagreementOfRenewals(renewed, scattered, 100e3), "");
  for (size_t i = 0; i < scattered.size(); ++i)
    scattered[i].judge_ns = renewed[i].judge_ns - scattered[i].calls * (i / 2 % 2 == 0 ? 10e3 : 60e3);
  EXPECT_NE(DisagreementOfRenewals(renewed, scattered, 100e3), "") << "but not more than so much of it";
}

TEST(SourceClock, WorkThatIsSkippedWhereNoTimePassesShowsBetweenPauses) {
  EXPECT_EQ(DisagreementOfSpaces(Exactly(250e3), Exactly(290e3)), "") << "tickets";
  EXPECT_NE(DisagreementOfSpaces(Exactly(237e3), Exactly(306e3)), "") << "a quarter of the work is left out";
  EXPECT_EQ(DisagreementOfSpaces(Exactly(3e3), Exactly(5.9e3)), "");
  EXPECT_EQ(DisagreementOfSpaces(Exactly(120e3), Exactly(80e3)), "") << "slower is not suspicious";
  EXPECT_EQ(DisagreementOfSpaces(Exactly(1e3), Exactly(50e3)),
            "calls take 1.00 us one behind the other, 50.00 us with pauses between them");
}

TEST(SourceClock, PausesCoverWhatAShamStepTakes) {
  EXPECT_EQ(DrawPauseNs(6e3, 0), 4000);
  EXPECT_NEAR(DrawPauseNs(6e3, 0.5), 12'649, 1);
  EXPECT_NEAR(DrawPauseNs(6e3, 1), 40'000, 1);
  EXPECT_NEAR(DrawPauseNs(300e3, 1), 600'000, 1);
}

// Whoever tells the one from the other by whatever there is gains no more than this.
TEST(SourceClock, WorkThatIsSkippedWhereNothingLiesBetweenCallsShowsBehindShamWrites) {
  EXPECT_EQ(DisagreementOfShams(Exactly(100e3), Exactly(100e3 * 1.2 + 60e3), 60e3), "") << "operands come slower";
  EXPECT_EQ(DisagreementOfShams(Exactly(3e3), Exactly(12e3), 6e3), "");
  EXPECT_EQ(DisagreementOfShams(Exactly(120e3), Exactly(150e3), 60e3), "") << "slower is not suspicious";
  EXPECT_EQ(DisagreementOfShams(Exactly(10e3), Exactly(160e3), 60e3),
            "calls take 10.00 us one behind the other, 100.00 us behind writes of what is there already");
  EXPECT_NE(DisagreementOfShams(Exactly(60e3), Exactly(160e3), 60e3), "");
}

// As where the first replay of a batch does work for its events alone: a constant, which no slope shows.
TEST(SourceClock, EventsThatSayMoreHideNothing) {
  const SourceTime hiding = {.judge_ns = 10e3, .event_ns = 100e3};
  EXPECT_NE(DisagreementOfShams(hiding, Exactly(160e3), 60e3), "");
  EXPECT_NE(DisagreementOfSpaces(hiding, Exactly(100e3)), "");
}

// What is held up in shorter batches comes off every slope; what longer ones say by themselves stays.
TEST(SourceClock, WhoHoldsUpShorterBatchesGainsNothing) {
  std::vector<SourceBatch> honest, held_up;
  for (int turn = 0; turn < 7; ++turn)
    for (const int calls : {40 + turn, 300 + 3 * turn}) {
      honest.push_back({calls, 300e3 + calls * 60e3, 0});
      held_up.push_back({calls, 300e3 + calls * 60e3 + (calls < 100 ? 80e6 : 40e6), 0});
    }
  EXPECT_NEAR(ProvenTimeOf(honest).judge_ns, 60e3, 1) << "what lies beside the calls is not theirs";
  EXPECT_LT(TimeOf(held_up).judge_ns, 1e3);
  EXPECT_GE(ProvenTimeOf(held_up).judge_ns, 59e3);
  EXPECT_NE(DisagreementOfSpaces(Exactly(3e3), ProvenTimeOf(held_up)), "");
  EXPECT_GE(LeastBySpaces(ProvenTimeOf(held_up)), 57e3);
  std::vector<SourceBatch> skips;
  for (const SourceBatch& batch : honest) skips.push_back({batch.calls, 300e3 + batch.calls * 3e3, 0});
  EXPECT_TRUE(IsFarSlower(held_up, skips, 0));
}

TEST(SourceClock, WhoIsFarSlowerIsSoInEveryTurn) {
  const auto turns = [](std::vector<double> call_ns) {
    std::vector<SourceBatch> batches;
    for (const double ns : call_ns)
      for (const int calls : {100, 1000}) batches.push_back({calls, 300e3 + calls * ns, 0});
    return batches;
  };
  const std::vector<SourceBatch> skips = turns({2e3, 2e3});
  EXPECT_TRUE(IsFarSlower(turns({300e3, 300e3}), skips, 0));
  EXPECT_FALSE(IsFarSlower(turns({300e3, 29e3}), skips, 0)) << "an accident in one of them";
  EXPECT_FALSE(IsFarSlower(turns({29e3, 29e3}), skips, 0)) << "little is never far";
  EXPECT_FALSE(IsFarSlower(turns({500e3, 500e3}), turns({100e3, 100e3}), 0));
  EXPECT_TRUE(IsFarSlower(turns({530e3, 530e3}), turns({100e3, 100e3}), 0));
  EXPECT_FALSE(IsFarSlower(turns({530e3, 530e3}), turns({100e3, 100e3}), 60e3)) << "what lies between the calls";
  EXPECT_FALSE(IsFarSlower({}, {}, 0));
}

TEST(SourceClock, OnlyTheImpossibleIsRefused) {
  const Device device = *FindDevice("h200");
  const double floor = MakeTask(kGemm).FloorNs(device);
  EXPECT_EQ(Impossible(kGemm, device, floor), "");
  EXPECT_NE(Impossible(kGemm, device, floor / 2).find("is impossible"), std::string::npos);
  EXPECT_NE(Impossible({{16, 16, 16}, {kTn}}, device, 200), "");
  EXPECT_EQ(Impossible({{16, 16, 16}, {kTn}}, device, 400), "");
  EXPECT_EQ(Impossible(kGemm, Device{}, 1e6), "") << "a device of which nothing is known";
}

TEST(SourceClock, WorkBesideTheStreamShowsOnlyIfItIsThereEveryTime) {
  EXPECT_EQ(Unjoined({}), "");
  const double once[] = {5e3, 900e3, 7e3};
  EXPECT_EQ(Unjoined(once), "");
  const double always[] = {500e3, 900e3, 700e3};
  EXPECT_EQ(Unjoined(always), "the device was busy for 500.00 us after the stream was done, in each of 3 calls");
}

TEST(SourceClock, LengthsDifferAndStayWithinTheirBounds) {
  Random random(3);
  for (double call_ns : {500.0, 5e3, 1e6, 50e6})
    for (int calls : {1, 7, 100, 200})
      for (int round = 0; round < 20; ++round) {
        const BatchLengths lengths = DrawLengths(call_ns, calls, 3e6, 2000, random.Uniform());
        EXPECT_GE(lengths.shorter, 1);
        EXPECT_GT(lengths.longer, lengths.shorter);
        EXPECT_LE(lengths.longer * calls, std::max(2000, 2 * calls));
      }
  const BatchLengths many = DrawLengths(2e3, 100, 3e6, 100000, 0.5);
  EXPECT_EQ(many.longer - many.shorter, 15);
}

}  // namespace
}  // namespace gemmsmith
