// The ring's kernels (ring_draw.cuh, ring_units.cuh, ring_batch.cuh, ring_check.cuh) as functions, in stream order;
// nothing waits.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "harness/operands.h"

namespace gemmsmith {

// Never in memory: nothing but the check can make a checksum.
struct RingChecksumKey {
  std::array<uint32_t, 4> words = {};
  uint64_t place = 0;
};

// One matrix of every set, `step` elements apart. As ring_draw.cuh declares it; those that follow are
// in its neighbours.
struct RingOperand {
  MatrixView matrix;  // of the first set
  int64_t step = 0;
  uint64_t key = 0;  // of its values
  RingChecksumKey checksum_key;
  uint64_t* drawn = nullptr;  // on the device: a checksum for each set, as drawn and as a check found it
  uint64_t* found = nullptr;
};

struct RingBand {
  uint32_t* words = nullptr;
  int64_t count = 0;
};
// Before and behind A, B and C.
using RingBands = std::array<RingBand, 6>;

struct RingRange {
  void* begin = nullptr;
  int64_t bytes = 0;
};
// A and B in two orders each, and C.
using RingRanges = std::array<RingRange, 5>;

struct RingCheck {
  RingOperand a, b, c;
  RingBands bands;
  int64_t weighed = 0, kept = 0, depth = 0, segment = 0;
  int32_t over_rows = 0, sets = 0, segments = 0, padded = 0;
  uint64_t weights_key = 0, bands_key = 0;
  float* vectors = nullptr;
  float* differences = nullptr;  // and the squares behind them
  uint64_t* fault = nullptr;
  uint32_t poison = 0, round = 0;
  float roundoff = 0, accumulated = 0, deviations = 0;
};

// The first fault that the check of a visit found. `call` counts from 0.
struct RingFault {
  enum Kind { kUnwritten, kOutside, kModifiedA, kModifiedB, kWrong };
  int round = 0, call = 0;
  Kind kind = kUnwritten;
  uint32_t index = 0;  // kWrong: of the row or column; kUnwritten: of the row; kOutside: 0 of A, 1 of B, 2 of C

  // The word that the check leaves; nullopt if it found nothing.
  static std::optional<RingFault> Of(uint64_t word);
  // "call 17 of 31 in round 3 left row 5 of C wrong".
  std::string Print(int calls, bool over_rows) const;
};

class RingKernels {
 public:
  static Result<RingKernels> Load(Gpu& gpu, std::span<const uint8_t> cubin);

  // `drawn` is written too.
  Status Draw(Gpu& gpu, const RingOperand& operand, int sets) const;
  // Every element of C. The lines of the arrays lose the priority that a call gave them in L2.
  Status Poison(Gpu& gpu, const RingOperand& c, int sets, uint16_t bits, const RingRanges& arrays) const;
  // Writes over the shared memory of every multiprocessor.
  Status ClearSharedMemory(Gpu& gpu, uint32_t pattern) const;
  // Draws the bands.
  Status DrawBands(Gpu& gpu, const RingBands& bands, uint64_t key, uint64_t* fault) const;
  // `vectors`, `differences`, the squares and what was `found` are zeros.
  Status Check(Gpu& gpu, const RingCheck& check) const;

 private:
  enum { kDraw, kChecksum, kPoison, kClear, kSpread, kCompare, kCompareMany, kJudge, kKernelCount };
  std::array<Kernel, kKernelCount> kernels_;
};

}  // namespace gemmsmith
