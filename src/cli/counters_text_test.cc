#include "cli/counters_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"

namespace gemmsmith {
namespace {

Counters SomeCounters() {
  Counters counters;
  counters.observer = "cupti";
  counters.lacks = "the profiler has no dram_gbs";
  counters[Counter::kDuration] = 12345;
  counters[Counter::kTensorPipe] = 61.25;
  counters[Counter::kInstructions] = 1234567;
  counters[Counter::kSmemBytes] = 2048;
  counters[Counter::kStallBarrier] = 1;
  counters[Counter::kStallWgmma] = 3;
  counters[Counter::kStallSleeping] = 0;
  return counters;
}

TEST(CountersText, IsNothingWhereNobodyAsked) { EXPECT_EQ(CountersText(std::nullopt, {}), ""); }

TEST(CountersText, SaysWhoLookedWhatItSawAndWhatIsAbsent) {
  const std::string text = CountersText(SomeCounters(), {});
  for (const char* part :
       {"counters, by CUPTI", "12.3", "61.2 %", "1,234,567", "2.0 KiB", "the rest is absent: the profiler"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_EQ(text.find("dram_percent"), std::string::npos) << "what is absent has no line";
}

TEST(CountersText, SaysOnWhoseWordThoseOfASourceStand) {
  Counters counters = SomeCounters();
  counters.observer = "guest";
  EXPECT_NE(CountersText(counters, {}).find("counters, by CUPTI in the source's own process"), std::string::npos);
}

TEST(CountersText, TheLongestWaitComesFirstAsItsShare) {
  const std::string text = CountersText(SomeCounters(), {});
  const size_t wgmma = text.find("stall_wgmma"), barrier = text.find("stall_barrier");
  ASSERT_NE(wgmma, std::string::npos);
  ASSERT_NE(barrier, std::string::npos);
  EXPECT_LT(wgmma, barrier);
  EXPECT_NE(text.find("75.0 %", wgmma), std::string::npos);
  EXPECT_EQ(text.find("stall_sleeping"), std::string::npos);
}

TEST(CountersJson, HasEveryKeyAndNullForWhatIsAbsent) {
  const Json json = JsonOf(std::optional(SomeCounters()));
  EXPECT_EQ(json.size(), kCounterCount + 2);
  EXPECT_EQ(json.at("tensor_pipe_percent"), 61.25);
  EXPECT_TRUE(json.at("dram_gbs").is_null());
  EXPECT_TRUE(JsonOf(std::optional<Counters>()).is_null());
}

}  // namespace
}  // namespace gemmsmith
