#include "harness/ring_kernels.h"

#include <algorithm>

namespace gemmsmith {

namespace {

constexpr std::array kRingEntries = {"harness_ring_draw",         "harness_ring_checksum", "harness_ring_poison",
                                     "harness_ring_clear",        "harness_ring_spread",   "harness_ring_compare",
                                     "harness_ring_compare_many", "harness_ring_judge"};
constexpr int64_t kRingTile = 64, kRingThreads = 256, kRingWarps = kRingThreads / 32;
constexpr int64_t kRingSpan = 256, kRingPart = 128;  // elements in a line and lines, of a warp
constexpr int64_t kBandBlocks = 64;                  // a thread for each word of a band

struct RingPoisonArguments {
  RingOperand operand;
  uint32_t bits;
  RingRanges arrays;
};
struct RingClearArguments {
  uint32_t bytes, pattern;
};

int64_t Ceil(int64_t count, int64_t unit) { return (count + unit - 1) / unit; }

Launch Blocks(int64_t x, int64_t sets) {
  Launch launch;
  launch.block.x = kRingThreads;
  launch.grid.x = uint32_t(std::max<int64_t>(x, 1));
  launch.grid.y = uint32_t(std::max<int64_t>(sets, 1));
  return launch;
}

// The blocks of the strips of a set (ring_units.cuh).
int64_t RingBlocks(const RingOperand& operand, int64_t part) {
  return Ceil(Ceil(operand.matrix.line_length, kRingSpan) * Ceil(operand.matrix.lines, part), kRingWarps);
}

}  // namespace

std::optional<RingFault> RingFault::Of(uint64_t word) {
  if (word == 0) return std::nullopt;
  const uint64_t fields = ~word;
  return RingFault{int(fields >> 44), int(fields >> 35 & 0x1ff), Kind(fields >> 32 & 7), uint32_t(fields)};
}

std::string RingFault::Print(int calls, bool over_rows) const {
  const std::string where = fmt::format("call {} of {} in round {}", call + 1, calls, round + 1);
  switch (kind) {
    case kUnwritten:
      return fmt::format("{} left row {} of C unwritten", where, index);
    case kOutside:
      return fmt::format("a call in round {} wrote outside {}", round + 1, "ABC"[std::min(index, 2u)]);
    case kModifiedA:
      return where + " modified A";
    case kModifiedB:
      return where + " modified B";
    case kWrong:
      return fmt::format("{} left {} {} of C wrong", where, over_rows ? "column" : "row", index);
  }
  GEMMSMITH_CHECK(false, "ring fault {}", int(kind));
  return where;
}

Result<RingKernels> RingKernels::Load(Gpu& gpu, std::span<const uint8_t> cubin) {
  static_assert(kRingEntries.size() == kKernelCount);
  RingKernels kernels;
  for (int i = 0; i < kKernelCount; ++i) {
    const uint32_t smem_bytes = i == kClear ? uint32_t(gpu.identity().device.smem_bytes_per_block) : 0;
    ASSIGN_OR_RETURN(kernels.kernels_[size_t(i)], gpu.Load(cubin, kRingEntries[size_t(i)], smem_bytes));
  }
  return kernels;
}

Status RingKernels::Draw(Gpu& gpu, const RingOperand& operand, int sets) const {
  const MatrixView& matrix = operand.matrix;
  const Launch tiles = Blocks(Ceil(matrix.lines, kRingTile) * Ceil(matrix.line_length, kRingTile), sets);
  RETURN_IF_ERROR(gpu.Start(kernels_[kDraw], tiles, operand));
  RETURN_IF_ERROR(gpu.Fill8(reinterpret_cast<CUdeviceptr>(operand.drawn), 0, uint64_t(sets) * sizeof(*operand.drawn)));
  return gpu.Start(kernels_[kChecksum], Blocks(RingBlocks(operand, kRingPart), sets), operand);
}

Status RingKernels::Poison(Gpu& gpu, const RingOperand& c, int sets, uint16_t bits, const RingRanges& arrays) const {
  constexpr int64_t kMostBlocks = 2048, kUnit = 8;  // elements that a thread writes at once
  const int64_t blocks = Ceil(c.matrix.lines * c.matrix.line_length, kRingThreads * kUnit);
  return gpu.Start(kernels_[kPoison], Blocks(std::min(blocks, std::max<int64_t>(kMostBlocks / sets, 16)), sets),
                   RingPoisonArguments{c, bits, arrays});
}

// A block takes all of a multiprocessor's, so each multiprocessor has one.
Status RingKernels::ClearSharedMemory(Gpu& gpu, uint32_t pattern) const {
  const Device& device = gpu.identity().device;
  Launch launch = Blocks(device.multiprocessors, 1);
  launch.smem_bytes = uint32_t(device.smem_bytes_per_block);
  return gpu.Start(kernels_[kClear], launch, RingClearArguments{launch.smem_bytes, pattern});
}

// The judge mends bands that are broken, and all of a new one is.
Status RingKernels::DrawBands(Gpu& gpu, const RingBands& bands, uint64_t key, uint64_t* fault) const {
  RingCheck check;
  check.bands = bands;
  check.bands_key = key;
  check.segments = 1;
  check.kept = 1;
  check.fault = fault;
  return gpu.Start(kernels_[kJudge], Blocks(kBandBlocks, 1), check);
}

Status RingKernels::Check(Gpu& gpu, const RingCheck& check) const {
  constexpr int kMany = 4;  // vectors that a block multiplies by at once
  const int64_t part = std::min(check.segment, kRingPart);
  const RingOperand &spread = check.over_rows ? check.a : check.b, &other = check.over_rows ? check.b : check.a;
  RETURN_IF_ERROR(gpu.Start(kernels_[kSpread], Blocks(RingBlocks(spread, part), check.sets), check));
  Launch compare = Blocks(std::max(RingBlocks(check.c, part), RingBlocks(other, part)), check.sets);
  compare.grid.z = uint32_t(1 + Ceil(check.padded, kMany));
  RETURN_IF_ERROR(gpu.Start(kernels_[check.segments == 1 ? kCompare : kCompareMany], compare, check));
  const int64_t blocks_of_sums = Ceil(check.segments * check.kept, kRingThreads);
  return gpu.Start(
      kernels_[kJudge],
      Blocks(std::clamp(blocks_of_sums, Ceil(kBandBlocks, check.sets), Ceil(1024, check.sets)), check.sets), check);
}

}  // namespace gemmsmith
