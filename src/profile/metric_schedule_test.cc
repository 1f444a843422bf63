#include "profile/metric_schedule.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

constexpr std::string_view kKnown = "gpu__time_duration.sum", kUnknown = "gpu__time_lost.sum";

TEST(MetricSchedule, LeavesOutWhatTheChipDoesNotHave) {
  const std::string_view metrics[] = {kUnknown, kKnown, "sm__cycles_active.no_such_rollup"};
  const auto schedule = MetricSchedule::Make("GH100", metrics, {});
  if (!schedule.ok()) GTEST_SKIP() << schedule.status().message();
  EXPECT_EQ((*schedule)->metrics(), std::vector<std::string>{std::string(kKnown)});
  EXPECT_EQ((*schedule)->unknown().size(), 2u);
  EXPECT_EQ((*schedule)->passes(), 1u);
}

TEST(MetricSchedule, AnUnknownChipIsRefusedInOneLine) {
  const std::string_view metrics[] = {kKnown};
  if (const auto known = MetricSchedule::Make("GH100", metrics, {}); !known.ok())
    GTEST_SKIP() << known.status().message();
  const Status refused = MetricSchedule::Make("GX999", metrics, {}).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_EQ(refused.message(), "CUPTI: cuptiProfilerHostInitialize: CUPTI_ERROR_INVALID_CHIP_NAME");
}

TEST(MetricSchedule, ASetOfUnknownMetricsIsRefused) {
  const std::string_view metrics[] = {kUnknown};
  const Status refused = MetricSchedule::Make("GH100", metrics, {}).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace gemmsmith
