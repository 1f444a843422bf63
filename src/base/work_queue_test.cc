#include "base/work_queue.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

using Items = std::vector<size_t>;

class WorkQueueTest : public testing::Test {
 protected:
  // Items 0 and 1 form a group, as do 2 and 3; 4 stands alone.
  WorkQueue Make(WorkQueue::Options options = {}) { return WorkQueue({0, 0, 1, 1, 2}, *stop_, std::move(options)); }

  bool is_over_ = false;
  const std::unique_ptr<StopRule> stop_ = StopWhen([this] { return is_over_; }, "over");
};

TEST_F(WorkQueueTest, AGroupIsLeasedAsAWholeAndOnce) {
  WorkQueue queue = Make();
  EXPECT_EQ(queue.Lease(0), (Items{0, 1}));
  EXPECT_EQ(queue.Lease(7), (Items{2, 3}));
  EXPECT_EQ(queue.CountOpen(), 1u);
  EXPECT_EQ(queue.Lease(0), (Items{4}));
  EXPECT_TRUE(queue.Lease(7).empty());
}

TEST_F(WorkQueueTest, ADroppedItemIsNotLeased) {
  WorkQueue queue = Make();
  queue.Drop(0);
  queue.Drop(2);
  queue.Drop(3);
  EXPECT_EQ(queue.Lease(0), (Items{1}));
  EXPECT_EQ(queue.Lease(0), (Items{4}));
}

TEST_F(WorkQueueTest, WhatAWorkerHasNotBegunGoesBackInItsOldOrder) {
  WorkQueue queue = Make();
  queue.Lease(0);
  queue.Lease(0);
  queue.Begin(0, 0);
  queue.Return(0);
  EXPECT_EQ(queue.Lease(1), (Items{1})) << "the other of the group was begun";
  EXPECT_EQ(queue.Lease(1), (Items{2, 3}));
}

TEST_F(WorkQueueTest, OneGroupThatFailsRetiresNobodyTwoInARowDo) {
  WorkQueue queue = Make();
  EXPECT_TRUE(queue.Fail(0, 0, Unavailable("no memory")));
  EXPECT_TRUE(queue.Fail(0, 1, Unavailable("no memory"))) << "of the same group";
  EXPECT_TRUE(queue.Fail(1, 2, Unavailable("no memory"))) << "another worker's first";
  queue.Succeed(0);
  EXPECT_TRUE(queue.Fail(0, 2, Unavailable("no memory"))) << "not in a row";
  EXPECT_TRUE(queue.MayBegin(0));
  EXPECT_FALSE(queue.Fail(0, 4, IoError("the GPU is gone")));
  EXPECT_FALSE(queue.MayBegin(0));
  EXPECT_TRUE(queue.Lease(0).empty());
  EXPECT_TRUE(queue.MayBegin(1));
  EXPECT_EQ(queue.failure().message(), "the GPU is gone");
}

TEST_F(WorkQueueTest, FailuresOfAGroupCountEachWhereTheOptionSaysSo) {
  WorkQueue queue = Make({.max_failures = 3, .group_fails_once = false});
  EXPECT_TRUE(queue.Fail(0, 0, Unavailable("first")));
  EXPECT_TRUE(queue.Fail(0, 1, Unavailable("second")));
  EXPECT_FALSE(queue.Fail(0, 2, Unavailable("third")));
}

TEST_F(WorkQueueTest, TheFirstReasonToRetireIsKept) {
  WorkQueue queue = Make();
  queue.Retire(1, IoError("disk full"));
  queue.Retire(0, IoError("something else"));
  EXPECT_EQ(queue.failure().message(), "disk full");
}

TEST_F(WorkQueueTest, AStoppedQueueStaysStopped) {
  WorkQueue queue = Make();
  EXPECT_TRUE(queue.MayBegin(0));
  EXPECT_EQ(queue.stop_reason(), "");
  is_over_ = true;
  EXPECT_FALSE(queue.MayBegin(0));
  is_over_ = false;
  EXPECT_FALSE(queue.MayBegin(1));
  EXPECT_EQ(queue.stop_reason(), "over");
  EXPECT_TRUE(queue.failure().ok()) << "a rule is no failure";
}

TEST_F(WorkQueueTest, EvaluationsCountForTheRule) {
  const std::unique_ptr<StopRule> budget = StopAfterEvaluations(10);
  WorkQueue queue({0, 1}, *budget);
  queue.CountEvaluations(4);
  EXPECT_EQ(queue.EvaluationsLeft(), 6);
  EXPECT_FALSE(queue.IsStopped());
  queue.CountEvaluations(6);
  EXPECT_EQ(queue.evaluations(), 10);
  EXPECT_TRUE(queue.IsStopped());
}

TEST_F(WorkQueueTest, TellsWhichItemBeginsAndHowManyBeganBefore) {
  std::vector<std::pair<size_t, size_t>> told;
  WorkQueue queue = Make({.on_begin = [&](size_t item, size_t begun) { told.emplace_back(item, begun); }});
  queue.Lease(0);
  queue.Lease(1);
  queue.Begin(1, 3);
  queue.Begin(0, 0);
  EXPECT_EQ(told, (std::vector<std::pair<size_t, size_t>>{{3, 0}, {0, 1}}));
}

TEST(GroupBy, NumbersKeysByTheirFirstItem) {
  const std::vector<std::string> words = {"b", "a", "b", "c", "a"};
  EXPECT_EQ(GroupBy(words, [](const std::string& word) { return word; }), (Items{0, 1, 0, 2, 1}));
}

}  // namespace
}  // namespace gemmsmith
