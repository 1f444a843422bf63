#include "evaluate/verify/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "evaluate/verify/correctness.h"
#include "evaluate/verify/cpu_product.h"
#include "outcome/test_list.h"

namespace gemmsmith {
namespace {

double RoundTo(double value, double unit_roundoff) {
  if (value == 0) return 0;
  const double ulp = 2 * unit_roundoff * std::exp2(std::floor(std::log2(std::abs(value))));
  return std::nearbyint(value / ulp) * ulp;
}

constexpr GemmKind kF16Sums = {kTn, ScalarType::kF16, Accumulation::kF16};

struct Errors {
  double largest = 0, largest_error = 0, relative = 0, norm = 0;
  std::vector<std::pair<double, double>> elements;  // as they should be, and how far off they are
  double error_squares = 0;

  void Add(double exact, double error) {
    elements.emplace_back(exact, error);
    largest = std::max(largest, std::abs(exact)), largest_error = std::max(largest_error, error);
    norm = std::hypot(norm, exact), error_squares += error * error;
    relative = std::sqrt(error_squares) / norm;
  }
  ptrdiff_t CountBeyondTheirBound(const Gemm& gemm, InputKind kind = InputKind::kNormal) const {
    const Acceptance acceptance = AcceptanceOf(kind, gemm, largest);
    return std::count_if(elements.begin(), elements.end(),
                         [&](const auto& element) { return !(element.second <= acceptance.At(element.first)); });
  }
};

// Values that are rounded to f16 besides the output. kAccumulator: after every 16 products. kFourAccumulators: each of
// four that share K and meet in f32. The blocks: every sum of so many products before it is added to a wide
// accumulator.
enum class Narrow { kNothing, kAccumulator, kFourAccumulators, kProducts, kBlocksOf16, kBlocksOf64 };

int BlockOf(Narrow narrow) { return narrow == Narrow::kProducts ? 1 : narrow == Narrow::kBlocksOf16 ? 16 : 64; }

double UnitRoundoffOf(ScalarType type) { return type == ScalarType::kF16 ? 0x1p-11 : 0x1p-8; }

// A product of normal inputs.
Errors Simulate(int elements, int k, Narrow narrow, ScalarType type = ScalarType::kF16) {
  Random random{uint64_t(k)};
  const double u = UnitRoundoffOf(type);
  Errors errors;
  for (int e = 0; e < elements; ++e) {
    double exact = 0, sum = 0, block = 0, splits = 0;
    for (int i = 0; i < k; ++i) {
      const double product = RoundTo(random.Normal(), u) * RoundTo(random.Normal(), u);
      exact += product;
      block += product;
      if (narrow == Narrow::kNothing) {
        sum += std::exchange(block, 0);
      } else if (narrow == Narrow::kAccumulator || narrow == Narrow::kFourAccumulators) {
        sum += std::exchange(block, 0);
        if (i % 16 == 15) sum = RoundTo(sum, 0x1p-11);
        if (narrow == Narrow::kFourAccumulators && (i + 1) % (k / 4) == 0) splits += std::exchange(sum, 0);
      } else if ((i + 1) % BlockOf(narrow) == 0) {
        sum += RoundTo(std::exchange(block, 0), 0x1p-11);
      }
    }
    errors.Add(exact, std::abs(RoundTo(sum + splits, u) - exact));
  }
  return errors;
}

TEST(BoundsFor, HonestProductsPassAtEverySize) {
  for (auto [elements, k] : {std::pair{1, 1}, {1, 64}, {4, 16}, {64, 64}, {1024, 256}, {512, 2048}}) {
    const Errors errors = Simulate(elements, k, Narrow::kNothing);
    const Gemm gemm{{1, elements, k}};
    EXPECT_LE(errors.relative, BoundsFor(gemm, errors.largest, errors.norm).relative) << elements << " " << k;
    EXPECT_EQ(errors.CountBeyondTheirBound(gemm), 0) << elements << " " << k;
  }
}

TEST(BoundsFor, AnF16AccumulatorFailsFromK128On) {
  for (int k : {128, 512, 2048}) {
    const Errors errors = Simulate(256, k, Narrow::kAccumulator);
    EXPECT_FALSE(errors.relative <= BoundsFor({{16, 16, k}}, errors.largest, errors.norm).relative) << k;
  }
}

TEST(BoundsFor, OneF16RoundingMoreOfWhatIsAddedFails) {
  for (const Narrow narrow : {Narrow::kProducts, Narrow::kBlocksOf16, Narrow::kBlocksOf64})
    for (int k : {128, 512}) {
      const Errors errors = Simulate(1024, k, narrow);
      EXPECT_FALSE(errors.relative <= BoundsFor({{32, 32, k}}, errors.largest, errors.norm).relative)
          << k << ", blocks of " << BlockOf(narrow);
    }
}

// Whom the eight bits of bf16 hide from the norm, small elements tell.
TEST(AcceptanceOf, SumsInF16ShowInSmallElementsOfBothTypes) {
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
    for (const int k : {128, 512}) {
      const Gemm gemm{{64, 64, k}, {kTn, type}};
      for (const Narrow narrow : {Narrow::kProducts, Narrow::kBlocksOf16, Narrow::kBlocksOf64, Narrow::kAccumulator})
        EXPECT_GT(Simulate(4096, k, narrow, type).CountBeyondTheirBound(gemm), 2)
            << Print(gemm) << ", kind " << int(narrow);
      EXPECT_EQ(Simulate(4096, k, Narrow::kNothing, type).CountBeyondTheirBound(gemm), 0) << Print(gemm);
    }
}

// Long sums of blocks of 16 products of normal inputs in bf16: each block rounded to f16 or not, the sum cut off to f32
// behind each.
Errors SimulateLongSums(int elements, int k, bool has_narrow_blocks) {
  Random random{uint64_t(k)};
  std::vector<double> sums_of_pool = {0};
  const auto draw = [&] { return RoundTo(random.Normal(), 0x1p-8); };
  for (int i = 0; i < 1 << 16; ++i) sums_of_pool.push_back(sums_of_pool.back() + draw() * draw());
  Errors errors;
  for (int e = 0; e < elements; ++e) {
    double exact = 0, sum = 0;
    for (int i = 0; i < k; i += 16) {
      const size_t at = random.Below(sums_of_pool.size() - 16);
      const double block = sums_of_pool[at + 16] - sums_of_pool[at];
      exact += block;
      sum += has_narrow_blocks ? RoundTo(block, 0x1p-11) : block;
      const auto nearest = float(sum);
      sum = std::abs(double(nearest)) > std::abs(sum) ? double(std::nextafterf(nearest, 0)) : double(nearest);
    }
    errors.Add(exact, std::abs(RoundTo(sum, 0x1p-8) - exact));
  }
  return errors;
}

TEST(AcceptanceOf, SumsInF16ShowInSmallElementsOfBf16HoweverLongTheyAreInTheGrid) {
  for (const int k : {1024, 4096, 16384}) {
    const Gemm gemm{{128, 128, k}, {kTn, ScalarType::kBf16}};
    EXPECT_GT(SimulateLongSums(1 << 14, k, true).CountBeyondTheirBound(gemm), 5) << k;
  }
  for (const int k : {1024, 16384, 65536}) {
    const Gemm gemm{{64, 64, k}, {kTn, ScalarType::kBf16}};
    const Errors honest = SimulateLongSums(1 << 12, k, false);
    EXPECT_EQ(honest.CountBeyondTheirBound(gemm), 0) << k;
  }
}

TEST(AcceptanceOf, LibrariesAreHeldToTheLargestElement) {
  const Gemm gemm{{64, 64, 512}, {kTn, ScalarType::kBf16}};
  const Acceptance candidate = AcceptanceOf(InputKind::kNormal, gemm, 100);
  const Acceptance library = AcceptanceOf(InputKind::kNormal, gemm, 100, Maker::kLibrary);
  EXPECT_GE(library.At(0), 4 * candidate.At(100));
  EXPECT_NEAR(library.At(0), 4 * candidate.At(100), 0.02);
  EXPECT_LT(candidate.At(0), 0.01 * candidate.At(100));
  EXPECT_FALSE(std::nan("") <= candidate.At(100));
}

TEST(BoundsFor, AnF16AccumulatorPassesWhereTheProblemSaysSo) {
  for (const int k : {16, 64, 512, 4096, 16384}) {
    const Gemm gemm{{16, 16, k}, kF16Sums};
    const Errors errors = Simulate(256, k, Narrow::kAccumulator);
    EXPECT_LE(errors.relative, BoundsFor(gemm, errors.largest, errors.norm).relative) << k;
    EXPECT_EQ(errors.CountBeyondTheirBound(gemm), 0) << k;
  }
}

// Why such problems are not held to the errors of baselines.
TEST(BaselineBound, OfF16SumsThatSplitKIsMissedByHonestOnesThatDoNot) {
  const Errors split = Simulate(1024, 4096, Narrow::kFourAccumulators);
  const Errors whole = Simulate(1024, 4096, Narrow::kAccumulator);
  const Gemm gemm{{32, 32, 4096}, kF16Sums};
  EXPECT_GT(whole.largest_error, BaselineBound(gemm, split.largest_error, split.largest));
}

// Sums of uniform numbers of so many products; the accumulator as in Simulate().
Errors SimulateUniform(int elements, int k, double unit_roundoff, bool narrow_accumulator) {
  Random random{uint64_t(k)};
  Errors errors;
  for (int e = 0; e < elements; ++e) {
    double exact = 0, sum = 0;
    const auto draw = [&] {
      return RoundTo(double(random.Below(1 << 24) + 1) * 0x1p-24 * LargestUniform(k), unit_roundoff);
    };
    for (int i = 0; i < k; ++i) {
      const double product = draw() * draw();
      exact += product, sum += product;
      if (narrow_accumulator && i % 16 == 15) sum = RoundTo(sum, 0x1p-11);
    }
    errors.Add(exact, std::abs(RoundTo(sum, unit_roundoff) - exact));
  }
  return errors;
}

TEST(RelativeBound, UniformSumsPassInBothTypesAndF16AccumulatorsDoNot) {
  for (const auto& [type, u] : {std::pair{ScalarType::kF16, 0x1p-11}, {ScalarType::kBf16, 0x1p-8}})
    for (const int k : {64, 460, 4096, 16384, 40000}) {
      const Gemm gemm{{16, 16, k}, {kTn, type}};
      const Errors honest = SimulateUniform(128, k, u, false);
      EXPECT_LE(honest.relative, RelativeBound(InputKind::kUniform, gemm, honest.largest, honest.norm)) << k;
      EXPECT_EQ(honest.CountBeyondTheirBound(gemm, InputKind::kUniform), 0) << k;
      EXPECT_LT(honest.largest, 6000) << "f16 ends at 65504";
      if (type != ScalarType::kF16 || k < 256) continue;
      const Errors narrow = SimulateUniform(128, k, u, true);
      EXPECT_FALSE(narrow.relative <= RelativeBound(InputKind::kUniform, gemm, narrow.largest, narrow.norm)) << k;
      const Gemm asked_for{gemm.shape, kF16Sums};
      const std::vector<TestPlan> tests = TestsFor(asked_for, true, *ParseTestSet("uniform"));
      EXPECT_EQ(tests.empty(), k > 16384);
      if (tests.empty()) continue;
      EXPECT_LE(narrow.relative, RelativeBound(InputKind::kUniform, asked_for, narrow.largest, narrow.norm)) << k;
      EXPECT_EQ(narrow.CountBeyondTheirBound(asked_for, InputKind::kUniform), 0) << k;
    }
}

// Why f16 sums of more products than that are not put to it: one that adds ones one by one ends at 2048.
TEST(TestsFor, DenseBinarySumsInF16AreLeftOutWhereTheyMayHonestlyStandStill) {
  constexpr int kLong = 4096;
  const Gemm gemm{{64, 64, kLong}, kF16Sums};
  const double density = BinaryDensity(InputKind::kDenseBinary, gemm.kind, kLong);
  Random random{kLong};
  Errors errors;
  for (int e = 0; e < 512; ++e) {
    double exact = 0;
    for (int i = 0; i < kLong; ++i) exact += random.Uniform() < density * density ? 1 : 0;
    errors.Add(exact, exact - std::min(exact, 2048.0));
  }
  EXPECT_GT(errors.CountBeyondTheirBound(gemm, InputKind::kDenseBinary), 5);
  const TestSet dense = *ParseTestSet("dense_binary");
  EXPECT_TRUE(TestsFor(gemm, true, dense).empty());
  EXPECT_FALSE(TestsFor({{64, 64, 2048}, kF16Sums}, true, dense).empty());
  EXPECT_FALSE(TestsFor({{64, 64, kLong}}, true, dense).empty());
}

TEST(AcceptanceOf, SpecialInputsAreExactButForBf16Denormals) {
  const Acceptance f16 = AcceptanceOf(InputKind::kSpecial, {{64, 64, 64}}, 0);
  EXPECT_TRUE(f16.special && f16.fixed == 0);
  const Acceptance bf16 = AcceptanceOf(InputKind::kSpecial, {{64, 64, 64}, {kTn, ScalarType::kBf16}}, 0);
  EXPECT_TRUE(bf16.special && bf16.fixed <= 0x1p-126f);
  EXPECT_EQ(AcceptanceOf(InputKind::kCancellation, {{64, 64, 64}}, 20).exact_below, 2048);
  EXPECT_FALSE(AcceptanceOf(InputKind::kNormal, {{64, 64, 64}}, 20).exact_below > 0);
}

TEST(CpuProductOneByOne, KeepsInfinitiesAndNaN) {
  const float infinity = INFINITY, nan = std::nanf("");
  const float a[] = {infinity, 1, nan, 0, 0, 1}, b[] = {1, 0, 1, 1};
  float c[6] = {};
  CpuProductOneByOne(3, 2, 2, a, b, c);
  EXPECT_EQ(c[0], infinity);
  EXPECT_TRUE(std::isnan(c[1]));  // infinity times 0
  EXPECT_TRUE(std::isnan(c[2]) && std::isnan(c[3]));
  EXPECT_EQ(c[4], 1);
  EXPECT_EQ(c[5], 1);
}

TEST(BoundsFor, NaNNeverPasses) {
  const ErrorBounds bounds = BoundsFor({{8, 8, 8}}, 10, 20);
  EXPECT_FALSE(std::nan("") <= bounds.relative);
  EXPECT_TRUE(std::isfinite(bounds.accumulated + bounds.rounded));
}

TEST(BinaryDensity, SparseSumsStayWhereEveryIntegerIsExact) {
  for (ScalarType type : {ScalarType::kF16, ScalarType::kBf16})
    for (int k : {1, 64, 460, 2048, 16384, 1 << 20}) {
      const double density = BinaryDensity(InputKind::kBinary, {kTn, type}, k);
      const double mean = k * density * density, deviation = std::sqrt(mean);
      EXPECT_LT(mean + 6 * deviation, ExactBelow(type)) << k;
      EXPECT_GT(density, 0);
      EXPECT_GE(BinaryDensity(InputKind::kDenseBinary, {kTn, type}, k), density);
    }
}

TEST(HalfUlp, IsHalfTheStepOfTheBinade) {
  EXPECT_EQ(HalfUlp(ScalarType::kF16, 1.0), 0x1p-11);
  EXPECT_EQ(HalfUlp(ScalarType::kF16, 100.0), 64 * 0x1p-11);
  EXPECT_EQ(HalfUlp(ScalarType::kBf16, 3.0), 2 * 0x1p-8);
}

TEST(BaselineBound, IsTheLargerOfTheTwo) {
  const Gemm gemm{{64, 64, 64}};
  EXPECT_DOUBLE_EQ(BaselineBound(gemm, 1.0, 1.0), 1.1);
  EXPECT_DOUBLE_EQ(BaselineBound(gemm, 0.001, 64.0), 0.001 + 64 * 0x1p-11);
}

TEST(ChainCalls, AreEightWhereTheyAreShortAndNeverFewerThanThree) {
  EXPECT_EQ(ChainCalls(0), 8);
  EXPECT_EQ(ChainCalls(5e3), 8);
  EXPECT_EQ(ChainCalls(0.12e6), 4);
  EXPECT_EQ(ChainCalls(10e6), 3);
}

int ThreadsOfThisProcess() {
  std::ifstream status("/proc/self/status");
  int threads = 0;
  for (std::string line; std::getline(status, line);) std::sscanf(line.c_str(), "Threads: %d", &threads);
  return threads;
}
const int threads_at_start = ThreadsOfThisProcess();

TEST(CpuProduct, StartsNoThreadsBeforeItIsAskedFor) { EXPECT_EQ(threads_at_start, 1); }

TEST(CpuProduct, MultipliesRowMajor) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 0, 1, 3, 1, 1, 1};
  float c[6] = {};
  CpuProduct(2, 2, 3, 3, a, b, c);
  const float expected[] = {4, 5, 11, 10, 11, 29};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(c[i], expected[i]) << i;
}

}  // namespace
}  // namespace gemmsmith
