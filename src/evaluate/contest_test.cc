#include "evaluate/contest.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(IsOfGraphs, TheClocksOfTheDeviceAreAndThoseOfCallsAreNot) {
  for (const Clock clock :
       {Clock::kDevice, Clock::kDeviceChained, Clock::kDeviceCold, Clock::kDeviceColdChained, Clock::kEnergy})
    EXPECT_TRUE(IsOfGraphs(clock)) << Name(clock);
  for (const Clock clock : {Clock::kOffline, Clock::kServer, Clock::kHost})
    EXPECT_FALSE(IsOfGraphs(clock)) << Name(clock);
}

}  // namespace
}  // namespace gemmsmith
