#include "evaluate/time/energy_clock.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluate/time/pairing.h"
#include "outcome/outcome.h"

namespace gemmsmith {
namespace {

// A GPU that draws what `watts` says at each moment, and whose counter tells of it every `update` seconds, late by
// `lag`.
struct FakeGpu {
  std::function<double(double seconds)> watts;
  double update = 0.1, lag = 0.02;
  double now = 1000;
  int sleeps = 0;

  double JoulesAt(double seconds) const {
    constexpr double kStep = 1e-3;
    double joules = 0;
    for (double t = 1000; t < seconds; t += kStep) joules += watts(t) * kStep;
    return joules;
  }
  double Counter() const {
    if (update <= 0) return 12;
    return std::floor(1000 * JoulesAt(std::floor(now / update) * update - lag)) / 1000;
  }
  EnergyMeter Meter() {
    return {.joules = [this]() -> Result<double> { return Counter(); },
            .sm_clock_mhz = [this]() -> Result<int> { return now < 1000.2 ? 1980 : 1650; },
            .seconds = [this] { return now; },
            .sleep = [this](double seconds) { now += seconds, ++sleeps; }};
  }
};

const auto kNothing = [] { return OkStatus(); };

TEST(WatchEnergy, ReadsAtUpdatesOfTheCounterSoThatTheyCostNothing) {
  for (const double update : {0.02, 0.07, 0.1}) {
    FakeGpu gpu{.watts = [](double) { return 650.0; }, .update = update};
    const Result<EnergyWindow> window = WatchEnergy(gpu.Meter(), kNothing);
    ASSERT_TRUE(window.ok()) << window.status().message();
    EXPECT_NEAR(window->watts, 650, 0.002 * 650) << update;
    EXPECT_GE(window->end_seconds - window->begin_seconds, kEnergyWindowSeconds);
    EXPECT_LE(window->end_seconds - window->begin_seconds, kEnergyWindowSeconds + update + 0.01);
    EXPECT_EQ(window->sm_clock_mhz, 1650);
  }
}

TEST(WatchEnergy, EnergyBeforeSteadyStateIsNotInIt) {
  FakeGpu gpu{.watts = [](double seconds) { return seconds < 1000.15 ? 100.0 : 700.0; }};
  EXPECT_NEAR(WatchEnergy(gpu.Meter(), kNothing)->watts, 700, 2);
}

TEST(WatchEnergy, FeedsTheGpuAllTheWhileAndEndsWithIt) {
  FakeGpu gpu{.watts = [](double) { return 650.0; }};
  int fed = 0;
  EXPECT_TRUE(WatchEnergy(gpu.Meter(), [&] { return ++fed, OkStatus(); }).ok());
  EXPECT_EQ(fed, gpu.sleeps);
  EXPECT_GT(fed, 1000);
  EXPECT_EQ(WatchEnergy(gpu.Meter(), [] { return IoError("lost"); }).status().message(), "lost");
}

TEST(WatchEnergy, ACounterThatStandsStillIsNone) {
  FakeGpu gpu{.watts = [](double) { return 650.0; }, .update = 0};
  const Status status = WatchEnergy(gpu.Meter(), kNothing).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("stands still"), std::string::npos);
  EXPECT_LT(gpu.now, 1003);
}

TEST(EnergyReplays, FillAWindowAlsoWhereCallsTakeAFifthLess) {
  for (const double call_ns : {2.5e3, 0.3e6, 9e6, 3e9}) {
    const int calls = CallsIn(Batch::kLong, call_ns);
    EXPECT_GE(EnergyReplays(call_ns, calls) * calls * call_ns / 1.2 / 1e9,
              kEnergyWarmUpSeconds + kEnergyWindowSeconds + 0.2)
        << call_ns;
  }
}

// A clock that needs no GPU: each entry takes its time and its watts, a little more in each round.
class FakeEnergyClock : public RoundClock {
 public:
  Result<std::vector<double>> TimeRound(std::span<const size_t>, const WaitListener&) override {
    ++round_;
    return std::vector<double>{2e9 + round_, 3e9 + round_};
  }
  int round_ = 0;
};

TEST(RaceOfEnergies, ComparesJoulesAndSaysWhichRoundsItKept) {
  FakeEnergyClock clock;
  int readings = 0;
  const ReadCondition read = [&]() -> Result<GpuCondition> {
    GpuCondition condition;
    condition.other_processes = ++readings == 3 ? 1 : 0;  // spoils the second and the third round
    return condition;
  };
  RaceRules rules{.min_rounds = 3, .max_rounds = 3};
  rules.reading_interval_seconds = 0;
  const RaceEntry entries[] = {{"ours", Clock::kEnergy, 0}, {"lt_auto_tn", Clock::kEnergy, kNoCandidate, true}};
  Random random(1);
  const Result<RaceResult> race =
      Race(entries, rules, random, read, [&](std::span<const size_t> order) { return clock.TimeRound(order, {}); });
  ASSERT_TRUE(race.ok()) << race.status().message();
  EXPECT_NEAR(race->comparisons[0][0].ratio.median, 1.5, 1e-6);
  EXPECT_EQ(race->kept_rounds, (std::vector<int>{0, 3, 4}));
  EXPECT_EQ(race->timings[0].sample_count, 3);
}

}  // namespace
}  // namespace gemmsmith
