#include "harness/ring_kernels.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

// As Report() of ring_check.cuh packs it.
uint64_t Word(uint64_t round, uint64_t set, RingFault::Kind kind, uint64_t index) {
  return ~(round << 44 | set << 35 | uint64_t(kind) << 32 | index);
}

TEST(RingFault, SaysWhichCallOfWhichRoundDidWhat) {
  const auto print = [](uint64_t word, bool over_rows) { return RingFault::Of(word)->Print(31, over_rows); };
  EXPECT_EQ(print(Word(2, 16, RingFault::kWrong, 5), false), "call 17 of 31 in round 3 left row 5 of C wrong");
  EXPECT_EQ(print(Word(2, 16, RingFault::kWrong, 5), true), "call 17 of 31 in round 3 left column 5 of C wrong");
  EXPECT_EQ(print(Word(0, 0, RingFault::kUnwritten, 70000), true),
            "call 1 of 31 in round 1 left row 70000 of C unwritten");
  EXPECT_EQ(print(Word(1, 255, RingFault::kModifiedB, 1), true), "call 256 of 31 in round 2 modified B");
  EXPECT_EQ(print(Word(9, 0, RingFault::kOutside, 2), true), "a call in round 10 wrote outside C");
}

TEST(RingFault, IsNoneWhereTheWordIsZero) { EXPECT_FALSE(RingFault::Of(0)); }

// The check keeps the largest word.
TEST(RingFault, TheFirstRoundThenTheFirstCallThenWhatWasNotWrittenComesFirst) {
  EXPECT_GT(Word(1, 9, RingFault::kWrong, 9), Word(2, 0, RingFault::kUnwritten, 0));
  EXPECT_GT(Word(1, 3, RingFault::kWrong, 9), Word(1, 4, RingFault::kUnwritten, 0));
  EXPECT_GT(Word(1, 3, RingFault::kUnwritten, 9), Word(1, 3, RingFault::kWrong, 0));
  EXPECT_GT(Word(1, 3, RingFault::kModifiedA, 9), Word(1, 3, RingFault::kWrong, 0));
}

}  // namespace
}  // namespace gemmsmith
