#include "ship/shape_lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <set>

#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

using Work = std::function<Status(size_t item)>;

class FakeLane : public ShapeLane {
 public:
  FakeLane(Work work, std::function<void()> on_end) : work_(std::move(work)), on_end_(std::move(on_end)) {}
  ~FakeLane() override { on_end_(); }
  void Expect(std::span<const size_t>) override {}
  void Do(std::span<const size_t> layouts, const ReportItem& report) override {
    for (const size_t item : layouts) report(item, work_(item));
  }

 private:
  const Work work_;
  const std::function<void()> on_end_;
};

// Of as many shapes.
std::vector<Gemm> Items(int count) {
  std::vector<Gemm> items;
  for (int i = 1; i <= count; ++i) items.push_back(SomeGemm(64 * i));
  return items;
}

constexpr std::chrono::seconds kForever{60};

TEST(DealOut, WhatALaneGivesBackWhenTheOthersHaveEndedIsDoneByThem) {
  std::promise<void> second_began, first_ended;
  const std::shared_future<void> has_begun = second_began.get_future().share(),
                                 has_ended = first_ended.get_future().share();
  std::once_flag begins, ends;
  std::set<size_t> done, failed;  // by one lane each
  const Work by_first = [&](size_t item) {
    EXPECT_EQ(has_begun.wait_for(kForever), std::future_status::ready);
    EXPECT_TRUE(done.insert(item).second) << "done twice";
    return OkStatus();
  };
  const Work by_second = [&](size_t item) {
    std::call_once(begins, [&] { second_began.set_value(); });
    EXPECT_EQ(has_ended.wait_for(kForever), std::future_status::ready);
    failed.insert(item);
    return Unavailable("the GPU is gone");
  };
  const auto make_lane = [&](size_t lane) -> std::unique_ptr<ShapeLane> {
    if (lane == 1) return std::make_unique<FakeLane>(by_second, [] {});
    return std::make_unique<FakeLane>(by_first, [&] { std::call_once(ends, [&] { first_ended.set_value(); }); });
  };
  const Status world = DealOut(Items(30), 2, make_lane, {[] { return false; }, [](size_t, const Gemm&) {}});
  EXPECT_EQ(world.message(), "the GPU is gone");
  EXPECT_EQ(failed.size(), 2u);
  EXPECT_EQ(done.size(), 28u);
}

TEST(DealOut, WhatIsLeftWhenItIsOverIsBegunByNobody) {
  std::atomic<int> done = 0;
  const auto make_lane = [&](size_t) -> std::unique_ptr<ShapeLane> {
    return std::make_unique<FakeLane>(
        [&](size_t) {
          ++done;
          return OkStatus();
        },
        [] {});
  };
  const Status world = DealOut(Items(30), 2, make_lane, {[&] { return done >= 5; }, [](size_t, const Gemm&) {}});
  EXPECT_TRUE(world.ok());
  EXPECT_GE(done, 5);
  EXPECT_LE(done, 6) << "two lanes may both have asked before";
}

}  // namespace
}  // namespace gemmsmith
