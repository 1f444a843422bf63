#include "evaluate/time/source_clock.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{{4096, 4096, 4096}, {kTn}};

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
  EXPECT_NEAR(time.ns(), 50e3, 200);
}

TEST(SourceClock, ClocksAgreeWithinAMicrosecondOrATwentieth) {
  EXPECT_EQ(DisagreementOfClocks({.judge_ns = 2900, .event_ns = 2000}), "");
  EXPECT_NE(DisagreementOfClocks({.judge_ns = 3100, .event_ns = 2000}), "");
  EXPECT_EQ(DisagreementOfClocks({.judge_ns = 104e3, .event_ns = 100e3}), "");
  EXPECT_NE(DisagreementOfClocks({.judge_ns = 106e3, .event_ns = 100e3}), "");
  // The judge's clock is never too slow: who claims more than it is believed.
  EXPECT_EQ(DisagreementOfClocks({.judge_ns = 100e3, .event_ns = 200e3}), "");
  EXPECT_EQ((SourceTime{.judge_ns = 100e3, .event_ns = 200e3}.ns()), 200e3);
}

TEST(SourceClock, ItsNoiseIsThatOfItsSlopes) {
  EXPECT_NEAR(TimeOf(Batches(5e3, 1, 300e3, 0)).noise_ns, 0, 1e-3);
  const double little = TimeOf(Batches(5e3, 1, 300e3, 20e3)).noise_ns;
  EXPECT_GT(little, 1);
  EXPECT_NEAR(TimeOf(Batches(5e3, 1, 300e3, 60e3)).noise_ns, 3 * little, 1e-3 * little);
}

SourceTime Exactly(double ns) { return {.judge_ns = ns, .event_ns = ns}; }

TEST(SourceClock, WorkThatIsSkippedWhereNothingChangedShowsBehindShamRenewals) {
  const RenewalCosts costs = {.alone_ns = 20e3};
  EXPECT_EQ(DisagreementOfRenewals(Exactly(120e3), Exactly(117.1e3), costs), "");
  EXPECT_EQ(DisagreementOfRenewals(Exactly(25e3), Exactly(24.6e3), costs), "") << "half a microsecond is noise";
  EXPECT_EQ(DisagreementOfRenewals(Exactly(120e3), Exactly(140e3), costs), "") << "slower is not suspicious";
  EXPECT_EQ(DisagreementOfRenewals(Exactly(120e3), Exactly(116.9e3), costs),
            "calls behind renewed inputs take 120.00 us, behind as many changes of other memory 116.90 us");
  EXPECT_NE(DisagreementOfRenewals(Exactly(25e3), Exactly(24.4e3), costs), "");
}

TEST(SourceClock, WhatAnHonestCallTakesLongerIsAllowedAndScatterWithinBounds) {
  EXPECT_EQ(DisagreementOfRenewals(Exactly(120e3), Exactly(113.1e3), {.alone_ns = 20e3, .library_over_sham_ns = 2e3}),
            "");
  const RenewalCosts costs = {.alone_ns = 20e3};
  SourceTime noisy = Exactly(116e3);
  noisy.noise_ns = 0.5e3;
  EXPECT_EQ(DisagreementOfRenewals(Exactly(120e3), noisy, costs), "");
  noisy = {.judge_ns = 110e3, .event_ns = 110e3, .noise_ns = 50e3};
  EXPECT_NE(DisagreementOfRenewals(Exactly(120e3), noisy, costs), "");
}

TEST(SourceClock, CallsThatTakeLessThanTheirWorkShow) {
  const RenewalCosts costs = {.alone_ns = 20e3, .library_excess_ns = 1e3};
  EXPECT_EQ(DisagreementOfInputs(Exactly(100e3), Exactly(130e3), costs), "");
  EXPECT_EQ(DisagreementOfInputs(Exactly(3e3), Exactly(26.9e3), costs), "");
  EXPECT_EQ(DisagreementOfInputs(Exactly(120e3), Exactly(100e3), costs), "") << "slower is not suspicious";
  EXPECT_EQ(DisagreementOfInputs(Exactly(1e3), Exactly(71e3), costs),
            "calls on unchanged inputs take 1.00 us, on changed ones 50.00 us");
}

TEST(SourceClock, NothingIsPublishedThatIsLessThanItsWork) {
  const RenewalCosts costs = {.alone_ns = 20e3, .library_excess_ns = 1e3};
  EXPECT_EQ(PublishedNs(Exactly(100e3), Exactly(126e3), costs), 105e3);
  EXPECT_EQ(PublishedNs(Exactly(100e3), Exactly(123e3), costs), 100e3) << "noise";
  EXPECT_EQ(PublishedNs(Exactly(3e3), Exactly(24.4e3), costs), 3e3) << "noise of a short call";
  EXPECT_EQ(PublishedNs(Exactly(3e3), Exactly(24.6e3), costs), 3.6e3);
  EXPECT_EQ(PublishedNs(Exactly(100e3), Exactly(60e3), costs), 100e3);
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
