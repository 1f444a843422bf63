// The kernels of the draw and the check themselves, run on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "harness/ring_kernels_on_cpu.h"

namespace gemmsmith::emulated {
namespace {

void Launch(i64 blocks, int sets, const std::function<void()>& kernel) {
  blockDim = {kRingThreads, 1};
  gridDim = {u32(blocks), u32(sets)};
  std::barrier<> barrier(kRingThreads);
  block_barrier = &barrier;
  std::vector<std::thread> threads;
  for (u32 thread = 0; thread < kRingThreads; ++thread)
    threads.emplace_back([&, thread] {
      threadIdx = {thread, 0};
      for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
          kernel();
          barrier.arrive_and_wait();
        }
    });
  for (std::thread& thread : threads) thread.join();
}

i64 Tiles(i64 count) { return (count + kRingTile - 1) / kRingTile; }

struct Problem {
  int m, n, k, type;
  bool a_is_row, b_is_row;
  int segment;
};

// A ring of two sets whose products are right.
class SmallRing {
 public:
  static constexpr int kSets = 2;
  static constexpr u16 kPoisoned = 0x7f93;

  explicit SmallRing(const Problem& problem) : problem_(problem) {
    const auto [m, n, k, type, a_is_row, b_is_row, segment] = problem;
    check.a = Make(memory_[0], m, k, a_is_row, 3, 11);
    check.b = Make(memory_[1], k, n, b_is_row, 0, 22);
    check.c = Make(memory_[2], m, n, true, 5, 0);
    for (const RingOperand* operand : {&check.a, &check.b})
      Launch(Tiles(operand->matrix.lines) * Tiles(operand->matrix.line_length), kSets,
             [&] { harness_ring_draw(*operand); });
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
  // The kind of the first fault and its set, or nothing.
  struct Found {
    bool is_fault;
    int kind, set;
    u32 index;
  };
  Found Check() {
    std::ranges::fill(vectors_, 0.0f);
    std::ranges::fill(differences_, 0.0f);
    std::ranges::fill(squares_, 0.0f);
    fault_ = 0;
    const auto strips = [&](i64 lines, i64 depth) { return Tiles(lines) * ((depth + check.part - 1) / check.part); };
    Launch(strips(check.depth, check.weighed), kSets, [&] { harness_ring_spread(check); });
    const bool is_few = check.padded <= 4;
    const i64 blocks =
        strips(check.kept, check.weighed) +
        strips(check.kept, check.depth) * (is_few ? 1 : (check.padded + kRingVectors - 1) / kRingVectors);
    Launch(blocks, kSets, [&] { is_few ? harness_ring_compare(check) : harness_ring_compare_many(check); });
    Launch(2, 1, [&] { harness_ring_judge(check); });
    const u64 fields = ~fault_;
    return {fault_ != 0, int(fields >> 32 & 7), int(fields >> 35 & 0x1ff), u32(fields)};
  }

  RingCheck check{};
  std::vector<u32> bands = std::vector<u32>(kRingBands * 50);

 private:
  RingOperand Make(std::vector<u16>& memory, int rows, int columns, bool is_row, int gap, u64 key) const {
    const i64 lines = is_row ? rows : columns, length = is_row ? columns : rows, stride = length + gap;
    const i64 step = lines * stride + 1;
    memory.assign(size_t(step * kSets), kPoisoned);
    return {{memory.data(), lines, length, stride, is_row, problem_.type}, step, key};
  }
  void Prepare() {
    const auto [m, n, k, type, a_is_row, b_is_row, segment] = problem_;
    for (int band = 0; band < kRingBands; ++band) check.bands[band] = {bands.data() + 50 * band, 50};
    check.fault = &fault_;
    check.over_rows = m < n;
    check.weighed = min(m, n);
    check.kept = std::max(m, n);
    check.depth = k;
    check.segment = segment;
    check.part = min(segment, 512);
    check.sets = kSets;
    check.segments = int((check.weighed + segment - 1) / segment);
    check.padded = (check.segments + 3) / 4 * 4;
    check.weights_key = 991;
    check.poison = kPoisoned;
    check.round = 3;
    check.roundoff = type == kF16 ? 0x1p-11f : 0x1p-8f;
    check.accumulated = 1e-5f * std::sqrt(float(k));
    check.deviations = 6;
    vectors_.resize(size_t(kSets) * k * check.padded);
    differences_.resize(size_t(kSets * check.segments * check.kept));
    squares_.resize(differences_.size());
    check.vectors = vectors_.data();
    check.differences = differences_.data();
    check.squares = squares_.data();
    Launch(1, 1, [&] { harness_ring_judge(check); });  // draws the bands
  }

  const Problem problem_;
  std::vector<u16> memory_[3];
  std::vector<float> vectors_, differences_, squares_;
  u64 fault_ = 0;
};

// Both sides, all orders and types, one segment, a few and many.
constexpr Problem kProblems[] = {{17, 31, 63, kF16, true, true, 4096},
                                 {70, 90, 130, kF16, true, false, 64},
                                 {90, 70, 66, kBf16, false, true, 64},
                                 {1, 1, 1, kF16, true, false, 4096},
                                 {257, 258, 9, kBf16, false, false, 64}};

TEST(RingCheckKernels, PassHonestProductsAndNameEachFault) {
  for (const Problem& problem : kProblems) {
    const auto [m, n, k, type, a_is_row, b_is_row, segment] = problem;
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
    SmallRing ring(problem);
    EXPECT_FALSE(ring.Check().is_fault);
    const int row = m / 2, column = n / 2;
    const auto expect = [&](RingFault kind, int set, u32 index) {
      const SmallRing::Found found = ring.Check();
      EXPECT_TRUE(found.is_fault);
      EXPECT_EQ(found.kind, kind);
      EXPECT_EQ(found.set, set);
      EXPECT_EQ(found.index, index);
    };
    // Inputs and bands are mended by the check that finds them.
    ring.At(ring.check.a, 1, row, k / 2) ^= 1;
    expect(kRingModifiedA, 1, u32(row));
    ring.At(ring.check.b, 0, k / 2, column) ^= 0x8000;
    expect(kRingModifiedB, 0, u32(k / 2));
    ring.bands[3 * 50 + 7] ^= 4;
    expect(kRingOutside, 0, 1);
    EXPECT_FALSE(ring.Check().is_fault);
    u16& element = ring.At(ring.check.c, 1, row, column);
    element = Narrow(Widen(element, type) + 0.5f * std::sqrt(float(k)), type);
    expect(kRingWrong, 1, u32(m < n ? column : row));
    element = SmallRing::kPoisoned;
    expect(kRingUnwritten, 1, u32(row));
  }
}

}  // namespace
}  // namespace gemmsmith::emulated
