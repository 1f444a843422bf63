// Accumulators of every kind on the patterned inputs, in a model of the arithmetic. One that holds a sum in f16 fails
// the cancellation test at every K of the grid. One that holds it in f32 passes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "problem/grids.h"

namespace gemmsmith {
namespace {

using u64 = uint64_t;
using i64 = int64_t;
#include "harness/input_values.cuh"

constexpr int kRows = 64;  // the fewest that a shape of the grid has
constexpr u64 kSeeds[] = {1, 0x9d2c5680, 0xfeedfacecafe};

double Truncate(double value, double step) { return std::trunc(value / step) * step; }
double Nearest(double value, double step) { return std::nearbyint(value / step) * step; }

// The step between neighbouring numbers of so many significant bits.
double StepAt(double value, int bits) { return std::exp2(std::floor(std::log2(std::abs(value))) - (bits - 1)); }

double ToF16(double value) { return value == 0 ? 0 : Nearest(value, StepAt(value, 11)); }
double ToF16TowardsZero(double value) { return value == 0 ? 0 : Truncate(value, StepAt(value, 11)); }

using Round = double (*)(double);
using Terms = std::vector<double>;

// In the order given, `at_once` terms to one addition.
double Sum(const Terms& terms, size_t first, size_t end, size_t at_once, Round round) {
  double sum = 0;
  for (size_t i = first; i < end; i += at_once) {
    double step = 0;
    for (size_t j = i; j < std::min(end, i + at_once); ++j) step += terms[j];
    sum = round(sum + step);
  }
  return sum;
}

double Exact(const Terms& terms) {
  double sum = 0;
  for (const double term : terms) sum += term;
  return sum;
}

// Any with f16 somewhere between the products and the last sum.
using Accumulator = std::function<double(const Terms&)>;
struct NarrowAccumulator {
  std::string name;
  Accumulator accumulate;
  int least_k = 64;
};

double SplitInF16(const Terms& terms, size_t splits) {
  double sum = 0;
  const size_t share = (terms.size() + splits - 1) / splits;
  for (size_t first = 0; first < terms.size(); first += share)
    sum += ToF16(Sum(terms, first, std::min(terms.size(), first + share), 16, [](double exact) { return exact; }));
  return sum;
}

// Warps that take every so-manieth piece of K and meet in f16.
double InterleavedInF16(const Terms& terms, size_t warps, size_t piece) {
  std::vector<double> sums(warps);
  for (size_t i = 0; i < terms.size(); ++i) sums[i / piece % warps] += terms[i];
  double sum = 0;
  for (const double part : sums) sum += ToF16(part);
  return sum;
}

// f16 within a block of K, the blocks added in f32.
double PromotedByBlock(const Terms& terms, size_t block) {
  double sum = 0;
  for (size_t first = 0; first < terms.size(); first += block)
    sum += Sum(terms, first, std::min(terms.size(), first + block), 16, ToF16);
  return sum;
}

std::vector<NarrowAccumulator> NarrowAccumulators() {
  std::vector<NarrowAccumulator> all;
  for (const size_t at_once : {1, 8, 16})
    all.push_back({fmt::format("f16, {} at once", at_once),
                   [=](const Terms& terms) { return Sum(terms, 0, terms.size(), at_once, ToF16); }});
  all.push_back(
      {"f16, truncating", [](const Terms& terms) { return Sum(terms, 0, terms.size(), 16, ToF16TowardsZero); }});
  for (const size_t splits : {2, 3, 4, 8, 16, 32})
    all.push_back({fmt::format("{} f16 partial sums", splits),
                   [=](const Terms& terms) { return SplitInF16(terms, splits); }, int(16 * splits)});
  for (const size_t warps : {2, 4, 8})
    for (const size_t piece : {16, 32, 64})
      all.push_back({fmt::format("{} warps, pieces of {}, meeting in f16", warps, piece),
                     [=](const Terms& terms) { return InterleavedInF16(terms, warps, piece); }, int(2 * piece)});
  for (const size_t block : {64, 128, 256})
    all.push_back(
        {fmt::format("f16 in blocks of {}", block), [=](const Terms& terms) { return PromotedByBlock(terms, block); }});
  return all;
}

Terms CancellingRow(u64 seed, i64 row, i64 depth) {
  Terms terms;
  for (i64 k = 0; k < depth; ++k) terms.push_back(CancellingA(seed, row, k, depth));
  return terms;
}

std::set<int> DepthsOfGrid() {
  std::set<int> depths;
  const Result<std::vector<Shape>> grid = LoadShapes("paper1000");
  EXPECT_TRUE(grid.ok());
  if (grid.ok())
    for (const Shape& shape : *grid) depths.insert(shape.k);
  for (const int k : {96, 100, 130, 333, 460, 1000, 3584}) depths.insert(k);
  return depths;
}

TEST(Cancellation, WhoeverHoldsASumInF16FailsAtEveryDepth) {
  const std::vector<NarrowAccumulator> all = NarrowAccumulators();
  for (const u64 seed : kSeeds)
    for (const int depth : DepthsOfGrid()) {
      std::vector<Terms> rows;
      for (int row = 0; row < kRows; ++row) rows.push_back(CancellingRow(seed, row, depth));
      for (const NarrowAccumulator& narrow : all) {
        if (depth < narrow.least_k) continue;
        const auto wrong = std::count_if(rows.begin(), rows.end(), [&](const Terms& terms) {
          return ToF16(narrow.accumulate(terms)) != ToF16(Exact(terms));
        });
        EXPECT_GT(wrong, 2) << narrow.name << " at K = " << depth << ", seed " << seed;
      }
    }
}

// A tensor core that shifts the terms of one addition to the largest and cuts off what is then more than `kept` bits
// below its leading one. 13 is what Hopper's FP8 units were seen to keep; f16 and bf16 have more.
double SumOfTruncatingTensorCore(const Terms& terms, size_t at_once, int kept) {
  double sum = 0;
  for (size_t i = 0; i < terms.size(); i += at_once) {
    const size_t end = std::min(terms.size(), i + at_once);
    double largest = std::abs(sum);
    for (size_t j = i; j < end; ++j) largest = std::max(largest, std::abs(terms[j]));
    if (largest == 0) continue;
    const double step = StepAt(largest, kept + 1);
    double next = Truncate(sum, step);
    for (size_t j = i; j < end; ++j) next += Truncate(terms[j], step);
    sum = next;
  }
  return sum;
}

TEST(Cancellation, NobodyWhoHoldsSumsInF32FailsInAnyOrder) {
  for (const u64 seed : kSeeds)
    for (const int depth : DepthsOfGrid())
      for (int row = 0; row < kRows; ++row) {
        const Terms terms = CancellingRow(seed, row, depth);
        const double exact = Exact(terms);
        ASSERT_LT(std::abs(exact), 256) << "exact in bf16 too";
        for (const size_t at_once : {4, 8, 16, 32})
          ASSERT_EQ(SumOfTruncatingTensorCore(terms, at_once, 13), exact) << depth << " " << row;
        for (const size_t splits : {2, 8, 32}) {
          const size_t share = (terms.size() + splits - 1) / splits;
          double sum = 0;
          for (size_t first = 0; first < terms.size(); first += share)
            sum += SumOfTruncatingTensorCore(
                Terms(terms.begin() + i64(first), terms.begin() + i64(std::min(terms.size(), first + share))), 16, 13);
          ASSERT_EQ(sum, exact) << depth << " " << row;
        }
      }
}

// The bound behind the test above: whatever the order, no partial sum outgrows 2^13, and all are integers, so that 12
// bits below the leading one hold them.
TEST(Cancellation, NoPartialSumOutgrowsThirteenBits) {
  for (const int depth : DepthsOfGrid())
    for (int row = 0; row < kRows; ++row) {
      double positive = 0, negative = 0;
      for (const double term : CancellingRow(7, row, depth)) {
        ASSERT_EQ(term, std::trunc(term));
        (term > 0 ? positive : negative) += term;
      }
      ASSERT_LT(positive, 0x1p13) << depth << " " << row;
      ASSERT_GT(negative, -0x1p13) << depth << " " << row;
      ASSERT_GE(positive, kCancelling) << "something cancels in every row: " << depth << " " << row;
    }
}

TEST(Cancellation, LargeTermsCancelInEveryRowOfAnyDepth) {
  for (i64 depth = 1; depth < 300; ++depth)
    for (i64 row = 0; row < 32; ++row) {
      int sum = 0, count = 0;
      for (i64 k = 0; k < depth; ++k) {
        const int sign = CancellingSign(3, row, k, depth);
        sum += sign, count += sign != 0;
      }
      ASSERT_EQ(sum, 0) << depth << " " << row;
      ASSERT_EQ(count >= 2, depth >= 4) << depth << " " << row;
    }
}

TEST(Special, HasEveryKindOfValueWhereTheRowSaysSo) {
  constexpr i64 kDepth = 200;
  for (const bool is_bf16 : {false, true}) {
    const Extremes extremes = ExtremesOf(is_bf16);
    const auto count = [&](i64 row, auto&& is) {
      int found = 0;
      for (i64 k = 0; k < kDepth; ++k) found += is(SpecialA(5, row, k, kDepth, 6, is_bf16)) ? 1 : 0;
      return found;
    };
    EXPECT_EQ(count(1, [](float v) { return std::isinf(v) && v > 0; }), 1);
    EXPECT_EQ(count(6, [](float v) { return std::isinf(v) && v < 0; }), 1);
    EXPECT_EQ(count(4, [](float v) { return std::isnan(v); }), 1);
    EXPECT_EQ(count(2, [](float v) { return v == 0; }), kDepth);
    EXPECT_EQ(count(3, [&](float v) { return v == extremes.largest; }), 1);
    EXPECT_GT(count(5, [&](float v) { return std::abs(v) == extremes.smallest; }), 5);
    EXPECT_EQ(SpecialA(5, 5, SharedSpot(6, kDepth), kDepth, 6, is_bf16), 0) << "no denormal meets an infinity";
    EXPECT_EQ(std::abs(SpecialA(5, 8, SharedSpot(6, kDepth), kDepth, 6, is_bf16)), 1) << "meets what is special in B";
    int nan = 0, infinite = 0, largest = 0, smallest = 0;
    for (i64 column = 0; column < 16; ++column)
      for (i64 k = 0; k < kDepth; ++k) {
        const float value = SpecialB(6, k, column, kDepth, is_bf16);
        nan += std::isnan(value);
        infinite += std::isinf(value);
        largest += value == extremes.largest;
        smallest += value == extremes.smallest;
      }
    EXPECT_EQ(nan, 2);
    EXPECT_EQ(infinite, 4);
    EXPECT_EQ(largest, 2);
    EXPECT_EQ(smallest, 2);
  }
}

// So that every finite element of the special test is exact in both types.
TEST(Special, FiniteSumsStaySmallAndExact) {
  for (const i64 depth : {i64{1}, i64{64}, i64{1000}, i64{16384}})
    for (i64 row = 0; row < 64; row += 8)
      for (const i64 column : {0, 4, 6, 8}) {
        double largest = 0;
        for (i64 k = 0; k < depth; ++k)
          largest += std::abs(SpecialA(5, row, k, depth, 6, false) * SpecialB(6, k, column, depth, false));
        EXPECT_LT(largest, 256) << depth;
      }
}

// One term is exact whatever its size, as long as largest values do not meet.
TEST(Special, LargestAndSmallestOfBMeetOneTermThatTheyCanBeMultipliedBy) {
  for (const bool is_bf16 : {false, true})
    for (const i64 depth : {i64{1}, i64{64}, i64{1000}})
      for (i64 row = 0; row < 64; ++row)
        for (const i64 column : {1, 2}) {
          int terms = 0;
          for (i64 k = 0; k < depth; ++k) terms += SpecialB(6, k, column, depth, is_bf16) != 0;
          EXPECT_EQ(terms, 1);
          const float met = std::abs(SpecialA(5, row, SharedSpot(6, depth), depth, 6, is_bf16));
          EXPECT_TRUE(met == 0 || met == 1 || !std::isfinite(met)) << row;
          EXPECT_TRUE(row % 8 != 0 || met == 1) << row;
        }
}

}  // namespace
}  // namespace gemmsmith
