#include "base/run_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <numeric>
#include <set>

namespace gemmsmith {
namespace {

class FakeWorker : public Worker {
 public:
  FakeWorker(std::function<void(size_t item)> work, std::function<void()> on_end)
      : work_(std::move(work)), on_end_(std::move(on_end)) {}
  ~FakeWorker() override { on_end_(); }
  void Do(size_t item) override { work_(item); }

 private:
  const std::function<void(size_t)> work_;
  const std::function<void()> on_end_;
};

std::vector<size_t> EachItsOwnGroup(size_t count) {
  std::vector<size_t> groups(count);
  std::iota(groups.begin(), groups.end(), size_t{0});
  return groups;
}

constexpr std::chrono::seconds kForever{60};
constexpr size_t kAhead = 8;

TEST(RunOnAll, OthersDoWhatARetiredWorkerReturnsAlsoWhenTheyHadEnded) {
  const std::unique_ptr<StopRule> never = StopOnAny({});
  WorkQueue queue(EachItsOwnGroup(30), *never);
  std::promise<void> second_began, first_ended;
  const std::shared_future<void> has_begun = second_began.get_future().share(),
                                 has_ended = first_ended.get_future().share();
  std::once_flag begins, ends;
  std::set<size_t> done, failed;  // by one worker each
  const auto by_first = [&](size_t item) {
    EXPECT_EQ(has_begun.wait_for(kForever), std::future_status::ready);
    EXPECT_TRUE(done.insert(item).second) << "done twice";
    queue.Succeed(0);
  };
  const auto by_second = [&](size_t item) {
    std::call_once(begins, [&] { second_began.set_value(); });
    EXPECT_EQ(has_ended.wait_for(kForever), std::future_status::ready);
    failed.insert(item);
    queue.Fail(1, item, Unavailable("the GPU is gone"));
  };
  RunOnAll(queue, 2, kAhead, [&](size_t worker) {
    if (worker == 1) return std::make_unique<FakeWorker>(by_second, [] {});
    return std::make_unique<FakeWorker>(by_first, [&] { std::call_once(ends, [&] { first_ended.set_value(); }); });
  });
  EXPECT_EQ(queue.failure().message(), "the GPU is gone");
  EXPECT_EQ(failed.size(), 2u);
  EXPECT_EQ(done.size(), 28u);
}

TEST(RunOnAll, AStopRuleLeavesTheRestOpen) {
  std::atomic<int> done = 0;
  const std::unique_ptr<StopRule> stop = StopWhen([&] { return done >= 5; }, "enough");
  WorkQueue queue(EachItsOwnGroup(30), *stop);
  RunOnAll(queue, 2, kAhead, [&](size_t) { return std::make_unique<FakeWorker>([&](size_t) { ++done; }, [] {}); });
  EXPECT_TRUE(queue.failure().ok());
  EXPECT_EQ(queue.stop_reason(), "enough");
  EXPECT_GE(done, 5);
  EXPECT_LE(done, 6) << "both workers may have asked before the fifth was done";
  EXPECT_EQ(queue.CountOpen(), 30 - size_t(done));
}

TEST(RunWorker, ExpectsItemsInTheirOrderAheadOfTheirTurn) {
  class Recorder : public Worker {
   public:
    void Expect(size_t item) override { log += "e" + std::to_string(item); }
    void Do(size_t item) override { log += "d" + std::to_string(item); }
    void Finish() override { log += "f"; }
    std::string log;
  } recorder;
  const std::unique_ptr<StopRule> never = StopOnAny({});
  WorkQueue queue({0, 0, 0, 1}, *never);
  RunWorker(queue, 0, recorder, 1);
  EXPECT_EQ(recorder.log, "e0e1d0e2d1e3d2d3f") << "also where a group is larger";
}

}  // namespace
}  // namespace gemmsmith
