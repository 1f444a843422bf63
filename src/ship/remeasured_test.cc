#include "ship/remeasured.h"

#include <gtest/gtest.h>

#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

class RemeasuredTest : public testing::Test {
 protected:
  RemeasuredTest() {
    catalogue_.Put(
        {.gemm = gemm_,
         .plan = plans_[0],
         .times = {{"device_cold", 1000, {990, 1010}, 1.5, {1.4, 1.6}}, {"server", 9000, {8000, 9900}, 2, {1, 3}}}});
  }
  // Beside AutoTuning, which takes 1.6 us in nn and 1.8 in tn.
  Trial Raced(double time_ns, int64_t unix_ms, Protocol protocol = Protocol::kShort) const {
    Trial trial;
    trial.gemm = gemm_;
    trial.subject = SubjectOf(plans_[0]);
    trial.setting.device_key = "h200";
    trial.unix_ms = unix_ms;
    trial.outcome = MeasuredIn(time_ns, protocol);
    for (const auto& [name, ns] : {std::pair("lt_auto_nn", 1600.0), std::pair("lt_auto_tn", 1800.0)})
      trial.outcome.comparisons.push_back({name, Clock::kDeviceCold, {ns / time_ns, ns / time_ns, {1, 2}, 20}});
    return trial;
  }

  const Gemm gemm_ = SomeGemm();
  const std::vector<Plan> plans_ = SomePlans(2);
  Catalogue catalogue_ = Catalogue("h200");
};

TEST_F(RemeasuredTest, TheLastCarefulTrialOfAnEntryStandsBesideIt) {
  const std::vector<Trial> trials = {Raced(800, 3), Raced(500, 2), Raced(400, 4, Protocol::kHeat)};
  const Remeasured remeasured = Remeasure(catalogue_, trials);
  EXPECT_EQ(remeasured.entries, 1u);
  EXPECT_TRUE(remeasured.failures.empty());
  ASSERT_EQ(remeasured.by_mode.size(), 1u) << "server was not measured again";
  const std::vector<Remeasured::Ratios>& device = remeasured.by_mode.at("device_cold");
  ASSERT_EQ(device.size(), 1u);
  EXPECT_EQ(device[0].gemm, gemm_);
  EXPECT_DOUBLE_EQ(device[0].time, 0.8);
  EXPECT_DOUBLE_EQ(device[0].speed_up, 2.0 / 1.5);
}

TEST_F(RemeasuredTest, WhatIsNotTheEntrySaysNothingOfIt) {
  Trial other_plan = Raced(800, 1), other_device = Raced(800, 1), other_problem = Raced(800, 1);
  other_plan.subject = SubjectOf(plans_[1]);
  other_device.setting.device_key = "h100";
  other_problem.gemm.shape.k *= 2;
  const std::vector<Trial> trials = {other_plan, other_device, other_problem};
  EXPECT_EQ(Remeasure(catalogue_, trials).entries, 0u);
}

TEST_F(RemeasuredTest, WhoPassedWithoutAutoTuningBesideItSaysNothing) {
  Trial alone = Raced(800, 2);
  alone.outcome.comparisons.clear();
  EXPECT_EQ(Remeasure(catalogue_, std::span(&alone, 1)).entries, 0u);
}

TEST_F(RemeasuredTest, WhoDoesNotPassAnyMoreIsNamed) {
  Trial wrong = Raced(800, 2);
  wrong.outcome = {};
  wrong.outcome.kind = OutcomeKind::kWrong;
  wrong.outcome.protocol = Protocol::kShort;
  wrong.outcome.reason = "test binary: 3 of 9 elements are wrong";
  const Remeasured remeasured = Remeasure(catalogue_, std::vector{Raced(900, 1), wrong});
  EXPECT_EQ(remeasured.entries, 1u);
  ASSERT_EQ(remeasured.failures.size(), 1u);
  EXPECT_EQ(remeasured.failures[0].second, "wrong: test binary: 3 of 9 elements are wrong");
  EXPECT_TRUE(remeasured.by_mode.empty());
}

}  // namespace
}  // namespace gemmsmith
