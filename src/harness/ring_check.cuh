// The check of the ring behind a batch. docs/measuring.md says what it finds. harness.cu includes this, and a test on
// the CPU.

constexpr int kRingVectors = 4;  // the most that a block multiplies by at once

enum RingFault { kRingUnwritten, kRingOutside, kRingModifiedA, kRingModifiedB, kRingWrong };

struct RingBand {
  u32* words;
  i64 count;
};
constexpr int kRingBands = 6;

// x weighs the columns of C, or its rows where `over_rows`; the weighed side is cut into segments. For each segment,
// `spread` times x is `vectors`, the other input times that is what C times x must be.
struct RingCheck {
  RingOperand a, b, c;  // the lines of C are rows
  RingBand bands[kRingBands];
  i64 weighed, kept, depth, segment;
  int over_rows, sets, segments, padded;
  u64 weights_key, bands_key;
  float* vectors;      // [set][depth][padded]
  float* differences;  // [set][segment][kept], and the squares behind them
  u64* fault;          // the complement of the first one, 0: none
  u32 poison, round;
  float roundoff, accumulated, deviations;

  __device__ const RingOperand& Spread() const { return over_rows ? a : b; }
  __device__ const RingOperand& Other() const { return over_rows ? b : a; }
  // The lines of a part never cross the end of a segment.
  __device__ int Part() const { return min(int(segment), kRingPart); }
  // Whether what is summed over in a matrix lies along its lines.
  __device__ bool IsAlong(const RingOperand& operand) const { return over_rows != operand.matrix.lines_are_rows; }
  // From a sum to its square.
  __device__ int SquaresBehind() const { return sets * segments * int(kept); }
  // The first of a set, and the first set of a round, by the order of the fields.
  __device__ void Report(RingFault kind, i64 set, i64 index) const {
    atomicMax(fault, ~(u64(round) << 44 | u64(set) << 35 | u64(kind) << 32 | u64(u32(index))));
  }
};

// Where sums go: sum `s` of what is kept at `i` to At(i, s), for s < count.
struct RingSums {
  float* first;
  int step, sum_step, count;
  __device__ float* At(int i, int s) const { return first + i64(i) * step + i64(s) * sum_step; }
};

// Adds an element times its weights, and of C the square behind the bound.
template <int kVectors, int kSums>
__device__ void AddTerms(float value, const float (&weights)[kVectors], float (&sums)[kSums]) {
#pragma unroll
  for (int v = 0; v < kVectors; ++v) sums[v] += value * weights[v];
  if (kSums > kVectors) sums[kSums - 1] += PowerBelow(value) * PowerBelow(value);
}

// Sums along lines, for each group of so many lanes: weigh(i, v) is the weight of position i in vector v.
template <int kVectors, int kSums, class Weigh, class Look>
__device__ void SumAlongLines(const RingLines& lines, const RingStrip& strip, int lanes, const RingSums& to,
                              const Weigh& weigh, const Look& look) {
  const int group = lanes * kUnit;
  const bool is_inside = strip.position / group * group < lines.length;
  float weights[kUnit][kVectors];
#pragma unroll
  for (int i = 0; i < kUnit; ++i)
#pragma unroll
    for (int v = 0; v < kVectors; ++v) weights[i][v] = weigh(strip.position + i, v);
  WalkRing(lines, strip, [&](int line, const auto& units) {
    look(line, units);
    float sums[kSums][kRingAtOnce];
#pragma unroll
    for (int u = 0; u < kRingAtOnce; ++u) {
      float values[kUnit], terms[kSums] = {};
      WidenUnit(units[u], lines.type, values);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) AddTerms(values[i], weights[i], terms);
#pragma unroll
      for (int s = 0; s < kSums; ++s) sums[s][u] = terms[s];
    }
#pragma unroll
    for (int s = 0; s < kSums; ++s)
      AddLinesOverLanes(to.At(line, s), to.step, is_inside && s < to.count ? strip.end_line - line : 0, sums[s], lanes);
  });
}

// Sums across lines: weigh(i, v) is the weight of line i.
template <int kVectors, int kSums, class Weigh, class Look>
__device__ void SumAcrossLines(const RingLines& lines, const RingStrip& strip, const RingSums& to, const Weigh& weigh,
                               const Look& look) {
  float sums[kUnit][kSums] = {};
  WalkRing(lines, strip, [&](int line, const auto& units) {
    look(line, units);
#pragma unroll
    for (int u = 0; u < kRingAtOnce; ++u) {
      float values[kUnit], weights[kVectors];
      WidenUnit(units[u], lines.type, values);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) weights[v] = weigh(line + u, v);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) AddTerms(values[i], weights, sums[i]);
    }
  });
#pragma unroll
  for (int s = 0; s < kSums; ++s)
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      if (s < to.count && strip.position + i < lines.length) atomicAdd(to.At(strip.position + i, s), sums[i][s]);
}

template <int kVectors, int kSums, class Weigh, class Look>
__device__ void SumRing(bool is_along, const RingLines& lines, const RingStrip& strip, int lanes, const RingSums& to,
                        const Weigh& weigh, const Look& look) {
  if (is_along)
    SumAlongLines<kVectors, kSums>(lines, strip, lanes, to, weigh, look);
  else
    SumAcrossLines<kVectors, kSums>(lines, strip, to, weigh, look);
}

// A matrix times x; `to` is of the first segment, the others follow by `segment_step`. Of an input the checksum is
// found too, of C what was not written.
template <bool kIsOutput>
__device__ void WeighRing(const RingCheck& check, const RingOperand& operand, i64 set, RingSums to, i64 segment_step) {
  const RingLines lines(operand, set);
  const RingStrip strip(lines, check.Part());
  if (strip.IsEmpty()) return;
  const bool is_along = check.IsAlong(operand);
  const int lanes = min(32, int(check.segment) / kUnit);
  to.first += (is_along ? strip.position : strip.first_line) / int(check.segment) * segment_step;
  const u64 key = RingKeyOf(check.weights_key, set);
  const auto weigh = [&](int i, int) { return RingWeight(key, u32(i)); };
  if constexpr (kIsOutput) {
    SumRing<1, 2>(is_along, lines, strip, lanes, to, weigh, [&](int line, const auto& units) {
#pragma unroll
      for (int u = 0; u < kRingAtOnce; ++u)
        if (units[u].Has(check.poison)) check.Report(kRingUnwritten, set, line + u);
    });
  } else {
    RingChecksum checksum(operand, lines, set);
    SumRing<1, 1>(is_along, lines, strip, lanes, to, weigh,
                  [&](int line, const auto& units) { checksum.Add(line, strip.position, units); });
    AddOverWarp(&operand.found[set], checksum.sum());
  }
}

// vectors = spread * x.
extern "C" __global__ void __launch_bounds__(kRingThreads, 2) harness_ring_spread(const RingCheck check) {
  const i64 set = blockIdx.y;
  const RingSums to{check.vectors + set * check.depth * check.padded, check.padded, 0, 1};
  WeighRing<false>(check, check.Spread(), set, to, 1);
}

// differences -= other * vectors, for up to so many of them.
template <int kVectors>
__device__ void MultiplyRing(const RingCheck& check, i64 set, int first_vector) {
  const RingOperand& operand = check.Other();
  const RingLines lines(operand, set);
  const RingStrip strip(lines, check.Part());
  if (strip.IsEmpty()) return;
  const float* const vectors = check.vectors + set * check.depth * check.padded + first_vector;
  // Beyond the end they multiply zeros.
  const auto weigh = [&](int i, int v) { return -vectors[min(i, int(check.depth) - 1) * check.padded + v]; };
  const RingSums to{check.differences + (set * check.segments + first_vector) * check.kept, 1, int(check.kept),
                    check.segments - first_vector};
  RingChecksum checksum(operand, lines, set);
  SumRing<kVectors, kVectors>(check.IsAlong(operand), lines, strip, 32, to, weigh,
                              [&](int line, const auto& units) { checksum.Add(line, strip.position, units); });
  if (first_vector == 0) AddOverWarp(&operand.found[set], checksum.sum());
}

// differences = C * x - other * vectors: the first layer of blocks looks at C, the others multiply.
template <int kVectors>
__device__ void CompareRing(const RingCheck& check) {
  const i64 set = blockIdx.y;
  if (blockIdx.z > 0) return MultiplyRing<kVectors>(check, set, int(blockIdx.z - 1) * kVectors);
  const RingSums to{check.differences + set * check.segments * check.kept, 1, check.SquaresBehind(), 2};
  WeighRing<true>(check, check.c, set, to, int(check.kept));
}

// For one segment, and for more.
extern "C" __global__ void __launch_bounds__(kRingThreads, 2) harness_ring_compare(const RingCheck check) {
  CompareRing<1>(check);
}
extern "C" __global__ void __launch_bounds__(kRingThreads, 2) harness_ring_compare_many(const RingCheck check) {
  CompareRing<kRingVectors>(check);
}

// What was modified is drawn again, so that it is nobody else's fault.
__device__ void MendRing(const RingCheck& check, const RingOperand& operand, i64 set, RingFault fault) {
  if (operand.found[set] == operand.drawn[set]) return;
  if (First() == 0) check.Report(fault, set, 0);
  DrawRing(operand, set);
}

// Every sum, the inputs, and the bands around the arrays; what was written there is mended too.
extern "C" __global__ void __launch_bounds__(kRingThreads) harness_ring_judge(const RingCheck check) {
  const i64 set = blockIdx.y;
  if (set < check.sets) {
    const i64 sums = check.segments * check.kept;
    for (i64 i = First(); i < sums; i += Step()) {
      const float* const difference = check.differences + set * sums + i;
      const i64 count = min(check.segment, check.weighed - i / check.kept * check.segment);
      if (!RingSumPasses(difference[0], difference[check.SquaresBehind()], float(count), check.roundoff,
                         check.accumulated, check.deviations))
        check.Report(kRingWrong, set, i % check.kept);
    }
    MendRing(check, check.a, set, kRingModifiedA);
    MendRing(check, check.b, set, kRingModifiedB);
  }
  for (int band = 0; band < kRingBands; ++band)
    for (i64 i = set * Step() + First(); i < check.bands[band].count; i += gridDim.y * Step()) {
      const u32 word = RingHash(check.bands_key, u32(i));
      if (check.bands[band].words[i] == word) continue;
      check.bands[band].words[i] = word;
      check.Report(kRingOutside, 0, band / 2);
    }
}
