#include "evaluate/time/ring.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

RingPlan PlanOf(Shape shape) { return RingPlan::For({shape, {kTn}}); }

TEST(RingPlan, TinyCallsFillTheirBatch) {
  // A call takes 1.5 us and more.
  const RingPlan plan = PlanOf({64, 64, 64});
  EXPECT_GE(plan.brief_sets * 1.5e3, 0.06e6 - 1.5e3);
  EXPECT_EQ(plan.long_sets, 256);
  EXPECT_EQ(plan.SetsOf(Batch::kBrief), plan.brief_sets);
  EXPECT_EQ(plan.SetsOf(Batch::kLong), plan.long_sets);
}

TEST(RingPlan, LargeProblemsHaveTwoToFourSets) {
  for (const Shape& shape : {Shape{4096, 4096, 4096}, Shape{16384, 64, 16384}, Shape{16384, 16384, 16384}}) {
    EXPECT_EQ(PlanOf(shape).brief_sets, 2) << Print(shape);
    EXPECT_GE(PlanOf(shape).long_sets, 3) << Print(shape);
    EXPECT_LE(PlanOf(shape).long_sets, 4) << Print(shape);
  }
}

TEST(RingPlan, StaysWithinHalfAGibibyteWhereSetsAreSmall) {
  for (const Shape& shape : {Shape{256, 512, 4096}, Shape{16, 8192, 3584}, Shape{2048, 2048, 2048}, Shape{1, 1, 1}}) {
    const Task task = MakeTask({shape, {kTn}});
    EXPECT_LE(PlanOf(shape).long_sets * task.bytes, double(512 << 20)) << Print(shape);
    EXPECT_LE(PlanOf(shape).brief_sets, PlanOf(shape).long_sets) << Print(shape);
    EXPECT_GE(Ring::BytesFor({shape, {kTn}}), uint64_t(PlanOf(shape).long_sets * task.bytes)) << Print(shape);
  }
}

}  // namespace
}  // namespace gemmsmith
