// The numbers of the ring, on the CPU: what they are distributed as, and that places and keys are told apart.
#include "harness/ring_values_on_cpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace gemmsmith {
namespace {

using namespace on_cpu;

constexpr u32 kPairs = 1 << 20;

TEST(RingValues, AreNormal) {
  double sum = 0, squares = 0, fourths = 0, products = 0, neighbours = 0, largest = 0;
  float before = 0;
  for (u32 place = 0; place < kPairs; ++place) {
    const NormalPair pair = NormalsAt(0x123456789abcdef, place);
    for (const double value : {pair.even, pair.odd}) {
      sum += value;
      squares += value * value;
      fourths += value * value * value * value;
      largest = std::max(largest, std::abs(value));
    }
    products += double(pair.even) * pair.odd;
    neighbours += double(pair.even) * before;
    before = pair.odd;
  }
  // Each within five of its standard deviations.
  EXPECT_NEAR(sum / (2 * kPairs), 0, 5 / std::sqrt(2.0 * kPairs));
  EXPECT_NEAR(squares / (2 * kPairs), 1, 5 * std::sqrt(2 / (2.0 * kPairs)));
  EXPECT_NEAR(fourths / (2 * kPairs), 3, 5 * std::sqrt(96 / (2.0 * kPairs)));
  EXPECT_NEAR(products / kPairs, 0, 5 / std::sqrt(double(kPairs)));
  EXPECT_NEAR(neighbours / kPairs, 0, 5 / std::sqrt(double(kPairs)));
  EXPECT_GT(largest, 4.5);
  EXPECT_LT(largest, 5.3);
}

TEST(RingValues, DifferFromSetToSetAndFromKeyToKey) {
  std::set<u64> keys;
  for (const u64 key : {0ull, 1ull, 1ull << 32, ~0ull})
    for (i64 set = 0; set < 256; ++set) keys.insert(RingKeyOf(key, set));
  EXPECT_EQ(keys.size(), 4 * 256u);
  for (const u64 other : {7ull ^ 1, 7ull ^ 1ull << 40}) {
    int equal = 0;
    for (u32 place = 0; place < 4096; ++place) equal += NormalsAt(7, place).even == NormalsAt(other, place).even;
    EXPECT_LT(equal, 16) << other;
  }
}

TEST(RingHash, FlipsHalfOfTheBitsWhateverBitOfThePlaceChanges) {
  for (int bit = 0; bit < 32; ++bit) {
    double flipped = 0;
    for (u32 place = 0; place < 4096; ++place)
      flipped += __builtin_popcount(RingHash(99, place) ^ RingHash(99, place ^ (u32{1} << bit)));
    EXPECT_NEAR(flipped / 4096, 16, 1) << bit;
  }
}

// A change of the highest bits, and one that is taken back elsewhere, are those that a sum might not see.
TEST(RingChecksum, ChangesThatCouldCompensateRarelyAgreeInSixteenBits) {
  constexpr u32 kTrials = 1 << 20, kBefore[4] = {5, 5, 5, 5};
  for (const u32 change : {1u, 0x8000u, 0x80000000u})
    for (const int word : {0, 3})
      for (const u32 distance : {0u, 1u, 1u << 20}) {
        u32 after[4] = {5, 5, 5, 5};
        after[word] ^= change;
        u32 agree_low = 0, agree_high = 0;
        for (u32 trial = 0; trial < kTrials; ++trial) {
          const u64 place_key = Mix(trial), first = Mix(place_key), second = Mix(first);
          const u32 key[4] = {u32(first), u32(first >> 32), u32(second), u32(second >> 32)};
          const u64 changed = RingChecksumOf(key, kBefore, 1) - RingChecksumOf(key, after, 1);
          const u32 taken_back = distance == 0 ? 0 : RingHash(place_key, 7 + distance);
          const u64 difference = changed * (RingHash(place_key, 7) - taken_back);
          agree_low += (difference & 0xffff) == 0;
          agree_high += difference >> 48 == 0;
        }
        // Chance makes 16, a product of two random numbers ten times as many.
        EXPECT_LT(agree_low, 256u) << change << " " << word << " " << distance;
        EXPECT_LT(agree_high, 256u) << change << " " << word << " " << distance;
      }
}

TEST(RingWeight, IsOfEitherSignAndNeverSmall) {
  double sum = 0, squares = 0;
  for (u32 place = 0; place < kPairs; ++place) {
    const float weight = RingWeight(5, place);
    EXPECT_GE(std::abs(weight), 0.75f);
    EXPECT_LT(std::abs(weight), 1.25f);
    sum += weight;
    squares += double(weight) * weight;
  }
  EXPECT_NEAR(sum / kPairs, 0, 5 / std::sqrt(double(kPairs)));
  EXPECT_NEAR(squares / kPairs, kRingWeightSquare, 5 * 0.3 / std::sqrt(double(kPairs)));
}

TEST(RingSumPasses, RefusesWhatIsNoNumber) {
  const float infinity = Infinity(), nan = NotANumber();
  EXPECT_TRUE(RingSumPasses(0, 1, 4, 0x1p-11f, 0, 6));
  EXPECT_FALSE(RingSumPasses(nan, 1, 4, 0x1p-11f, 0, 6));
  EXPECT_FALSE(RingSumPasses(0, infinity, 4, 0x1p-11f, 0, 6));
  EXPECT_FALSE(RingSumPasses(0, nan, 4, 0x1p-11f, 0, 6));
  EXPECT_FALSE(RingSumPasses(infinity, infinity, 4, 0x1p-11f, 0, 6));
  EXPECT_EQ(PowerBelow(-3.5f), 2.0f);
  EXPECT_EQ(PowerBelow(0.0f), 0.0f);
  EXPECT_EQ(PowerBelow(nan), infinity);
}

}  // namespace
}  // namespace gemmsmith
