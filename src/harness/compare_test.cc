// The comparison, the checksum and the filling themselves, run on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "harness/ring_kernels_on_cpu.h"

namespace gemmsmith::emulated {
namespace {

constexpr u16 kGap = 0xffa5;

void Launch(const std::function<void()>& kernel) {
  blockDim = {32, 1, 1};
  gridDim = {2, 1, 1};
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel();
}

// A matrix with gaps between its lines, `shift` elements behind 16 bytes, and a reference that a few elements miss.
class SmallMatrix {
 public:
  SmallMatrix(i64 lines, i64 length, i64 gap, int shift, int type)
      : memory_(size_t(lines * (length + gap) + 16), kGap), reference_(size_t(lines * length)) {
    const u64 misaligned = reinterpret_cast<u64>(memory_.data()) % 16 / 2;
    matrix = {memory_.data() + (8 - misaligned) % 8 + u64(shift), lines, length, length + gap, 1, type};
    for (i64 i = 0; i < lines * length; ++i) {
      const u64 bits = HashAt(7, i);
      reference_[size_t(i)] = float(int(bits % 4096) - 2048) / 16;
      At(i) = Narrow(reference_[size_t(i)] + (bits >> 20) % 16 / 8 * 3.0f, type);
    }
  }
  u16& At(i64 i) {
    return static_cast<u16*>(matrix.data)[i / matrix.line_length * matrix.stride + i % matrix.line_length];
  }
  float ValueOf(i64 i) { return Widen(At(i), matrix.type); }
  i64 Count() const { return matrix.lines * matrix.line_length; }
  Differences CompareAll(const Acceptance& acceptance) const {
    Differences differences{};
    Launch([&] { Compare({matrix, reference_.data(), acceptance, &differences}); });
    return differences;
  }
  u64 ChecksumOfAll() const {
    u64 sum = 0;
    Launch([&] { Checksum({matrix, &sum}); });
    return sum;
  }
  int GapsLeft() const { return int(std::ranges::count(memory_, kGap)); }

  Matrix matrix{};
  std::vector<u16> memory_;
  std::vector<float> reference_;
};

void ForEachMatrix(const std::function<void(SmallMatrix&)>& look) {
  for (const int type : {kF16, kBf16})
    for (const int shift : {0, 1, 4})
      for (const i64 gap : {0, 1, 8})
        for (const i64 lines : {1, 3, 20})
          for (const i64 length : {1, 7, 8, 9, 40, 67}) {
            SCOPED_TRACE(testing::Message() << lines << " lines of " << length << ", gap " << gap << ", shift " << shift
                                            << ", type " << type);
            SmallMatrix matrix(lines, length, gap, shift, type);
            look(matrix);
          }
}

TEST(Compare, FindsWhatALoopOverAllElementsFinds) {
  const Acceptance acceptance{.exact_below = 10, .fixed = 0.5f, .share = 0.01f, .most = 1};
  u64 all_failures = 0;
  ForEachMatrix([&](SmallMatrix& matrix) {
    const Differences found = matrix.CompareAll(acceptance);
    u64 failures = 0, worst = 0, first = 0;
    double squares = 0, reference_squares = 0;
    float largest = 0;
    for (i64 i = 0; i < matrix.Count(); ++i) {
      const float expected = matrix.reference_[size_t(i)], error = std::fabs(matrix.ValueOf(i) - expected);
      const bool passes =
          std::fabs(expected) < 10 ? error == 0 : error <= std::min(0.5f + 0.01f * std::fabs(expected), 1.0f);
      if (!passes && ++failures == 1) first = ~u64(i);
      worst = std::max(worst, u64(__float_as_uint(error)) << 32 | u32(i));
      squares += double(error) * error;
      reference_squares += double(expected) * expected;
      largest = std::max(largest, std::fabs(expected));
    }
    EXPECT_EQ(found.failures, failures);
    EXPECT_EQ(found.first_failure_complement, first);
    EXPECT_EQ(found.worst, worst);
    EXPECT_NEAR(found.error_squares, squares, 1e-9 * squares);
    EXPECT_NEAR(found.reference_squares, reference_squares, 1e-9 * reference_squares);
    EXPECT_EQ(FloatOf(found.largest_reference), largest);
    all_failures += failures;
  });
  EXPECT_GT(all_failures, 100u);
}

TEST(Compare, AReferenceEqualsItselfUnlessItHoldsANaN) {
  std::vector<float> values(61, 1.5f);
  values[42] = -7;
  const Matrix matrix{values.data(), 1, 61, 61, 1, kF32};
  const auto compare = [&] {
    Differences differences{};
    Launch([&] { Compare({matrix, values.data(), {}, &differences}); });
    return differences;
  };
  EXPECT_EQ(compare().failures, 0u);
  EXPECT_EQ(FloatOf(compare().largest_reference), 7);
  values[60] = NAN;
  EXPECT_EQ(compare().failures, 1u);
  EXPECT_EQ(~compare().first_failure_complement, 60u);
}

TEST(Compare, SpecialValuesStandWhereTheReferenceHasThem) {
  SmallMatrix matrix(2, 9, 1, 0, kF16);
  const Acceptance special{.special = true};
  for (i64 i = 0; i < matrix.Count(); ++i) matrix.At(i) = Narrow(matrix.reference_[size_t(i)] = float(i), kF16);
  matrix.reference_[3] = NAN;
  matrix.reference_[11] = 1e6f;  // infinity in f16
  matrix.At(3) = 0x7e00;
  matrix.At(11) = 0x7c00;
  EXPECT_EQ(matrix.CompareAll(special).failures, 0u);
  matrix.At(12) = 0x7e00;
  EXPECT_EQ(matrix.CompareAll(special).failures, 1u);
}

TEST(Checksum, ChangesWithEveryElementAndWithNothingElse) {
  ForEachMatrix([&](SmallMatrix& matrix) {
    const u64 sum = matrix.ChecksumOfAll();
    for (i64 i = 0; i < matrix.Count(); i += 1 + matrix.Count() / 50) {
      matrix.At(i) ^= 0x8000;
      EXPECT_NE(matrix.ChecksumOfAll(), sum) << i;
      matrix.At(i) ^= 0x8000;
    }
    if (matrix.matrix.stride > matrix.matrix.line_length && matrix.matrix.lines > 1)
      static_cast<u16*>(matrix.matrix.data)[matrix.matrix.line_length] = 0;
    EXPECT_EQ(matrix.ChecksumOfAll(), sum);
  });
}

TEST(FillUnits, FillsElementsAndNoGaps) {
  ForEachMatrix([&](SmallMatrix& matrix) {
    for (i64 i = 0; i < matrix.Count(); ++i) matrix.At(i) = 0;
    const int gaps = matrix.GapsLeft();
    Launch([&] { FillUnits(matrix.matrix, 0, 0x7fff); });
    for (i64 i = 0; i < matrix.Count(); ++i) EXPECT_EQ(matrix.At(i), 0x7fff) << i;
    EXPECT_EQ(matrix.GapsLeft(), gaps);
  });
}

}  // namespace
}  // namespace gemmsmith::emulated
