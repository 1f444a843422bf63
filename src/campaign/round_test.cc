#include "campaign/round.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

Gemm Problem(int k, Layout layout, ScalarType type = ScalarType::kF16) {
  return {.shape = {64, 64, k}, .kind = {.layout = layout, .type = type}};
}

TEST(JoinLayouts, ALayoutJoinsItsProblemAmongNeighboursOfTheShape) {
  const std::vector<Gemm> items = {Problem(64, kNn), Problem(64, kNn, ScalarType::kBf16), Problem(64, kTn),
                                   Problem(128, kTn), Problem(64, kTn, ScalarType::kBf16)};
  EXPECT_EQ(JoinLayouts(items), (std::vector<Layouts>{{0, 2}, {1}, {3}, {4}}));
}

TEST(JoinLayouts, AThirdOfAProblemBeginsAnother) {
  const std::vector<Gemm> items = {Problem(64, kNn), Problem(64, kTn), Problem(64, kNn)};
  EXPECT_EQ(JoinLayouts(items), (std::vector<Layouts>{{0, 1}, {2}}));
}

TEST(Round, TellsOfItemsAndCollectsThemInTheirOrder) {
  const std::unique_ptr<StopRule> never = StopOnAny({});
  std::vector<std::pair<size_t, int64_t>> told;
  Round<int> round({Problem(64, kNn), Problem(64, kTn), Problem(128, kNn), Problem(192, kNn)}, *never,
                   [&](size_t begun, const Gemm& gemm) { told.emplace_back(begun, gemm.shape.k); });
  EXPECT_EQ(round.queue().Lease(0), (std::vector<size_t>{0}));
  EXPECT_EQ(round.queue().Lease(0), (std::vector<size_t>{1}));
  round.queue().Begin(0, 1);
  round.queue().Begin(0, 0);
  EXPECT_EQ(told, (std::vector<std::pair<size_t, int64_t>>{{0, 128}, {1, 64}, {2, 64}}));
  round.Report(0, 1, 2, Unavailable("no memory"));
  round.Report(0, 0, 1, 10);
  round.Report(0, 0, 0, 20);
  std::vector<int> done;
  std::vector<std::pair<Gemm, Status>> failures;
  size_t left = 0;
  round.Collect([&](const Gemm&, int value) { done.push_back(value); }, failures, left);
  EXPECT_EQ(done, (std::vector<int>{20, 10}));
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].first.shape.k, 128);
  EXPECT_EQ(left, 1u);
}

}  // namespace
}  // namespace gemmsmith
