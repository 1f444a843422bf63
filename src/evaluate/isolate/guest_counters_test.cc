#include "evaluate/isolate/guest_counters.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

constexpr double kCountingSeconds = 20, kHangSeconds = 0.7;

Counters CountersOfGuest(const std::string& act) {
  Result<GuestProcess> guest =
      GuestProcess::Start({"/proc/self/exe", "fake_guest", act}, {.counts = true}, kCountingSeconds);
  EXPECT_TRUE(guest.ok()) << guest.status().message();
  int announced = 0;
  const Counters counters = CountersFrom(*guest, {.shape = {64, 64, 64}},
                                         act == "hang" ? kHangSeconds : kCountingSeconds, [&] { ++announced; });
  EXPECT_GT(announced, 0);
  return counters;
}

TEST(GuestCounters, AreWhatTheGuestSaysAndNobodyElse) {
  const Counters counters = CountersOfGuest("counts");
  EXPECT_EQ(counters.observer, "guest");
  EXPECT_EQ(counters.lacks, "");
  EXPECT_EQ(counters[Counter::kDuration], 1500);
  EXPECT_FALSE(counters[Counter::kWaves]);
}

TEST(GuestCounters, AGuestWithoutAProfilerSaysSo) {
  const Counters counters = CountersOfGuest("well");
  EXPECT_EQ(counters.observer, "");
  EXPECT_EQ(counters.lacks, "no profiler in here");
}

struct CountingFault {
  const char* act;
  const char* reason;  // part of it
};

class FaultyCountingGuest : public testing::TestWithParam<CountingFault> {};

TEST_P(FaultyCountingGuest, CostsTheCountersAndNothingElse) {
  const Counters counters = CountersOfGuest(GetParam().act);
  EXPECT_EQ(counters.observer, "");
  EXPECT_EQ(counters.PresentBits(), 0u);
  EXPECT_NE(counters.lacks.find(GetParam().reason), std::string::npos) << counters.lacks;
}

INSTANTIATE_TEST_SUITE_P(Guest, FaultyCountingGuest,
                         testing::Values(CountingFault{"crash", "signal 11"}, CountingFault{"hang", "for 0.7 s"},
                                         CountingFault{"forbidden", "forbidden system call: execve"},
                                         CountingFault{"nonsense", "answer of a guest"},
                                         CountingFault{"fails", "cudaErrorInvalidValue"},
                                         CountingFault{"lost", "CUDA_ERROR_ILLEGAL_ADDRESS"}),
                         [](const auto& instance) { return std::string(instance.param.act); });

}  // namespace
}  // namespace gemmsmith
