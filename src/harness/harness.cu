// The harness's own kernels: inputs, reference, comparison, canaries. Plain and slow where it does not matter: they judge the
// fast ones. Compiled when a worker starts, together with what it includes. harness_kernels.h declares the same structs.

#include "harness/elements.cuh"
#include "types.cuh"

__device__ float Load(const Matrix& matrix, i64 offset) {
  if (matrix.type == kF32) return static_cast<const float*>(matrix.data)[offset];
  return Widen(static_cast<const u16*>(matrix.data)[offset], matrix.type);
}

__device__ u16 Narrow(float value, int type) {
  u16 bits;
  if (type == kBf16)
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  else
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ void Store(const Matrix& matrix, i64 offset, float value) {
  static_cast<u16*>(matrix.data)[offset] = Narrow(value, matrix.type);
}

__device__ i64 OffsetOf(const Matrix& matrix, i64 row, i64 column) {
  return matrix.lines_are_rows ? row * matrix.stride + column : column * matrix.stride + row;
}

__device__ i64 First() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ i64 Step() { return i64(gridDim.x) * blockDim.x; }

#include "harness/units.cuh"
#include "harness/input_values.cuh"
#include "harness/ring_values.cuh"

// ---- inputs -------------------------------------------------------------------------------------------------------------

// The value of an element depends on the seed and its row and column only, so that one matrix in two storage orders holds
// the same numbers.
enum Filling { kNormal, kBinary, kUniform, kCancellingA, kCancellingB, kSpecialA, kSpecialB };

struct FillArguments {
  Matrix matrix;
  u64 seed;
  u64 seed_of_b;  // for kSpecialA
  int filling;
  float parameter;  // for kBinary the share of ones, for kUniform the largest number
};

__device__ float RandomValue(u64 bits, const FillArguments& arguments) {
  const float first = float((bits >> 40) + 1) * 0x1p-24f;  // (0, 1]
  if (arguments.filling == kBinary) return first <= arguments.parameter ? 1.0f : 0.0f;
  if (arguments.filling == kUniform) return first * arguments.parameter;
  const float second = float(bits & 0xffffff) * 0x1p-24f;  // [0, 1)
  return sqrtf(-2.0f * logf(first)) * cospif(2.0f * second);
}

__device__ float ValueAt(const FillArguments& arguments, i64 row, i64 column, i64 rows, i64 columns) {
  const u64 seed = arguments.seed;
  switch (arguments.filling) {
    case kCancellingA:
      return CancellingA(seed, row, column, columns);
    case kCancellingB:
      return CancellingB(seed, column);
    case kSpecialA:
      return SpecialA(seed, row, column, columns, arguments.seed_of_b, arguments.matrix.type == kBf16);
    case kSpecialB:
      return SpecialB(seed, row, column, rows, arguments.matrix.type == kBf16);
    default:
      return RandomValue(HashAt(seed, row * columns + column), arguments);
  }
}

extern "C" __global__ void harness_fill(const FillArguments arguments) {
  const Matrix& matrix = arguments.matrix;
  const i64 rows = matrix.lines_are_rows ? matrix.lines : matrix.line_length;
  const i64 columns = matrix.lines_are_rows ? matrix.line_length : matrix.lines;
  for (i64 i = First(); i < matrix.lines * matrix.line_length; i += Step()) {
    const i64 line = i / matrix.line_length, position = i % matrix.line_length;
    const i64 row = matrix.lines_are_rows ? line : position, column = matrix.lines_are_rows ? position : line;
    Store(matrix, line * matrix.stride + position, ValueAt(arguments, row, column, rows, columns));
  }
}

struct PoisonArguments {
  Matrix matrix;
  u32 bits;
};

extern "C" __global__ void harness_poison(const PoisonArguments arguments) {
  FillUnits(arguments.matrix, 0, u16(arguments.bits));
}

#include "harness/reference_product.cuh"

// ---- judgement ----------------------------------------------------------------------------------------------------------

#include "harness/compare.cuh"

// Everything of an allocation that is not an element: the guard bands and the gaps between lines.
struct CanaryArguments {
  const u16* allocation;
  i64 before, behind;               // elements
  i64 lines, line_length, stride;
  u64* broken;
  u64 pattern;  // 0: every canary is `canary`
  u32 canary;
};

// The pattern's value at a place that holds no element. Half of a pattern's canaries are NaN in f16 and in bf16.
__device__ u16 PatternAt(u64 pattern, i64 place) {
  const u64 hash = HashAt(pattern, place);
  return (hash >> 32 & 1) != 0 ? u16(hash | 0x7f81) : u16(hash);
}

struct PaintArguments {
  u16* allocation;
  i64 count;
  u64 pattern;
};

extern "C" __global__ void harness_paint(const PaintArguments arguments) {
  for (i64 i = First(); i < arguments.count; i += Step()) arguments.allocation[i] = PatternAt(arguments.pattern, i);
}

__device__ void CountBrokenCanaries(const CanaryArguments& arguments) {
  const i64 span = (arguments.lines - 1) * arguments.stride + arguments.line_length;
  const i64 gap = arguments.stride - arguments.line_length, gaps = (arguments.lines - 1) * gap;
  u64 broken = 0;
  const i64 guards = arguments.before + arguments.behind;
  for (i64 i = First(); i < guards + gaps; i += Step()) {
    i64 offset;
    if (i < arguments.before) {
      offset = i;
    } else if (i < guards) {
      offset = span + i;
    } else {
      const i64 j = i - guards;
      offset = arguments.before + j / gap * arguments.stride + arguments.line_length + j % gap;
    }
    const u16 canary = arguments.pattern == 0 ? u16(arguments.canary) : PatternAt(arguments.pattern, offset);
    if (arguments.allocation[offset] != canary) ++broken;
  }
  if (broken > 0) atomicAdd(arguments.broken, broken);
}

struct NonZeroArguments {
  const u32* words;
  i64 count;
  u64* found;
};

__device__ void CountNonZero(const NonZeroArguments& arguments) {
  u64 found = 0;
  for (i64 i = First(); i < arguments.count; i += Step())
    if (arguments.words[i] != 0) ++found;
  if (found > 0) atomicAdd(arguments.found, found);
}

// Everything there is to look at after a call, in one launch: every row of blocks does one part. A part that is not wanted
// has no elements.
struct InspectArguments {
  CompareArguments c;
  ChecksumArguments a_sum, b_sum;
  CanaryArguments a_canaries, b_canaries, c_canaries, workspace_canaries;
  NonZeroArguments workspace;
};

extern "C" __global__ void harness_inspect(const InspectArguments arguments) {
  switch (blockIdx.y) {
    case 0:
      return Compare(arguments.c);
    case 1:
      return Checksum(arguments.a_sum);
    case 2:
      return Checksum(arguments.b_sum);
    case 3:
      return CountBrokenCanaries(arguments.a_canaries);
    case 4:
      return CountBrokenCanaries(arguments.b_canaries);
    case 5:
      return CountBrokenCanaries(arguments.c_canaries);
    case 6:
      return CountBrokenCanaries(arguments.workspace_canaries);
    case 7:
      return CountNonZero(arguments.workspace);
  }
}

// ---- operands that are written late --------------------------------------------------------------------------------------

// Lets what stands behind it begin, spins, and only then copies: who does not wait reads what stood there before.
struct LateCopy {
  const u16* from;
  u16* to;
  i64 count;
};
struct LateArguments {
  LateCopy copies[2];
  i64 cycles;
};

// Both begin at 16 bytes.
__device__ void CopyElements(const LateCopy& copy) {
  const i64 units = copy.count / kUnit;
#pragma unroll 4
  for (i64 i = First(); i < units; i += Step())
    reinterpret_cast<Unit*>(copy.to)[i] = reinterpret_cast<const Unit*>(copy.from)[i];
  for (i64 i = units * kUnit + First(); i < copy.count; i += Step()) copy.to[i] = copy.from[i];
}

extern "C" __global__ void harness_write_late(const LateArguments arguments) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const i64 start = clock64();
  while (clock64() - start < arguments.cycles) {
  }
  for (const LateCopy& copy : arguments.copies) CopyElements(copy);
}

// ---- the clock's own test -----------------------------------------------------------------------------------------------

// Keeps one thread busy for a number of clock cycles; for testing the instrument.
struct SpinArguments {
  i64 cycles;
};

extern "C" __global__ void harness_spin(const SpinArguments arguments) {
  const i64 start = clock64();
  while (clock64() - start < arguments.cycles) {
  }
}

#include "harness/ring_draw.cuh"
#include "harness/ring_units.cuh"
#include "harness/ring_batch.cuh"
#include "harness/ring_check.cuh"
