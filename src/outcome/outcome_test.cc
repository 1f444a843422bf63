#include "outcome/outcome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/hash.h"
#include "base/random.h"
#include "outcome/example_test_outcome.h"

namespace gemmsmith {
namespace {

class RandomOutcome {
 public:
  explicit RandomOutcome(uint64_t seed) : random_(seed) {}

  Outcome Make() {
    Outcome outcome;
    outcome.kind = OutcomeKind(random_.Below(uint64_t(kLastOutcomeKind) + 1));
    outcome.stage = Text();
    outcome.reason = Text();
    CodeFacts& facts = outcome.facts;
    for (int* fact :
         {&facts.registers, &facts.local_bytes, &facts.static_smem_bytes, &facts.code_bytes, &facts.instructions,
          &facts.local_memory_instructions, &facts.mma_f32, &facts.mma_f16, &facts.wgmma_f32, &facts.wgmma_f16})
      *fact = Int();
    outcome.verdict = {Flag(), Text(), Text(), Double(), Double(), Double()};
    outcome.protocol = Protocol(random_.Below(3));
    for (uint64_t i = random_.Below(8); i > 0; --i)
      outcome.timings.push_back(
          {Text(), Clock(random_.Below(3)), Double(), Double(), {Double(), Double()}, Int(), Floats()});
    for (uint64_t i = random_.Below(8); i > 0; --i)
      outcome.comparisons.push_back(
          {Text(), Clock(random_.Below(3)), {Double(), Double(), {Double(), Double()}, Int()}, Text()});
    outcome.conditions = {Int(), Double(), Int(), Limits(), Flag()};
    for (uint64_t i = random_.Below(4); i > 0; --i) outcome.baseline_algorithms.emplace_back(Text(), Text());
    outcome.compile_seconds = Double();
    outcome.evaluate_seconds = Double();
    if (Flag()) {
      Counters& counters = outcome.counters.emplace();
      counters.observer = Text();
      counters.lacks = Text();
      for (size_t i = 0; i < kCounterCount; ++i)
        if (Flag()) counters[Counter(i)] = Double();
    }
    outcome.recipe = Text();
    return outcome;
  }

 private:
  ClockLimits Limits() {
    ClockLimits limits;
    for (size_t i = 0; i < kClockLimitCount; ++i)
      if (Flag()) limits.Add(ClockLimit(i));
    return limits;
  }
  bool Flag() { return random_.Below(2) == 1; }
  int Int() { return int(uint32_t(random_.Next())); }
  double Double() {
    switch (random_.Below(8)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return std::numeric_limits<double>::denorm_min();
      default:
        return std::ldexp(random_.Normal(), int(random_.Below(100)) - 50);
    }
  }
  std::string Text() {
    std::string text(random_.Below(20), '\0');
    for (char& c : text) c = char(random_.Below(256));
    return text;
  }
  std::vector<float> Floats() {
    std::vector<float> floats(random_.Below(5));
    for (float& value : floats) value = float(random_.Normal());
    return floats;
  }

  Random random_;
};

Outcome Measured() {
  Outcome outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.timings = {{.contender = "ours", .clock = Clock::kOffline, .median_ns = 9000},
                     {.contender = "ours", .clock = Clock::kDevice, .median_ns = 1000},
                     {.contender = "lt_auto_nn", .clock = Clock::kDevice, .median_ns = 1500},
                     {.contender = "lt_auto_tn", .clock = Clock::kDevice, .median_ns = 1400},
                     {.contender = "cublas_tn", .clock = Clock::kDevice, .median_ns = 1300}};
  return outcome;
}

TEST(Outcome, DecodeInvertsEncodeForRandomOutcomes) {
  RandomOutcome random(1);
  for (int round = 0; round < 2000; ++round) {
    const Outcome outcome = random.Make();
    const Result<Outcome> decoded = DecodeOutcome(EncodeOutcome(outcome));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    ASSERT_EQ(*decoded, outcome);
  }
}

// Archives hold these bytes: another hash is a new version.
TEST(Outcome, HasTheseBytes) {
  const std::string bytes = EncodeOutcome(FullOutcome());
  EXPECT_EQ(bytes.size(), 650u);
  EXPECT_EQ(HashBytes(bytes).Hex(), "fc5283ee7f09df06e7d27f19cc4838ce");
  EXPECT_EQ(*DecodeOutcome(bytes), FullOutcome());
}

TEST(Outcome, NanSurvivesWithItsBits) {
  Outcome outcome = Measured();
  outcome.verdict.max_abs_error = std::nan("7");
  const std::string bytes = EncodeOutcome(outcome);
  EXPECT_TRUE(std::isnan(DecodeOutcome(bytes)->verdict.max_abs_error));
  EXPECT_EQ(EncodeOutcome(*DecodeOutcome(bytes)), bytes);
}

TEST(Outcome, EveryTruncationAndEveryTailIsRefused) {
  RandomOutcome random(2);
  for (int round = 0; round < 20; ++round) {
    const std::string bytes = EncodeOutcome(random.Make());
    for (size_t length = 0; length < bytes.size(); ++length)
      ASSERT_EQ(DecodeOutcome(std::string_view(bytes).substr(0, length)).status().code(), StatusCode::kDataLoss)
          << length;
    EXPECT_EQ(DecodeOutcome(bytes + '\0').status().code(), StatusCode::kDataLoss);
  }
}

TEST(Outcome, AnyChangedByteIsRefusedOrEncodesBackToItself) {
  const std::string bytes = EncodeOutcome(Measured());
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip = 1; flip < 256; flip <<= 1) {
      std::string changed = bytes;
      changed[at] = char(changed[at] ^ flip);
      if (changed[0] != bytes[0]) continue;  // an older version, which is not written any more
      if (const Result<Outcome> decoded = DecodeOutcome(changed); decoded.ok()) {
        ASSERT_EQ(EncodeOutcome(*decoded), changed) << at;
      }
    }
}

// At the end: no tests, no counters; no further limit of the clocks, no steady state; no recipe.
constexpr size_t kBytesOfTests = 4, kBytesOfCounters = 1, kBytesOfThirdVersion = 9, kBytesOfRecipe = 4;

// An outcome without counters, energies and recipe as an older version wrote it.
std::string EncodedAs(uint8_t version, const Outcome& outcome) {
  std::string bytes = EncodeOutcome(outcome);
  bytes.resize(bytes.size() - kBytesOfRecipe);
  const std::string third = bytes.substr(bytes.size() - kBytesOfThirdVersion);
  bytes.resize(bytes.size() - third.size());
  if (version == 1) bytes.resize(bytes.size() - kBytesOfTests - kBytesOfCounters);
  // No kernels and no observer.
  if (version > 1) bytes.insert(bytes.size() - kBytesOfCounters, 8, '\0');
  if (version > 2) bytes += third;
  bytes[0] = char(version);
  return bytes;
}

TEST(Outcome, TheFirstVersionKnewNoContenderButOurs) {
  Outcome outcome = Measured();
  outcome.comparisons = {{"lt_auto_nn", Clock::kDevice, {1.5, 1.5, {1.4, 1.6}, 10}}};
  std::string bytes = EncodedAs(1, outcome);
  const std::string ours("\4\0\0\0ours", 8);
  ASSERT_NE(bytes.rfind(ours), bytes.find(ours)) << "that of the timing comes first";
  bytes.erase(bytes.rfind(ours), ours.size());
  const Result<Outcome> decoded = DecodeOutcome(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, outcome);
}

TEST(Outcome, AnotherVersionAndValuesOutOfRangeAreRefusedInWords) {
  std::string bytes = EncodeOutcome(Measured());
  std::string newer = bytes;
  newer[0] = 9;
  EXPECT_EQ(DecodeOutcome(newer).status().message(), "the encoded outcome is of version 9, known is 5");
  bytes[1] = 9;  // kinds end at 8
  EXPECT_EQ(DecodeOutcome(bytes).status().message(), "the encoded outcome holds a value out of range");
}

TEST(Outcome, WhatTheFirstVersionWroteIsRead) {
  Outcome outcome = Measured();
  outcome.comparisons.clear();
  const Result<Outcome> decoded = DecodeOutcome(EncodedAs(1, outcome));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, outcome);
}

// The second version knew the power cap alone and did not say whether a race was in steady state. Eight samples of a
// short race say it.
TEST(Outcome, TheSecondVersionTellsASteadyStateRaceByItsSamples) {
  Outcome outcome = Measured();
  outcome.protocol = Protocol::kShort;
  for (Timing& timing : outcome.timings) timing.sample_count = 8;
  outcome.conditions.limits = {ClockLimit::kPowerCap};
  const std::string bytes = EncodedAs(2, outcome);
  outcome.conditions.in_steady_state = true;
  EXPECT_EQ(*DecodeOutcome(bytes), outcome);
}

TEST(Outcome, EnergiesRoundTripAndTheThirdVersionHasNone) {
  Outcome outcome = Measured();
  const size_t without = EncodeOutcome(outcome).size();
  EXPECT_EQ(*DecodeOutcome(EncodedAs(3, outcome)), outcome);
  outcome.timings.push_back({.contender = "ours", .clock = Clock::kEnergy});
  outcome.timings.push_back(
      {.contender = "lt_auto_tn", .clock = Clock::kEnergy, .energy = Energy{0.5, {0.49, 0.51}, 690, 1650}});
  EXPECT_GT(EncodeOutcome(outcome).size(), without);
  EXPECT_EQ(*DecodeOutcome(EncodeOutcome(outcome)), outcome);
}

TEST(Outcome, LaunchedKernelsOfOlderVersionsAreSkipped) {
  const Outcome outcome = Measured();
  std::string bytes = EncodedAs(4, outcome);
  const size_t kernels = bytes.size() - kBytesOfThirdVersion - kBytesOfCounters - 8;
  const std::string one("\1\0\0\0\4\0\0\0gemm\0\0\0\0\0\0\xf0?\5\0\0\0cupti", 29);
  bytes.replace(kernels, 8, one);
  const Result<Outcome> decoded = DecodeOutcome(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, outcome);
}

TEST(Outcome, LimitsThatAreNoneAreRefused) {
  std::string bytes = EncodeOutcome(Measured());
  bytes[bytes.size() - kBytesOfRecipe - kBytesOfThirdVersion + 1] = 1;  // beyond those that there are
  EXPECT_EQ(DecodeOutcome(bytes).status().message(), "the encoded outcome holds a value out of range");
}

TEST(RunConditions, AFurtherRaceAddsWhatItSaw) {
  RunConditions all;
  all.Add({.discarded_batches = 1});
  all.Add({.sm_clock_mhz = 1900, .power_watts = 500, .discarded_batches = 2, .limits = {ClockLimit::kPowerCap}});
  all.Add({.sm_clock_mhz = 1500, .power_watts = 700, .limits = {ClockLimit::kSyncBoost}, .in_steady_state = true});
  EXPECT_EQ(all, (RunConditions{1900, 500, 3, {ClockLimit::kPowerCap, ClockLimit::kSyncBoost}, true}));
}

TEST(Outcome, CountersThatAreNoneAreRefused) {
  Outcome outcome = Measured();
  outcome.counters.emplace();
  std::string bytes = EncodeOutcome(outcome);
  bytes[bytes.size() - kBytesOfRecipe - kBytesOfThirdVersion - 1] = char(0x80);  // the highest of the bits of presence
  EXPECT_EQ(DecodeOutcome(bytes).status().message(), "the encoded outcome holds a value out of range");
}

TEST(Outcome, NamesRoundTripAndUnknownOnesAreRefused) {
  for (int i = 0; i <= int(kLastOutcomeKind); ++i) EXPECT_EQ(ParseOutcomeKind(Name(OutcomeKind(i))), OutcomeKind(i));
  for (int i = 0; i <= int(kLastClock); ++i) EXPECT_EQ(ParseClock(Name(Clock(i))), Clock(i));
  for (int i = 0; i <= int(kLastProtocol); ++i) EXPECT_EQ(ParseProtocol(Name(Protocol(i))), Protocol(i));
  EXPECT_EQ(Name(OutcomeKind::kIllegal), "illegal");
  EXPECT_EQ(Name(OutcomeKind::kMeasured), "measured");
  EXPECT_EQ(Name(OutcomeKind::kVerified), "verified");
  EXPECT_FALSE(ParseOutcomeKind("Measured"));
  EXPECT_FALSE(ParseClock(""));
  EXPECT_FALSE(ParseProtocol("forever"));
}

TEST(Outcome, WhoIsWithdrawnHasNoTimeAndNobodyIsComparedWithIt) {
  Outcome outcome = Measured();
  outcome.comparisons = {{.baseline = "lt_auto_tn"}, {.baseline = "cublas_tn"}};
  outcome.comparisons.push_back({.baseline = "lt_auto_nn", .contender = "cublas_tn"});
  outcome.Withdraw("cublas_tn");
  EXPECT_EQ(outcome.FastestBaseline("", Clock::kDevice)->contender, "lt_auto_tn");
  EXPECT_EQ(outcome.comparisons, (std::vector<Comparison>{{.baseline = "lt_auto_tn"}}));
  EXPECT_EQ(outcome.timings.size(), 4u);
}

TEST(Outcome, TimesAreFoundByContenderAndClock) {
  const Outcome outcome = Measured();
  EXPECT_EQ(outcome.TimeNs(), 1000);
  EXPECT_EQ(outcome.Find("ours", Clock::kOffline)->median_ns, 9000);
  EXPECT_EQ(outcome.Find("cublas_tn", Clock::kOffline), nullptr);
  EXPECT_EQ(outcome.FastestBaseline("", Clock::kDevice)->contender, "cublas_tn");
  EXPECT_EQ(outcome.FastestBaseline("lt_auto", Clock::kDevice)->contender, "lt_auto_tn");
  EXPECT_EQ(outcome.FastestBaseline("", Clock::kOffline), nullptr) << "ours is no baseline";
}

TEST(Outcome, TheRingLeadsWhereAnythingWasTimedOnIt) {
  Outcome outcome = Measured();
  EXPECT_EQ(outcome.LeadingClock(), Clock::kDevice);
  EXPECT_EQ(outcome.OursChained(), nullptr);
  outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceChained, .median_ns = 800});
  EXPECT_EQ(outcome.OursChained()->median_ns, 800);
  outcome.timings.push_back({.contender = "lt_auto_nn", .clock = Clock::kDeviceCold, .median_ns = 1700});
  outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceCold, .median_ns = 1600});
  EXPECT_EQ(outcome.LeadingClock(), Clock::kDeviceCold);
  EXPECT_EQ(outcome.TimeNs(), 1600);
  EXPECT_EQ(outcome.OursChained(), nullptr) << "chains of repeated calls are of another clock";
  outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceColdChained, .median_ns = 1300});
  EXPECT_EQ(outcome.OursChained()->median_ns, 1300);
}

TEST(Clock, ChainsHaveAPlainClockAndEveryOtherClockIsItsOwn) {
  for (int i = 0; i <= int(kLastClock); ++i) {
    const Clock clock = Clock(i);
    EXPECT_EQ(IsChained(clock), Name(clock).ends_with("_chained")) << Name(clock);
    EXPECT_FALSE(IsChained(PlainOf(clock))) << Name(clock);
    if (!IsChained(clock)) continue;
    EXPECT_EQ(ChainedOf(PlainOf(clock)), clock);
  }
}

TEST(LooksInSteadyState, LongCallsOfThoroughProtocolsDo) {
  Outcome outcome;
  outcome.protocol = Protocol::kShort;
  const auto with_device = [&](double median_ns, int count) {
    outcome.timings = {{.contender = "lt_auto_tn", .median_ns = median_ns, .sample_count = count}};
    return LooksInSteadyState(outcome);
  };
  EXPECT_TRUE(with_device(310e3, 8));
  EXPECT_TRUE(with_device(299e3, 8)) << "estimated at a little more";
  EXPECT_FALSE(with_device(310e3, 10));
  EXPECT_FALSE(with_device(50e3, 100));
  outcome.protocol = Protocol::kLong;
  EXPECT_TRUE(with_device(310e3, 40));
  EXPECT_FALSE(with_device(200e3, 4000));
  outcome.protocol = Protocol::kScreen;
  EXPECT_FALSE(with_device(310e3, 5));
  outcome.timings.clear();
  EXPECT_FALSE(LooksInSteadyState(outcome));
}

TEST(OutcomeDeathTest, TheTimeOfAFailureIsABug) {
  Outcome wrong = Measured();
  wrong.kind = OutcomeKind::kWrong;
  EXPECT_DEATH(wrong.TimeNs(), "the time of an outcome that is wrong");
  EXPECT_DEATH(Outcome{.kind = OutcomeKind::kVerified}.TimeNs(), "the time of an outcome that is verified");
  EXPECT_DEATH(Outcome{.kind = OutcomeKind::kMeasured}.TimeNs(), "without a device time");
}

TEST(Outcome, TimeOverIsTheGeometricMeanOverThoseOfAPrefixThatWereCompared) {
  Outcome outcome;
  EXPECT_FALSE(outcome.TimeOver("lt_auto", Clock::kDevice));
  outcome.comparisons = {{.baseline = "lt_auto_nn", .ratio = {.median = 2}},
                         {.baseline = "lt_auto_tn", .ratio = {.median = 0.5}},
                         {.baseline = "lt_auto_tn", .clock = Clock::kOffline, .ratio = {.median = 7}},
                         {.baseline = "cublas_nn", .ratio = {.median = 4}}};
  EXPECT_DOUBLE_EQ(outcome.TimeOver("lt_auto", Clock::kDevice).value(), 1);
  EXPECT_DOUBLE_EQ(outcome.TimeOver("lt_auto_nn", Clock::kDevice).value(), 0.5);
  EXPECT_FALSE(outcome.TimeOver("lt_auto", Clock::kServer));
}

}  // namespace
}  // namespace gemmsmith
