// The kernels of the draw and the check themselves, run on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "harness/ring_kernels_on_cpu.h"

namespace gemmsmith::emulated {
namespace {

void Launch(i64 blocks, int sets, int layers, const std::function<void()>& kernel) {
  blockDim = {kRingThreads, 1, 1};
  gridDim = {u32(blocks), u32(sets), u32(layers)};
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < kRingThreads; ++threadIdx.x) kernel();
}

i64 Ceil(i64 count, i64 unit) { return (count + unit - 1) / unit; }
i64 Tiles(const Matrix& matrix) { return Ceil(matrix.lines, kRingTile) * Ceil(matrix.line_length, kRingTile); }
i64 Strips(const Matrix& matrix, int part) {
  return Ceil(Ceil(matrix.line_length, kRingSpan) * Ceil(matrix.lines, part), kRingThreads / 32);
}

struct Problem {
  int m, n, k, type, segment;
  bool is_wide;  // gaps between lines leave 16 bytes aligned
  bool a_is_row = true, b_is_row = true;
};

// A ring of two sets whose products are right.
class SmallRing {
 public:
  static constexpr int kSets = 2;
  static constexpr u16 kPoisoned = 0x7f93;

  explicit SmallRing(const Problem& problem) : problem_(problem) {
    const auto& [m, n, k, type, segment, is_wide, a_is_row, b_is_row] = problem;
    check.a = Make(0, m, k, a_is_row, 3);
    check.b = Make(1, k, n, b_is_row, 0);
    check.c = Make(2, m, n, true, 5);
    for (const RingOperand* operand : {&check.a, &check.b}) {
      Launch(Tiles(operand->matrix), kSets, 1, [&] { harness_ring_draw(*operand); });
      Launch(Strips(operand->matrix, kRingPart), kSets, 1, [&] { harness_ring_checksum(*operand); });
    }
    for (int set = 0; set < kSets; ++set)
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
          float sum = 0;
          for (int i = 0; i < k; ++i)
            sum += Widen(At(check.a, set, row, i), type) * Widen(At(check.b, set, i, column), type);
          At(check.c, set, row, column) = Narrow(sum, type);
        }
    Prepare();
  }

  u16& At(const RingOperand& operand, int set, int row, int column) const {
    const RingMatrix matrix(operand, set);
    return matrix.data[matrix.OffsetOf(row, column)];
  }
  const std::vector<u16>& Memory(int operand) const { return memory_[operand]; }
  float SmallestSquare() const {
    return *std::min_element(differences_.end() - check.SquaresBehind(), differences_.end());
  }
  // The kind of the first fault and its set, or nothing.
  struct Found {
    bool is_fault;
    int kind, set;
    u32 index;
  };
  Found Check() {
    std::ranges::fill(found_, 0u);
    std::ranges::fill(vectors_, 0.0f);
    std::ranges::fill(differences_, 0.0f);
    fault_ = 0;
    const int part = check.Part();
    Launch(Strips(check.Spread().matrix, part), kSets, 1, [&] { harness_ring_spread(check); });
    const i64 blocks = std::max(Strips(check.c.matrix, part), Strips(check.Other().matrix, part));
    Launch(blocks, kSets, 1 + int(Ceil(check.padded, kRingVectors)),
           [&] { check.segments == 1 ? harness_ring_compare(check) : harness_ring_compare_many(check); });
    Launch(2, kSets, 1, [&] { harness_ring_judge(check); });
    const u64 fields = ~fault_;
    return {fault_ != 0, int(fields >> 32 & 7), int(fields >> 35 & 0x1ff), u32(fields)};
  }

  RingCheck check{};
  std::vector<u32> bands = std::vector<u32>(kRingBands * 50);

 private:
  RingOperand Make(int operand, int rows, int columns, bool is_row, int gap) {
    const i64 lines = is_row ? rows : columns, length = is_row ? columns : rows;
    const i64 stride = length + (problem_.is_wide ? 8 * gap : gap), step = lines * stride + (problem_.is_wide ? 8 : 1);
    memory_[operand].assign(size_t(step * kSets), kPoisoned);
    const Matrix matrix{memory_[operand].data(), lines, length, stride, is_row, problem_.type};
    return {
        matrix, step, u64(operand), {{3, 1u << 31, 55, ~0u}, 77}, &drawn_[operand * kSets], &found_[operand * kSets]};
  }
  void Prepare() {
    for (int band = 0; band < kRingBands; ++band) check.bands[band] = {bands.data() + 50 * band, 50};
    check.fault = &fault_;
    check.over_rows = problem_.m < problem_.n;
    check.weighed = std::min(problem_.m, problem_.n);
    check.kept = std::max(problem_.m, problem_.n);
    check.depth = problem_.k;
    check.segment = problem_.segment;
    check.sets = kSets;
    check.segments = int((check.weighed + check.segment - 1) / check.segment);
    check.padded = check.segments == 1 ? 1 : (check.segments + 3) / 4 * 4;
    check.weights_key = 991;
    check.poison = kPoisoned;
    check.round = 3;
    check.roundoff = problem_.type == kF16 ? 0x1p-11f : 0x1p-8f;
    check.accumulated = 1e-5f * std::sqrt(float(problem_.k));
    check.deviations = 6;
    vectors_.resize(size_t(kSets * check.depth * check.padded));
    differences_.resize(size_t(2 * kSets * check.segments * check.kept));
    check.vectors = vectors_.data();
    check.differences = differences_.data();
    Launch(1, kSets, 1, [&] { harness_ring_judge(check); });  // draws the bands
  }

  const Problem problem_;
  std::vector<u16> memory_[3];
  u64 drawn_[3 * kSets] = {}, found_[3 * kSets] = {};
  std::vector<float> vectors_, differences_;
  u64 fault_ = 0;
};

class RingCheckKernels : public testing::TestWithParam<Problem> {
 protected:
  // Every problem in all layouts.
  void ForEachRing(const std::function<void(SmallRing& ring, const Problem& problem)>& look) {
    for (const bool a_is_row : {false, true})
      for (const bool b_is_row : {false, true}) {
        Problem problem = GetParam();
        problem.a_is_row = a_is_row;
        problem.b_is_row = b_is_row;
        SCOPED_TRACE(testing::Message() << (a_is_row ? "row" : "col") << "-" << (b_is_row ? "row" : "col"));
        SmallRing ring(problem);
        look(ring, problem);
      }
  }
  static void Expect(SmallRing& ring, RingFault kind, int set, u32 index) {
    const SmallRing::Found found = ring.Check();
    EXPECT_TRUE(found.is_fault);
    EXPECT_EQ(found.kind, kind);
    EXPECT_EQ(found.set, set);
    EXPECT_EQ(found.index, index);
  }
};

// Both sides, both types; one segment, a few and many; units of 16 bytes that are aligned, and that are not or are cut;
// more lines and positions than a warp has.
INSTANTIATE_TEST_SUITE_P(, RingCheckKernels,
                         testing::Values(Problem{17, 31, 63, kF16, 4096, false}, Problem{70, 90, 130, kF16, 64, false},
                                         Problem{90, 70, 66, kBf16, 64, false}, Problem{1, 1, 1, kF16, 4096, false},
                                         Problem{258, 257, 9, kBf16, 64, false},
                                         Problem{16, 272, 136, kF16, 4096, true},
                                         Problem{272, 8, 264, kBf16, 128, true},
                                         Problem{136, 264, 16, kF16, 128, true}));

// Every segment has a sum of its own.
TEST_P(RingCheckKernels, PassHonestProducts) {
  ForEachRing([](SmallRing& ring, const Problem&) {
    EXPECT_FALSE(ring.Check().is_fault);
    EXPECT_GT(ring.SmallestSquare(), 0);
  });
}

TEST_P(RingCheckKernels, NameEachFaultOfC) {
  ForEachRing([](SmallRing& ring, const Problem& problem) {
    const auto [m, n, k, type] = std::tuple(problem.m, problem.n, problem.k, problem.type);
    const int row = m / 2, column = n / 2;
    u16& element = ring.At(ring.check.c, 1, row, column);
    element = Narrow(Widen(element, type) + 0.5f * std::sqrt(float(k)), type);
    Expect(ring, kRingWrong, 1, u32(m < n ? column : row));
    element = SmallRing::kPoisoned;
    Expect(ring, kRingUnwritten, 1, u32(row));
  });
}

TEST_P(RingCheckKernels, NameAndMendWhatWasWrittenBesideC) {
  ForEachRing([](SmallRing& ring, const Problem& problem) {
    const std::vector<u16> a = ring.Memory(0), b = ring.Memory(1);
    ring.At(ring.check.a, 1, problem.m - 1, problem.k / 2) ^= 1;
    Expect(ring, kRingModifiedA, 1, 0);
    ring.At(ring.check.b, 0, problem.k / 2, problem.n - 1) ^= 0x8000;
    Expect(ring, kRingModifiedB, 0, 0);
    ring.bands[3 * 50 + 7] ^= 4;
    Expect(ring, kRingOutside, 0, 1);
    EXPECT_FALSE(ring.Check().is_fault);
    EXPECT_EQ(ring.Memory(0), a);
    EXPECT_EQ(ring.Memory(1), b);
  });
}

TEST_P(RingCheckKernels, SeeTwoChangesThatCouldCompensate) {
  ForEachRing([](SmallRing& ring, const Problem& problem) {
    const auto a = [&](int row, int column) -> u16& { return ring.At(ring.check.a, 1, row, column); };
    const int row = problem.m - 1, column = problem.k - 1;
    if (row < 1 || column < 1) return;
    for (const auto& [other_row, other_column] : {std::pair(0, column), {row, 0}, {row, column - 1}, {0, 0}}) {
      u16 &first = a(row, column), &second = a(other_row, other_column);
      if (first != second) {
        std::swap(first, second);
        Expect(ring, kRingModifiedA, 1, 0);
      }
      ++first, --second;
      Expect(ring, kRingModifiedA, 1, 0);
      first ^= 0x8000, second ^= 0x8000;
      Expect(ring, kRingModifiedA, 1, 0);
    }
  });
}

}  // namespace
}  // namespace gemmsmith::emulated
