// The check of the ring behind a batch. docs/measuring.md says what it finds. harness.cu includes this, and a test on the CPU.

constexpr int kRingVectors = 32;  // the most that a block multiplies by at once

enum RingFault { kRingUnwritten, kRingOutside, kRingModifiedA, kRingModifiedB, kRingWrong };

struct RingBand {
  u32* words;
  i64 count;
};
constexpr int kRingBands = 6;

// x weighs the columns of C, or its rows where `over_rows`; the weighed side is cut into segments. For each segment,
// `spread` times x is `vectors`, the other input times that is what C times x must be.
struct RingCheck {
  RingOperand a, b, c;
  RingBand bands[kRingBands];
  i64 weighed, kept, depth, segment, part;
  int over_rows, sets, segments, padded;
  u64 weights_key, bands_key;
  float* vectors;      // [set][depth][padded]
  float* differences;  // [set][segment][kept]
  float* squares;      // the same
  u64* fault;          // the complement of the first one, 0: none
  u32 poison, round;
  float roundoff, accumulated, deviations;

  __device__ const RingOperand& Spread() const { return over_rows ? a : b; }
  __device__ const RingOperand& Other() const { return over_rows ? b : a; }
  // The first of a set, and the first set of a round, by the order of the fields.
  __device__ void Report(RingFault kind, i64 set, i64 index) const {
    atomicMax(fault, ~(u64(round) << 44 | u64(set) << 35 | u64(kind) << 32 | u64(u32(index))));
  }
};

// `line` is an index of what is kept, `depth` of what is summed over.
struct RingTile {
  float values[kRingTile][kRingTile + 1];
  alignas(16) float vectors[kRingTile][kRingVectors];
};

// Inputs are made anew. Where memory holds something else, that is a fault and is mended, so that it is nobody else's.
template <bool kIsInput>
__device__ void LoadRingTile(const RingCheck& check, const RingMatrix& matrix, i64 set, i64 first_line, i64 first_depth,
                             RingFault fault, RingTile& tile) {
  const int first_row = int(check.over_rows ? first_depth : first_line);
  const int first_column = int(check.over_rows ? first_line : first_depth);
  constexpr int kAtOnce = 4;
#pragma unroll 1
  for (int first = 0; first < kRingTurns; first += kAtOnce) {
    u16 found[kAtOnce][2];
#pragma unroll
    for (int turn = 0; turn < kAtOnce; ++turn) {
      const RingPlace place(matrix, first_row, first_column, first + turn);
#pragma unroll
      for (int i = 0; i < 2; ++i)
        found[turn][i] = matrix.Has(place.row, place.column + i) ? matrix.data[place.offset + i * place.next] : u16(0);
    }
#pragma unroll
    for (int turn = 0; turn < kAtOnce; ++turn) {
      const RingPlace place(matrix, first_row, first_column, first + turn);
      NormalPair made{};
      if (kIsInput) made = matrix.ValuesAt(place.row, place.column);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool is_inside = matrix.Has(place.row, place.column + i);
        u16 value = found[turn][i];
        if (kIsInput && is_inside) {
          value = Narrow(i == 0 ? made.even : made.odd, matrix.type);
          if (value != found[turn][i]) matrix.data[place.offset + i * place.next] = value;
        }
        const bool is_fault = kIsInput ? value != found[turn][i] : is_inside && value == u16(check.poison);
        if (is_fault) check.Report(fault, set, place.row);
        const int line = check.over_rows ? place.column + i - first_column : place.row - first_row;
        const int depth = check.over_rows ? place.row - first_row : place.column + i - first_column;
        tile.values[line][depth] = Widen(value, matrix.type);
      }
    }
  }
}

// A thread's line of a tile and the sixteen of its depth.
__device__ int RingLine() { return threadIdx.x % kRingTile; }
__device__ int RingFirstDepth() { return threadIdx.x / kRingTile * (kRingTile * kRingTile / kRingThreads); }
constexpr int kRingDepths = kRingTile * kRingTile / kRingThreads;

struct RingStrip {
  i64 first_line, first_depth, end_depth;
  __device__ RingStrip(i64 block, i64 lines, i64 depth, i64 part) {
    const u32 strips = u32((lines + kRingTile - 1) / kRingTile);
    first_line = i64(u32(block) % strips) * kRingTile;
    first_depth = i64(u32(block) / strips) * part;
    end_depth = min(first_depth + part, depth);
  }
};

__device__ i64 RingBlocks(i64 lines, i64 depth, i64 part) {
  return (lines + kRingTile - 1) / kRingTile * ((depth + part - 1) / part);
}

// Adds a strip's weighted sums, and of C the squares behind the bound too. Parts never cross the end of a segment.
template <bool kIsInput>
__device__ void WeighRingStrip(const RingCheck& check, const RingMatrix& matrix, i64 set, const RingStrip& strip,
                               RingFault fault, float* sums, i64 sums_step, float* squares, RingTile& tile) {
  const u64 key = RingKeyOf(check.weights_key, set);
  float sum = 0, square = 0;
  for (i64 depth = strip.first_depth; depth < strip.end_depth; depth += kRingTile) {
    LoadRingTile<kIsInput>(check, matrix, set, strip.first_line, depth, fault, tile);
    if (threadIdx.x < kRingTile) tile.vectors[threadIdx.x][0] = RingWeight(key, u32(depth + threadIdx.x));
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRingDepths; ++i) {
      const float value = tile.values[RingLine()][RingFirstDepth() + i];
      sum += value * tile.vectors[RingFirstDepth() + i][0];
      if (!kIsInput) square += PowerBelow(value) * PowerBelow(value);
    }
    __syncthreads();
  }
  const i64 line = strip.first_line + RingLine();
  if (line >= (check.over_rows ? matrix.columns : matrix.rows)) return;
  atomicAdd(&sums[line * sums_step], sum);
  if (!kIsInput) atomicAdd(&squares[line], square);
}

// vectors = spread * x.
extern "C" __global__ void __launch_bounds__(kRingThreads, 3) harness_ring_spread(const RingCheck check) {
  __shared__ RingTile tile;
  const i64 set = blockIdx.y;
  const RingStrip strip(blockIdx.x, check.depth, check.weighed, check.part);
  float* const sums = check.vectors + set * check.depth * check.padded + strip.first_depth / check.segment;
  WeighRingStrip<true>(check, RingMatrix(check.Spread(), set), set, strip,
                       check.over_rows ? kRingModifiedA : kRingModifiedB, sums, check.padded, nullptr, tile);
}

// differences -= other * vectors, for up to so many of them.
template <int kVectors>
__device__ void MultiplyRingStrip(const RingCheck& check, i64 set, const RingStrip& strip, int first_vector,
                                  RingTile& tile) {
  const RingMatrix matrix(check.Other(), set);
  const int groups = min(check.padded - first_vector, kVectors) / 4;
  const float* const vectors = check.vectors + set * check.depth * check.padded + first_vector;
  float sums[kVectors] = {};
  for (i64 depth = strip.first_depth; depth < strip.end_depth; depth += kRingTile) {
    LoadRingTile<true>(check, matrix, set, strip.first_line, depth, check.over_rows ? kRingModifiedB : kRingModifiedA,
                       tile);
    for (int i = threadIdx.x; i < kRingTile * 4 * groups; i += kRingThreads) {
      const int row = i / (4 * groups), vector = i % (4 * groups);
      tile.vectors[row][vector] = depth + row < check.depth ? vectors[(depth + row) * check.padded + vector] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < kRingDepths; ++i) {
      const float value = tile.values[RingLine()][RingFirstDepth() + i];
      const float4* const at_depth = reinterpret_cast<const float4*>(tile.vectors[RingFirstDepth() + i]);
#pragma unroll
      for (int group = 0; group < kVectors / 4; ++group) {
        if (group >= groups) break;
        const float4 vector = at_depth[group];
        sums[4 * group] += value * vector.x;
        sums[4 * group + 1] += value * vector.y;
        sums[4 * group + 2] += value * vector.z;
        sums[4 * group + 3] += value * vector.w;
      }
    }
    __syncthreads();
  }
  const i64 line = strip.first_line + RingLine();
  if (line >= check.kept) return;
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    if (first_vector + i < check.segments)
      atomicAdd(&check.differences[(set * check.segments + first_vector + i) * check.kept + line], -sums[i]);
}

// differences = C * x - other * vectors: the first blocks look at C, the others multiply.
template <int kVectors>
__device__ void CompareRing(const RingCheck& check) {
  __shared__ RingTile tile;
  const i64 set = blockIdx.y, blocks_of_c = RingBlocks(check.kept, check.weighed, check.part);
  if (blockIdx.x < blocks_of_c) {
    const RingStrip strip(blockIdx.x, check.kept, check.weighed, check.part);
    const i64 first = (set * check.segments + strip.first_depth / check.segment) * check.kept;
    return WeighRingStrip<false>(check, RingMatrix(check.c, set), set, strip, kRingUnwritten,
                                 check.differences + first, 1, check.squares + first, tile);
  }
  const i64 block = blockIdx.x - blocks_of_c, blocks = RingBlocks(check.kept, check.depth, check.part);
  MultiplyRingStrip<kVectors>(check, set, RingStrip(block % blocks, check.kept, check.depth, check.part),
                              int(block / blocks) * kVectors, tile);
}

// For up to four segments, and for more.
extern "C" __global__ void __launch_bounds__(kRingThreads, 3) harness_ring_compare(const RingCheck check) {
  CompareRing<4>(check);
}
extern "C" __global__ void __launch_bounds__(kRingThreads, 2) harness_ring_compare_many(const RingCheck check) {
  CompareRing<kRingVectors>(check);
}

// Every sum, and the bands around the arrays; what was written there is mended too.
extern "C" __global__ void harness_ring_judge(const RingCheck check) {
  for (i64 i = First(); i < i64(check.sets) * check.segments * check.kept; i += Step()) {
    const i64 set = i / (check.segments * check.kept), segment = i / check.kept % check.segments;
    const i64 count = min(check.segment, check.weighed - segment * check.segment);
    if (!RingSumPasses(check.differences[i], check.squares[i], float(count), check.roundoff, check.accumulated,
                       check.deviations))
      check.Report(kRingWrong, set, i % check.kept);
  }
  for (int band = 0; band < kRingBands; ++band)
    for (i64 i = First(); i < check.bands[band].count; i += Step()) {
      const u32 word = RingHash(check.bands_key, u32(i));
      if (check.bands[band].words[i] == word) continue;
      check.bands[band].words[i] = word;
      check.Report(kRingOutside, 0, band / 2);
    }
}
