// The check of the ring in plain C++ over simulated arithmetic: honest products pass, and what is to be found is found.
#include "evaluate/verify/ring_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/ring_values_on_cpu.h"

namespace gemmsmith {
namespace {

using namespace on_cpu;

// To so many significant bits, as where no number is too small to be normal.
double RoundTo(double value, int bits) {
  if (value == 0) return 0;
  const double step = std::exp2(std::floor(std::log2(std::abs(value))) - (bits - 1));
  return std::nearbyint(value / step) * step;
}

using Matrix = std::vector<float>;  // row-major

// How a product is summed: the sum after one more step of 16 products.
using Accumulate = std::function<double(double sum, double step)>;
double InF32(double sum, double step) { return float(sum + step); }
double TruncatedF32(double sum, double step) {
  const double exact = sum + step;
  if (exact == 0) return 0;
  const double unit = std::exp2(std::floor(std::log2(std::abs(exact))) - 23);
  return std::trunc(exact / unit) * unit;
}
double InF16(double sum, double step) { return RoundTo(sum + step, 11); }

class Simulated {
 public:
  Simulated(const Gemm& gemm, u64 key) : gemm_(gemm), key_(key) {
    const auto [m, n, k] = gemm.shape;
    a_ = Draw(key, m, k);
    b_ = Draw(key + 1, k, n);
    c_.resize(size_t(m) * n);
  }
  int bits() const { return gemm_.kind.type == ScalarType::kF16 ? 11 : 8; }
  void Multiply(const Accumulate& accumulate) {
    for (int row = 0; row < gemm_.shape.m; ++row)
      for (int column = 0; column < gemm_.shape.n; ++column) MultiplyOne(row, column, 0, gemm_.shape.k, accumulate);
  }
  // For this part of K.
  void MultiplyOne(int row, int column, int begin, int end, const Accumulate& accumulate) {
    const auto [m, n, k] = gemm_.shape;
    double sum = 0;
    for (int first = begin; first < end; first += 16) {
      double step = 0;
      for (int i = first; i < std::min(first + 16, end); ++i)
        step += double(a_[size_t(row) * k + i]) * b_[size_t(i) * n + column];
      sum = accumulate(sum, step);
    }
    At(row, column) = float(RoundTo(sum, bits()));
  }
  float& At(int row, int column) { return c_[size_t(row) * gemm_.shape.n + column]; }

  // How many sums fail, with weights of this key.
  int Failures(u64 weights_key, Maker maker = Maker::kCandidate) const {
    const RingSums sums = RingSums::For(gemm_, maker);
    int failures = 0;
    for (int segment = 0; segment < sums.segments; ++segment) {
      const i64 first = segment * sums.segment, end = std::min(first + sums.segment, sums.weighed);
      const std::vector<float> vector = Spread(sums, first, end, weights_key);
      for (i64 line = 0; line < sums.kept; ++line)
        if (!Passes(sums, line, first, end, vector, weights_key)) ++failures;
    }
    return failures;
  }

 private:
  Matrix Draw(u64 key, int rows, int columns) const {
    Matrix matrix;
    const int pairs = (columns + 1) / 2;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        const NormalPair pair = NormalsAt(key, u32(row * pairs + column / 2));
        matrix.push_back(float(RoundTo(column % 2 == 0 ? pair.even : pair.odd, bits())));
      }
    return matrix;
  }
  float A(i64 row, i64 i) const { return a_[size_t(row * gemm_.shape.k + i)]; }
  float B(i64 i, i64 column) const { return b_[size_t(i * gemm_.shape.n + column)]; }
  std::vector<float> Spread(const RingSums& sums, i64 first, i64 end, u64 key) const {
    std::vector<float> vector(size_t(gemm_.shape.k));
    for (i64 i = 0; i < gemm_.shape.k; ++i)
      for (i64 at = first; at < end; ++at)
        vector[size_t(i)] += (sums.over_rows ? A(at, i) : B(i, at)) * RingWeight(key, u32(at));
    return vector;
  }
  bool Passes(const RingSums& sums, i64 line, i64 first, i64 end, const std::vector<float>& vector, u64 key) const {
    float difference = 0, squares = 0;
    for (i64 i = 0; i < gemm_.shape.k; ++i)
      difference -= (sums.over_rows ? B(i, line) : A(line, i)) * vector[size_t(i)];
    for (i64 at = first; at < end; ++at) {
      const i64 n = gemm_.shape.n;
      const float value = c_[size_t(sums.over_rows ? at * n + line : line * n + at)];
      difference += value * RingWeight(key, u32(at));
      squares += PowerBelow(value) * PowerBelow(value);
    }
    return RingSumPasses(difference, squares, float(end - first), float(sums.roundoff), float(sums.accumulated),
                         float(sums.deviations));
  }

  const Gemm gemm_;
  const u64 key_;
  Matrix a_, b_, c_;
};

Gemm Of(Shape shape, ScalarType type = ScalarType::kF16, Accumulation accumulation = Accumulation::kF32) {
  return {shape, {kTn, type, accumulation}};
}

const Shape kShapes[] = {{64, 64, 64}, {17, 31, 63}, {1, 1, 1}, {1, 150, 7}, {200, 3, 129}, {96, 160, 512}};

TEST(RingSums, HonestProductsPass) {
  for (const Shape& shape : kShapes)
    for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
      for (u64 key = 1; key <= 3; ++key) {
        for (const Accumulate& accumulate : {Accumulate(InF32), Accumulate(TruncatedF32)}) {
          Simulated product(Of(shape, type), key * 77);
          product.Multiply(accumulate);
          for (u64 weights = 0; weights < 20; ++weights)
            ASSERT_EQ(product.Failures(weights), 0) << Print(shape) << " " << Name(type) << " " << key;
        }
        if (type == ScalarType::kBf16) continue;
        Simulated narrow(Of(shape, type, Accumulation::kF16), key);
        narrow.Multiply(InF16);
        for (u64 weights = 0; weights < 20; ++weights)
          ASSERT_EQ(narrow.Failures(weights), 0) << Print(shape) << " f16 sums " << key;
      }
}

TEST(RingSums, OneElementThatIsOffByHalfAStandardDeviationIsFound) {
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
    for (const Shape& shape : {Shape{64, 64, 64}, Shape{17, 31, 63}, Shape{160, 300, 512}})
      for (u64 key = 1; key <= 3; ++key) {
        Simulated product(Of(shape, type), key);
        product.Multiply(InF32);
        const int row = int(key * 5) % shape.m, column = int(key * 7) % shape.n;
        float& element = product.At(row, column);
        element = float(RoundTo(element + 0.5 * std::sqrt(double(shape.k)), product.bits()));
        for (u64 weights = 0; weights < 20; ++weights)
          EXPECT_GT(product.Failures(weights), 0) << Print(shape) << " " << Name(type) << " " << key;
      }
}

// A step of 16 of K = 4096, in a tile of 16 by 8.
TEST(RingSums, AStepOfKThatIsLeftOutInOneTileIsFound) {
  constexpr Shape kShape{48, 40, 4096};
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
    Simulated product(Of(kShape, type), 3);
    product.Multiply(InF32);
    for (int row = 16; row < 32; ++row)
      for (int column = 8; column < 16; ++column) product.MultiplyOne(row, column, 16, kShape.k, InF32);
    for (u64 weights = 0; weights < 10; ++weights) EXPECT_GT(product.Failures(weights), 0) << Name(type);
  }
}

TEST(RingSums, SumsInF16WhereF32IsAskedForAreFoundFromK2048On) {
  Simulated product(Of({96, 64, 2048}), 11);
  product.Multiply(InF16);
  for (u64 weights = 0; weights < 10; ++weights) EXPECT_GT(product.Failures(weights), 0);
}

TEST(RingSums, LibrariesMayBeOffByFourTimesAsMuch) {
  const Gemm gemm = Of({64, 64, 64});
  EXPECT_EQ(RingSums::For(gemm, Maker::kLibrary).deviations, 4 * RingSums::For(gemm, Maker::kCandidate).deviations);
}

// The shorter side is weighed, and so long are segments that one wrong element shows.
TEST(RingSums, SegmentsAreAsShortAsTheTypeAsks) {
  const auto sums = [](const Gemm& gemm) { return RingSums::For(gemm, Maker::kCandidate); };
  EXPECT_TRUE(sums(Of({16, 4096, 4096})).over_rows);
  EXPECT_FALSE(sums(Of({16384, 64, 16384})).over_rows);
  EXPECT_EQ(sums(Of({4096, 4096, 4096})).segments, 1);
  EXPECT_EQ(sums(Of({4096, 4096, 4096}, ScalarType::kBf16)).segment, 128);
  EXPECT_EQ(sums(Of({4096, 4096, 4096}, ScalarType::kBf16)).segments, 32);
  EXPECT_EQ(sums(Of({4096, 4096, 4096}, ScalarType::kF16, Accumulation::kF16)).segment, 64);
  for (const Shape& shape : kShapes)
    for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
      const RingSums of = sums(Of(shape, type));
      EXPECT_GE(of.segments * of.segment, of.weighed);
      EXPECT_LT((of.segments - 1) * of.segment, of.weighed);
      EXPECT_EQ(of.segment % 64, 0);
      EXPECT_EQ(of.padded % (of.segments == 1 ? 1 : 4), 0);
      EXPECT_GE(of.padded, of.segments);
    }
}

}  // namespace
}  // namespace gemmsmith
