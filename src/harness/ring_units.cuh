// How the check reads the ring: a warp walks down some lines of a matrix, and each lane has 16 bytes of a line.

constexpr int kRingSpan = 32 * kUnit;            // elements of a warp in a line
constexpr int kRingAtOnce = 8, kRingPart = 128;  // lines that a warp loads at once, and the most it has

#ifdef __CUDACC__
// Adds the sums of `count` lines over `lanes` neighbours, eight at least; line i goes to to[i * step]. Lanes exchange
// halves of their lines until each has one line: 9 shuffles instead of 5 a line.
__device__ void AddLinesOverLanes(float* to, int step, int count, float (&sums)[kRingAtOnce], int lanes) {
  const int lane = int(threadIdx.x % 32), line = lane % kRingAtOnce;
#pragma unroll
  for (int width = kRingAtOnce / 2; width > 0; width /= 2)
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const bool is_upper = (lane & width) != 0;
      const float given = is_upper ? sums[i] : sums[i + width];
      sums[i] = (is_upper ? sums[i + width] : sums[i]) + __shfl_xor_sync(0xffffffffu, given, width);
    }
  float sum = sums[0];
  for (int distance = kRingAtOnce; distance < lanes; distance *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if ((lane & (lanes - 1)) < kRingAtOnce && line < count) atomicAdd(to + i64(line) * step, sum);
}
#endif

// A set's matrix as it lies in memory.
struct RingLines {
  const u16* data;
  int count, length, stride, type;
  bool is_wide;  // 16 bytes of a line can be loaded at once

  __device__ RingLines(const RingOperand& operand, i64 set) {
    const Matrix& matrix = operand.matrix;
    data = static_cast<const u16*>(matrix.data) + set * operand.step;
    count = int(matrix.lines);
    length = int(matrix.line_length);
    type = matrix.type;
    stride = int(matrix.stride);
    is_wide = length % kUnit == 0 && stride % kUnit == 0 && reinterpret_cast<u64>(data) % sizeof(Unit) == 0;
  }
};

// A warp's lines and the lane's position in them.
struct RingStrip {
  int first_line, end_line, position;

  __device__ RingStrip(const RingLines& lines, int part) {
    const int spans = (lines.length + kRingSpan - 1) / kRingSpan, warp = int(First() / 32);
    first_line = min(warp / spans * part, lines.count);
    end_line = min(first_line + part, lines.count);
    position = warp % spans * kRingSpan + int(threadIdx.x % 32) * kUnit;
  }
  __device__ bool IsEmpty() const { return first_line == end_line; }
};

// Loads units of up to eight lines; `count` elements of each are inside.
__device__ void LoadUnits(const u16* at, int stride, bool is_wide, int lines, int count,
                          Unit (&units)[kRingAtOnce]) {
#pragma unroll
  for (int i = 0; i < kRingAtOnce; ++i) units[i] = Unit{};
  if (is_wide) {
#pragma unroll
    for (int i = 0; i < kRingAtOnce; ++i)
      if (i < lines && count > 0) units[i] = *reinterpret_cast<const Unit*>(at + i64(i) * stride);
    return;
  }
#pragma unroll 1
  for (int line = 0; line < min(lines, kRingAtOnce); ++line, at += stride) {
    const Unit unit = LoadElements(at, count);
#pragma unroll
    for (int i = 0; i < kRingAtOnce; ++i)  // no index at run time: units stay in registers
      if (i == line) units[i] = unit;
  }
}

// Calls visit(line, units) for every eight lines. Units are zero beyond the end of a line and beyond the last line.
template <class Visit>
__device__ void WalkRing(const RingLines& lines, const RingStrip& strip, const Visit& visit) {
  const int inside = lines.length - strip.position;
  const u16* at = lines.data + i64(strip.first_line) * lines.stride + strip.position;
#pragma unroll 1
  for (int line = strip.first_line; line < strip.end_line; line += kRingAtOnce, at += i64(kRingAtOnce) * lines.stride) {
    Unit units[kRingAtOnce];
    LoadUnits(at, lines.stride, lines.is_wide, strip.end_line - line, inside, units);
    visit(line, units);
  }
}

// A lane's checksum of a strip. Zeros beyond the end count too, as many whatever the strips are.
class RingChecksum {
 public:
  __device__ RingChecksum(const RingOperand& operand, const RingLines& lines, i64 set)
      : key_(operand.checksum_key),
        place_key_(RingKeyOf(operand.checksum_key.place, set)),
        units_(u32(lines.length + kUnit - 1) / kUnit) {}
  __device__ void Add(int line, int position, const Unit (&units)[kRingAtOnce]) {
    u32 place = u32(line) * units_ + u32(position) / kUnit;
#pragma unroll
    for (int i = 0; i < kRingAtOnce; ++i, place += units_)
      sum_ += RingChecksumOf(key_.words, units[i].words, RingHash(place_key_, place));
  }
  __device__ u64 sum() const { return sum_; }

 private:
  const RingChecksumKey& key_;
  const u64 place_key_;
  const u32 units_;
  u64 sum_ = 0;
};

// The checksums of what was drawn.
extern "C" __global__ void __launch_bounds__(kRingThreads) harness_ring_checksum(const RingOperand operand) {
  const i64 set = blockIdx.y;
  const RingLines lines(operand, set);
  const RingStrip strip(lines, kRingPart);
  RingChecksum checksum(operand, lines, set);
  WalkRing(lines, strip, [&](int line, const auto& units) { checksum.Add(line, strip.position, units); });
  AddOverWarp(&operand.drawn[set], checksum.sum());
}
