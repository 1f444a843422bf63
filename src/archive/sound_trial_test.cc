#include "archive/sound_trial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "archive/example_trials.h"
#include "archive/segment.h"

namespace gemmsmith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Trial Measured() {
  int number = 0;
  while (ExampleTrial(number).outcome.kind != OutcomeKind::kMeasured) ++number;
  return ExampleTrial(number);
}

TEST(SoundTrial, WhatIsMeasuredIsSoundAlsoWithMediansAlone) {
  for (int number = 0; number < 50; ++number) {
    EXPECT_TRUE(CheckTimes(ExampleTrial(number).outcome).ok()) << number;
    EXPECT_TRUE(CheckNames(ExampleTrial(number)).ok()) << number;
  }
  Trial trial = Measured();
  trial.outcome.timings[0].mean_ns = 0, trial.outcome.timings[0].interval = {},
  trial.outcome.timings[0].samples_ns = {};
  EXPECT_TRUE(CheckTimes(trial.outcome).ok());
}

TEST(SoundTrial, TimesAndRatiosThatAreNoneAreRefusedWhereverTheyComeFrom) {
  for (const double bad : {0.0, -1.0, kInfinity, -kInfinity, std::nan("")}) {
    const std::vector<std::function<void(Outcome&)>> changes = {
        [&](Outcome& outcome) { outcome.timings[0].median_ns = bad; },
        [&](Outcome& outcome) { outcome.timings[0].samples_ns.back() = float(bad); },
        [&](Outcome& outcome) {
          outcome.timings[0].clock = Clock::kEnergy, outcome.timings[0].energy = Energy{.joules = bad};
        },
        [&](Outcome& outcome) { outcome.comparisons[0].ratio.median = bad; },
    };
    for (size_t i = 0; i < changes.size(); ++i) {
      Trial trial = Measured();
      changes[i](trial.outcome);
      EXPECT_EQ(CheckTimes(trial.outcome).code(), StatusCode::kInvalidArgument) << bad << " " << i;
      EXPECT_EQ(FromJsonLine(ToJsonLine(trial)).status().code(), StatusCode::kInvalidArgument) << bad << " " << i;
      EXPECT_EQ(DecodeSegment(EncodeSegments({trial})[0]).status().code(), StatusCode::kDataLoss) << bad << " " << i;
    }
  }
  Trial trial = Measured();
  trial.outcome.timings[1].mean_ns = -1;
  const Status status = CheckTimes(trial.outcome);
  EXPECT_TRUE(status.message().find(trial.outcome.timings[1].contender) != std::string::npos) << status.message();
}

TEST(SoundTrial, NamesThatATerminalWouldObeyAreRefused) {
  Trial trial = Measured();
  trial.setting.device_name = "NVIDIA \x1b[31m H200";
  EXPECT_EQ(FromJsonLine(ToJsonLine(trial)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeSegment(EncodeSegments({trial})[0]).status().code(), StatusCode::kDataLoss);
  trial = Measured();
  trial.outcome.comparisons[0].baseline = "lt\nauto";
  EXPECT_EQ(CheckNames(trial).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace gemmsmith
