#include "base/all_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

namespace gemmsmith {
namespace {

TEST(CoreCount, IsOfTheCoresThatTheThreadMayRunOn) {
  std::thread([] {
    cpu_set_t mine, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &mine)) CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(CoreCount(), 1);
  }).join();
  EXPECT_GE(CoreCount(), 1);
}

TEST(CoresOfQuota, AreWholeOnesAndUnlimitedWhereNothingLimitsThem) {
  EXPECT_EQ(CoresOfQuota("400000 100000\n"), 4);
  EXPECT_EQ(CoresOfQuota("150000 100000\n"), 2);
  EXPECT_EQ(CoresOfQuota("5000 100000\n"), 1);
  for (const char* text : {"max 100000\n", "", "400000", "a b", "0 100000", "400000 0", "-1 100000", "1 2 3"})
    EXPECT_EQ(CoresOfQuota(text), std::nullopt) << text;
}

TEST(LowerPriority, IsOfTheThreadThatSaysSo) {
  const int before = getpriority(PRIO_PROCESS, 0);
  std::thread([&] {
    LowerPriority();
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), std::max(before, 10));
  }).join();
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

TEST(ForEachOnAllCores, DoesEveryItemOnce) {
  std::vector<std::atomic<int>> done(1000);
  ForEachOnAllCores(done.size(), [&](size_t i) { ++done[i]; });
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace gemmsmith
