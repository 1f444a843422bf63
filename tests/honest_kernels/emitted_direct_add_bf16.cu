// style: emitted, direct family, bf16, split K by f32 adds in L2
// shape: 64x64x4096
// layout: tn
// type: bf16
//
// direct tile_m=16 tile_n=16 warps_m=1 warps_n=1 warps_k=8 split=4 reduction=add chunks=1 fixed=all trigger=none
// for gemm 64x64x4096 tn bf16 f32
//
// One self-contained file: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a
// A and B as the layout says, packed; pointers aligned to 16 bytes; the workspace arrives zeroed and is left zeroed.
#include <cuda_runtime.h>

// The host's side of a `direct` kernel in a standalone file: checks, geometry, launch. Compiled by nvcc only.

// The `direct` family: global memory -> register fragments -> mma.sync, without staging in shared memory.
//
// A lane loads 8 neighbouring k of each of its rows; both operands map k onto the matrix instruction's slots in the
// same way, so a chunk of 32 k feeds two instructions without any shuffle. Columns are permuted likewise: the c-th
// column of the j-th instruction is column c * kColumns + j of the warp's tile, so that a lane ends with 2 * kColumns
// neighbouring sums of a row and stores them in wide accesses; and where B is row-major its loads are as wide.
//
// Config: Type, kRowMajorB, kTileM/N (of the CTA), kWarpsM/N (sharing the tile), kWarpsK (splitting K inside the CTA),
// kSplit and kReduction (splitting K over CTAs), kChunks (of 32 k in flight a warp), kTrigger, kLoadVector, kStoreVector
// (elements an access may hold), kFixedM/N/K and kFixedLdA/B/C (0: run time). Grid: m tiles, n tiles, splits.

// From f32 sums to C: kCount neighbouring columns of one row, clipped at the matrix's edges.

// Single instructions: loads and stores of a stated width, conversions, reductions in L2, barriers of some of a CTA's
// threads, chained launches.

// Words shared by every kernel: bit types, the argument block, and compile-time dimensions. Includes nothing, so that
// NVRTC needs no toolkit folder; half-precision values are carried as their 16 bits.

namespace gemmsmith {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

#define GEMMSMITH_DEVICE __device__ __forceinline__

// The parameter of every GEMM kernel, or the last part of it; src/program/launch.h declares the same bytes.
struct GemmArguments {
  const void* a;
  const void* b;
  void* c;
  void* workspace;
  int m, n, k;
  int lda, ldb, ldc;
};

// A dimension that a plan fixes (value > 0) or leaves to the arguments.
template <int kFixed>
struct Dimension {
  static constexpr bool is_fixed = kFixed > 0;
  // Known at compile time to be a multiple of `step`.
  static __host__ __device__ constexpr bool IsMultipleOf(int step) { return is_fixed && kFixed % step == 0; }
  static GEMMSMITH_DEVICE int Value(int argument) { return is_fixed ? kFixed : argument; }
};

// When a kernel lets the next launch of a chain start.
enum class Trigger {
  kNone,   // it does not, and it expects the launch before it to have ended
  kEarly,  // at once
  kLate,   // when the last matrix instructions are on their way
};

struct F16 {};
struct Bf16 {};

template <class T, class U>
struct IsSame {
  static constexpr bool value = false;
};
template <class T>
struct IsSame<T, T> {
  static constexpr bool value = true;
};

template <bool kCondition, class First, class Second>
struct Conditional {
  using Type = First;
};
template <class First, class Second>
struct Conditional<false, First, Second> {
  using Type = Second;
};

__host__ __device__ constexpr int Min(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int Max(int a, int b) { return a > b ? a : b; }
__host__ __device__ constexpr int CeilDivide(int a, int b) { return (a + b - 1) / b; }

}  // namespace gemmsmith


namespace gemmsmith {

// kCount 16-bit elements, packed two to a register (kCount 1: the low half). kReadOnly: through the read-only path, for
// memory that nobody writes while this launch lives; under programmatic launch the one before may still be writing it.
template <int kCount, bool kReadOnly>
GEMMSMITH_DEVICE void Load(u32 (&to)[(kCount + 1) / 2], const u16* from) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4 || kCount == 8, "one access holds 1, 2, 4 or 8 elements");
  if constexpr (kCount == 8) {
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "l"(from));
    else
      asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "l"(from)
                   : "memory");
  } else if constexpr (kCount == 4) {
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.v2.u32 {%0,%1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(from));
    else
      asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(from) : "memory");
  } else if constexpr (kCount == 2) {
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(to[0]) : "l"(from));
    else
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(to[0]) : "l"(from) : "memory");
  } else {
    u16 element;
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(element) : "l"(from));
    else
      asm volatile("ld.global.u16 %0, [%1];" : "=h"(element) : "l"(from) : "memory");
    to[0] = element;
  }
}

template <int kCount>
GEMMSMITH_DEVICE void Store(u16* to, const u32 (&from)[(kCount + 1) / 2]) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4 || kCount == 8, "one access holds 1, 2, 4 or 8 elements");
  if constexpr (kCount == 8) {
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]),
                 "r"(from[3])
                 : "memory");
  } else if constexpr (kCount == 4) {
    asm volatile("st.global.v2.u32 [%0], {%1,%2};" ::"l"(to), "r"(from[0]), "r"(from[1]) : "memory");
  } else if constexpr (kCount == 2) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(from[0]) : "memory");
  } else {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(to), "h"(u16(from[0])) : "memory");
  }
}

// Two floats to one register of two 16-bit values, `low` in the low half, rounded to nearest even.
template <class Type>
GEMMSMITH_DEVICE u32 Pack(float low, float high) {
  u32 packed;
  if constexpr (IsSame<Type, F16>::value)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// The low halves, or the high halves, of two registers.
GEMMSMITH_DEVICE u32 LowHalves(u32 first, u32 second) { return __byte_perm(first, second, 0x5410); }
GEMMSMITH_DEVICE u32 HighHalves(u32 first, u32 second) { return __byte_perm(first, second, 0x7632); }

// Adds kCount neighbouring floats in L2, without an answer. `to` is aligned to the whole access.
template <int kCount>
GEMMSMITH_DEVICE void AddInL2(float* to, const float (&values)[kCount]) {
  static_assert(kCount % 2 == 0, "pairs");
#if __CUDA_ARCH__ >= 900
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to + i), "f"(values[i]),
                   "f"(values[i + 1]), "f"(values[i + 2]), "f"(values[i + 3])
                   : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1,%2};" ::"l"(to + i), "f"(values[i]), "f"(values[i + 1])
                   : "memory");
  }
#else
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(to + i), "f"(values[i]) : "memory");
#endif
}

// Floats that other CTAs wrote, past the first-level cache.
template <int kCount>
GEMMSMITH_DEVICE void LoadFromL2(float (&to)[kCount], const float* from) {
  static_assert(kCount % 2 == 0, "pairs");
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(to[i]), "=f"(to[i + 1]), "=f"(to[i + 2]), "=f"(to[i + 3])
                   : "l"(from + i)
                   : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      asm volatile("ld.global.cg.v2.f32 {%0,%1}, [%2];" : "=f"(to[i]), "=f"(to[i + 1]) : "l"(from + i) : "memory");
  }
}

template <int kCount>
GEMMSMITH_DEVICE void StoreToL2(float* to, const float (&from)[kCount]) {
  static_assert(kCount % 2 == 0, "pairs");
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      asm volatile("st.global.cg.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to + i), "f"(from[i]), "f"(from[i + 1]),
                   "f"(from[i + 2]), "f"(from[i + 3])
                   : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      asm volatile("st.global.cg.v2.f32 [%0], {%1,%2};" ::"l"(to + i), "f"(from[i]), "f"(from[i + 1]) : "memory");
  }
}

// Counts an arrival; what this thread, and every thread that met it at a barrier, wrote before is visible to whoever
// counts later.
GEMMSMITH_DEVICE u32 CountArrival(u32* counter) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

GEMMSMITH_DEVICE u32 SharedAddress(const void* pointer) { return u32(__cvta_generic_to_shared(pointer)); }

// The same lane of a converged warp every time, in a form that lets the compiler issue single-thread instructions
// plainly (a test of threadIdx.x puts a loop around each TMA operation).
GEMMSMITH_DEVICE bool ElectLane() {
  u32 elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected;
}

// Barrier of the first kThreads threads that come to it; barrier 0 is __syncthreads().
template <int kThreads>
GEMMSMITH_DEVICE void MeetThreads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

// ---- programmatic dependent launch: both do nothing in a launch without that attribute ----

// Returns when the launch before this one has ended and its writes are visible. Before it nothing that a launch may
// have written, workspace and C included, may be touched.
GEMMSMITH_DEVICE void WaitForLaunchBefore() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// From here on the CTAs of the next launch may take the place that this one leaves free.
GEMMSMITH_DEVICE void LetNextLaunchStart() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace gemmsmith


namespace gemmsmith {

// Where C ends. kInside: the plan knows at compile time that no tile crosses an edge.
template <bool kInside>
struct OutputBounds {
  int m, n;
  GEMMSMITH_DEVICE bool HasRow(int row) const { return kInside || row < m; }
  GEMMSMITH_DEVICE int ColumnsFrom(int column) const { return n - column; }
};

// kVector: elements that one store may hold, given C's leading dimension.
template <class Type, int kVector, int kCount, bool kInside>
GEMMSMITH_DEVICE void StoreRow(u16* c, i64 ldc, int row, int column, const float (&values)[kCount],
                               OutputBounds<kInside> bounds) {
  static_assert(kCount % 2 == 0, "pairs");
  if (!bounds.HasRow(row)) return;
  u16* to = c + row * ldc + column;
  constexpr int kWidth = Min(kVector, Min(kCount, 8));
  u32 packed[kCount / 2];
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) packed[i] = Pack<Type>(values[2 * i], values[2 * i + 1]);
  if constexpr (kWidth > 1) {
    if (kInside || bounds.ColumnsFrom(column) >= kCount) {
#pragma unroll
      for (int i = 0; i < kCount; i += kWidth) {
        u32 part[kWidth / 2];
#pragma unroll
        for (int r = 0; r < kWidth / 2; ++r) part[r] = packed[i / 2 + r];
        Store<kWidth>(to + i, part);
      }
      return;
    }
  }
  if constexpr (kWidth == 1 || !kInside) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const u32 element[1] = {i % 2 == 0 ? packed[i / 2] : packed[i / 2] >> 16};
      if (kInside || i < bounds.ColumnsFrom(column)) Store<1>(to + i, element);
    }
  }
}

}  // namespace gemmsmith

// Warp-level matrix instruction mma.sync.m16n8k16 with f32 accumulators (sm_80 and later).
//
// With lane = 4 * g + t, a lane holds
//   A: rows g and g + 8, k slots 2t, 2t+1 (registers 0, 1) and 2t+8, 2t+9 (registers 2, 3)
//   B: column g, k slots 2t, 2t+1 (register 0) and 2t+8, 2t+9 (register 1)
//   C: rows g (0, 1) and g + 8 (2, 3), columns 2t and 2t+1
// The order of k does not change the sum, so any bijection of k onto slots serves as long as A and B use the same one.


namespace gemmsmith {

template <class Type>
GEMMSMITH_DEVICE void Mma16816(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (IsSame<Type, F16>::value)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace gemmsmith

// Sums of partial tiles: over the warps of a CTA through shared memory, over the CTAs that split K through L2.


namespace gemmsmith {

// How the CTAs that split K of one tile meet. Each leaves its workspace zeroed, as it found it.
enum class SplitReduction {
  kNone,
  kAdd,      // f32 adds in L2; the last arriver converts. Flat in the number of splits, sums in order of arrival.
  kOrdered,  // a slot each; the last arriver sums them in order. The same bits every time.
  kCluster,  // the splits are a cluster: each reads its share of the tile from all in order. The same bits every time.
};

// A partial tile in shared memory, one for each warp that splits K. The rows are four floats longer than the tile, so
// that the rows of one store fall into different banks.
template <int kTileM, int kTileN>
struct SharedTile {
  static constexpr int kRow = kTileN + 4;
  static constexpr int kFloats = kTileM * kRow;
};

// Calls use(row, column, values) with kPiece neighbouring sums over kParts partial tiles, the whole tile shared out
// over kThreads threads.
template <int kTileM, int kTileN, int kParts, int kThreads, int kPiece, class Use>
GEMMSMITH_DEVICE void ForEachSharedSum(const float* parts, Use&& use) {
  using Tile = SharedTile<kTileM, kTileN>;
  constexpr int kPieces = kTileM * kTileN / kPiece;
#pragma unroll
  for (int first = 0; first < kPieces; first += kThreads) {
    const int piece = first + threadIdx.x;
    if (kPieces % kThreads != 0 && piece >= kPieces) break;
    const int row = piece / (kTileN / kPiece), column = piece % (kTileN / kPiece) * kPiece;
    const float* from = parts + row * Tile::kRow + column;
    float sum[kPiece];
#pragma unroll
    for (int i = 0; i < kPiece; ++i) sum[i] = from[i];
#pragma unroll
    for (int part = 1; part < kParts; ++part)
#pragma unroll
      for (int i = 0; i < kPiece; ++i) sum[i] += from[part * Tile::kFloats + i];
    use(row, column, sum);
  }
}

// The workspace of a split launch: one counter a tile (rounded up to 256 bytes), then the tiles' sums or slots.
// SplitWorkspaceBytes() of src/program/launch.h says the same.
__host__ __device__ constexpr u64 SplitCountersBytes(u64 tiles) { return (tiles * 4 + 255) & ~u64(255); }
GEMMSMITH_DEVICE float* SplitSums(void* workspace, u32 tiles) {
  return reinterpret_cast<float*>(static_cast<char*>(workspace) + SplitCountersBytes(tiles));
}

// True in every one of the kThreads threads of the CTA that arrives last at a tile; resets the counter for the next
// launch. `arrivals` is a word of shared memory.
template <int kSplit, int kThreads>
GEMMSMITH_DEVICE bool IsLastArriver(u32* counter, u32* arrivals) {
  MeetThreads<kThreads>(1);
  if (threadIdx.x == 0) {
    *arrivals = CountArrival(counter);
    if (*arrivals == kSplit - 1) *counter = 0;
  }
  MeetThreads<kThreads>(1);
  return *arrivals == kSplit - 1;
}

// Adds the CTA's sums to the tile's in L2, in whatever order they lie in registers. True in the last arriver, whose
// sums are then the totals; the tile's place in the workspace holds zeros again.
template <int kSplit, int kThreads, int kCount>
GEMMSMITH_DEVICE bool AddToTile(float (&sums)[kCount], float* tile_sums, u32* counter, u32* arrivals) {
  static_assert(kCount % 4 == 0, "four floats an access");
  float* mine = tile_sums + threadIdx.x * 4;
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float part[4] = {sums[i], sums[i + 1], sums[i + 2], sums[i + 3]};
    AddInL2(mine + i * kThreads, part);
  }
  if (!IsLastArriver<kSplit, kThreads>(counter, arrivals)) return false;
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    float part[4];
    LoadFromL2(part, mine + i * kThreads);
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[i + j] = part[j];
  }
  const float zeros[4] = {};
#pragma unroll
  for (int i = 0; i < kCount; i += 4) StoreToL2(mine + i * kThreads, zeros);
  return true;
}

}  // namespace gemmsmith


namespace gemmsmith {

template <class Config>
struct DirectKernel {
  using Type = typename Config::Type;
  static constexpr int kChunkK = 32;
  static constexpr int kWarpM = Config::kTileM / Config::kWarpsM, kWarpN = Config::kTileN / Config::kWarpsN;
  static constexpr int kRowBlocks = kWarpM / 16, kColumns = kWarpN / 8;
  static constexpr int kWarpsMn = Config::kWarpsM * Config::kWarpsN;
  static constexpr int kThreads = 32 * kWarpsMn * Config::kWarpsK;
  static constexpr int kVector = Config::kLoadVector;
  static constexpr int kColumnVector = Min(kVector, kColumns);  // of one load from a row-major B
  using Arguments = GemmArguments;
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;
  static constexpr bool kInsideM = M::IsMultipleOf(Config::kTileM), kInsideN = N::IsMultipleOf(Config::kTileN);
  // Every warp of every split does the same whole number of rounds.
  static constexpr int kRoundK = kChunkK * Config::kChunks * Config::kWarpsK;
  static constexpr bool kEvenK = K::IsMultipleOf(kRoundK * Config::kSplit);

  // The 8 k of one row, or 8 rows of k of kColumns columns, that a lane holds of a chunk.
  struct ChunkA {
    u32 pairs[2 * kRowBlocks][4];
  };
  struct ChunkB {
    u32 pairs[kColumns][4];
  };

  int m, n, k;
  i64 lda, ldb;
  int group, lane_k;  // g and t of mma.cuh
  const u16* a_rows[2 * kRowBlocks];
  const u16* b_columns[Config::kRowMajorB ? 1 : kColumns];
  int first_column;  // of this lane, in the matrix
  float sums[kRowBlocks][kColumns][4];

  // The k, within a chunk, of the lane's element e: runs of kVector neighbours, the four lanes of a group side by side.
  GEMMSMITH_DEVICE int OffsetOf(int e) const { return e / kVector * (4 * kVector) + lane_k * kVector + e % kVector; }

  GEMMSMITH_DEVICE void Start(const GemmArguments& arguments, int warp_m, int warp_n) {
    m = M::Value(arguments.m), n = N::Value(arguments.n), k = K::Value(arguments.k);
    lda = Dimension<Config::kFixedLdA>::Value(arguments.lda);
    ldb = Dimension<Config::kFixedLdB>::Value(arguments.ldb);
    const int lane = threadIdx.x % 32;
    group = lane / 4, lane_k = lane % 4;
    const u16* a = static_cast<const u16*>(arguments.a);
    const u16* b = static_cast<const u16*>(arguments.b);
    const int first_row = blockIdx.x * Config::kTileM + warp_m * kWarpM + group;
    // Rows and columns outside are read as the last one inside; their sums are never stored.
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
      const int row = first_row + 8 * i;
      a_rows[i] = a + (kInsideM ? row : min(row, m - 1)) * lda;
    }
    first_column = blockIdx.y * Config::kTileN + warp_n * kWarpN + group * kColumns;
    if constexpr (Config::kRowMajorB) {
      b_columns[0] = b;
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        b_columns[j] = b + (kInsideN ? first_column + j : min(first_column + j, n - 1)) * ldb;
    }
#pragma unroll
    for (int i = 0; i < kRowBlocks; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int r = 0; r < 4; ++r) sums[i][j][r] = 0;
  }

  template <int kCount>
  static GEMMSMITH_DEVICE void LoadElements(u32 (&to)[(kCount + 1) / 2], const u16* from) {
    gemmsmith::Load<kCount, Config::kTrigger == Trigger::kNone>(to, from);
  }

  // Eight k of one contiguous line; kWhole: the chunk lies inside k.
  template <bool kWhole>
  GEMMSMITH_DEVICE void LoadLine(u32 (&pairs)[4], const u16* line, int chunk_k) const {
#pragma unroll
    for (int e = 0; e < 8; e += kVector) {
      const int at = chunk_k + OffsetOf(e);
      u32 part[(kVector + 1) / 2];
      if (kWhole || at + kVector <= k) {
        LoadElements<kVector>(part, line + at);
      } else {
#pragma unroll
        for (int r = 0; r < (kVector + 1) / 2; ++r) part[r] = 0;
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          u32 element[1] = {0};
          if (at + i < k) LoadElements<1>(element, line + at + i);
          part[i / 2] |= element[0] << (i % 2 * 16);
        }
      }
      if constexpr (kVector == 1) {
        pairs[e / 2] = e % 2 == 0 ? part[0] : pairs[e / 2] | part[0] << 16;
      } else {
#pragma unroll
        for (int r = 0; r < kVector / 2; ++r) pairs[e / 2 + r] = part[r];
      }
    }
  }

  // kColumns neighbouring columns of one row of a row-major B; zeros behind the last row.
  template <bool kWhole>
  GEMMSMITH_DEVICE void LoadRowOfB(u32 (&packed)[(kColumns + 1) / 2], int row) const {
    const u16* line = b_columns[0] + row * ldb + first_column;
    const bool inside_k = kWhole || row < k;
#pragma unroll
    for (int j = 0; j < kColumns; j += kColumnVector) {
      u32 part[(kColumnVector + 1) / 2];
#pragma unroll
      for (int r = 0; r < (kColumnVector + 1) / 2; ++r) part[r] = 0;
      if (inside_k && (kInsideN || first_column + j + kColumnVector <= n)) {
        LoadElements<kColumnVector>(part, line + j);
      } else if (inside_k) {
#pragma unroll
        for (int i = 0; i < kColumnVector; ++i) {
          u32 element[1] = {0};
          if (first_column + j + i < n) LoadElements<1>(element, line + j + i);
          part[i / 2] |= element[0] << (i % 2 * 16);
        }
      }
      if constexpr (kColumnVector == 1) {
        packed[j / 2] = j % 2 == 0 ? part[0] : packed[j / 2] | part[0] << 16;
      } else {
#pragma unroll
        for (int r = 0; r < kColumnVector / 2; ++r) packed[j / 2 + r] = part[r];
      }
    }
  }

  template <bool kWhole>
  GEMMSMITH_DEVICE void Load(ChunkA& chunk_a, ChunkB& chunk_b, int chunk_k) const {
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) LoadLine<kWhole>(chunk_a.pairs[i], a_rows[i], chunk_k);
    if constexpr (Config::kRowMajorB) {
      u32 rows[8][(kColumns + 1) / 2];
#pragma unroll
      for (int e = 0; e < 8; ++e) LoadRowOfB<kWhole>(rows[e], chunk_k + OffsetOf(e));
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int p = 0; p < 4; ++p)
          chunk_b.pairs[j][p] = j % 2 == 0 ? LowHalves(rows[2 * p][j / 2], rows[2 * p + 1][j / 2])
                                           : HighHalves(rows[2 * p][j / 2], rows[2 * p + 1][j / 2]);
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) LoadLine<kWhole>(chunk_b.pairs[j], b_columns[j], chunk_k);
    }
  }

  GEMMSMITH_DEVICE void Multiply(const ChunkA& chunk_a, const ChunkB& chunk_b) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < kRowBlocks; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          const u32 a[4] = {chunk_a.pairs[2 * i][2 * half], chunk_a.pairs[2 * i + 1][2 * half],
                            chunk_a.pairs[2 * i][2 * half + 1], chunk_a.pairs[2 * i + 1][2 * half + 1]};
          const u32 b[2] = {chunk_b.pairs[j][2 * half], chunk_b.pairs[j][2 * half + 1]};
          Mma16816<Type>(sums[i][j], a, b);
        }
  }

  // The products of this warp's share of K: rounds of kChunks neighbouring chunks, dealt to the splits, then to the
  // warps.
  GEMMSMITH_DEVICE void AccumulateShare(int warp_k) {
    constexpr int kStepK = kChunkK * Config::kChunks;
    ChunkA a[Config::kChunks];
    ChunkB b[Config::kChunks];
    if constexpr (kEvenK) {
      constexpr int kRounds = Config::kFixedK / (kRoundK * Config::kSplit);
      int at = blockIdx.z * (kRounds * kRoundK) + warp_k * kStepK;
#pragma unroll 2
      for (int round = 0; round < kRounds; ++round, at += kRoundK) {
#pragma unroll
        for (int u = 0; u < Config::kChunks; ++u) Load<true>(a[u], b[u], at + u * kChunkK);
#pragma unroll
        for (int u = 0; u < Config::kChunks; ++u) Multiply(a[u], b[u]);
      }
      return;
    }
    const int rounds = (k + kRoundK - 1) / kRoundK;
    const int share = (rounds + Config::kSplit - 1) / Config::kSplit;
    const int end = min(k, (int(blockIdx.z) + 1) * share * kRoundK);
    int at = int(blockIdx.z) * share * kRoundK + warp_k * kStepK;
    for (; at + kStepK <= end; at += kRoundK) {
#pragma unroll
      for (int u = 0; u < Config::kChunks; ++u) Load<true>(a[u], b[u], at + u * kChunkK);
#pragma unroll
      for (int u = 0; u < Config::kChunks; ++u) Multiply(a[u], b[u]);
    }
    // At most one step is cut by the end of k; no whole step follows it.
    for (; at < end; at += kChunkK) {
      Load<false>(a[0], b[0], at);
      Multiply(a[0], b[0]);
    }
  }

  // use(row, column, values) for each run of neighbouring sums of the CTA's tile that this thread holds.
  template <class Use>
  GEMMSMITH_DEVICE void ForEachSum(int warp_m, int warp_n, int warp_k, float* shared, Use&& use) const {
    const int row = warp_m * kWarpM + group, column = warp_n * kWarpN + lane_k * 2 * kColumns;
    if constexpr (Config::kWarpsK == 1) {
      ForEachHeldSum(row, column, use);
    } else {
      using Tile = SharedTile<Config::kTileM, Config::kTileN>;
      float* part = shared + warp_k * Tile::kFloats;
      ForEachHeldSum(row, column, [&](int r, int c, const float(&values)[2 * kColumns]) {
#pragma unroll
        for (int i = 0; i < 2 * kColumns; ++i) part[r * Tile::kRow + c + i] = values[i];
      });
      __syncthreads();
      constexpr int kPiece = Min(8, Max(2, Config::kTileM * Config::kTileN / kThreads));
      ForEachSharedSum<Config::kTileM, Config::kTileN, Config::kWarpsK, kThreads, kPiece>(shared, use);
    }
  }

  template <class Use>
  GEMMSMITH_DEVICE void ForEachHeldSum(int row, int column, Use&& use) const {
#pragma unroll
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
      float values[2 * kColumns];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        values[j] = sums[i / 2][j][i % 2 * 2];
        values[kColumns + j] = sums[i / 2][j][i % 2 * 2 + 1];
      }
      use(row + 8 * i, column, values);
    }
  }

  GEMMSMITH_DEVICE void Finish(const GemmArguments& arguments, int warp_m, int warp_n, int warp_k,
                               float* shared) const {
    const i64 ldc = Dimension<Config::kFixedLdC>::Value(arguments.ldc);
    const int first_row = blockIdx.x * Config::kTileM, tile_column = blockIdx.y * Config::kTileN;
    const OutputBounds<kInsideM && kInsideN> bounds{m, n};
    const auto store = [&](int row, int column, const auto& values) {
      StoreRow<Type, Config::kStoreVector>(static_cast<u16*>(arguments.c), ldc, first_row + row, tile_column + column,
                                           values, bounds);
    };
    if constexpr (Config::kReduction == SplitReduction::kNone) {
      ForEachSum(warp_m, warp_n, warp_k, shared, store);
    } else {
      constexpr int kTile = Config::kTileM * Config::kTileN;
      constexpr bool kOrdered = Config::kReduction == SplitReduction::kOrdered;
      const u32 tile = blockIdx.y * gridDim.x + blockIdx.x;
      float* tile_sums =
          SplitSums(arguments.workspace, gridDim.x * gridDim.y) + u64(tile) * (kOrdered ? Config::kSplit : 1) * kTile;
      ForEachSum(warp_m, warp_n, warp_k, shared, [&](int row, int column, const auto& values) {
        float* to = tile_sums + row * Config::kTileN + column;
        if constexpr (kOrdered)
          StoreToL2(to + blockIdx.z * kTile, values);
        else
          AddInL2(to, values);
      });
      __shared__ u32 arrivals;
      if (!IsLastArriver<Config::kSplit, kThreads>(static_cast<u32*>(arguments.workspace) + tile, &arrivals)) return;
      StoreTotals<kOrdered ? Config::kSplit : 1>(tile_sums, store);
    }
  }

  // The last arriver's work: every load is on its way before the first is waited for.
  template <int kSlots, class Store>
  GEMMSMITH_DEVICE void StoreTotals(float* slots, Store&& store) const {
    constexpr int kTile = Config::kTileM * Config::kTileN;
    constexpr int kPiece = Min(8, Max(2, kTile / kThreads)), kPieces = kTile / kPiece;
    constexpr int kRounds = CeilDivide(kPieces, kThreads);
    float totals[kRounds][kPiece];
    const float zeros[kPiece] = {};
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot)
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        const int piece = round * kThreads + threadIdx.x;
        if (kPieces % kThreads != 0 && piece >= kPieces) break;
        float values[kPiece];
        LoadFromL2(values, slots + slot * kTile + piece * kPiece);
#pragma unroll
        for (int i = 0; i < kPiece; ++i) totals[round][i] = slot == 0 ? values[i] : totals[round][i] + values[i];
      }
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const int piece = round * kThreads + threadIdx.x;
      if (kPieces % kThreads != 0 && piece >= kPieces) break;
#pragma unroll
      for (int slot = 0; slot < kSlots; ++slot) StoreToL2(slots + slot * kTile + piece * kPiece, zeros);
      store(piece * kPiece / Config::kTileN, piece * kPiece % Config::kTileN, totals[round]);
    }
  }

  static GEMMSMITH_DEVICE void Run(const GemmArguments& arguments) {
    extern __shared__ float shared[];
    const int warp = threadIdx.x / 32;
    const int warp_k = warp % Config::kWarpsK, warp_mn = warp / Config::kWarpsK;
    const int warp_n = warp_mn % Config::kWarpsN, warp_m = warp_mn / Config::kWarpsN;
    if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
    DirectKernel kernel;
    kernel.Start(arguments, warp_m, warp_n);
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
    kernel.AccumulateShare(warp_k);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    kernel.Finish(arguments, warp_m, warp_n, warp_k, shared);
  }
};

}  // namespace gemmsmith


namespace gemmsmith {

// Packed A, B and C. cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(GemmArguments), const void* a, const void* b, void* c, int m, int n, int k,
                       void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  using Kernel = DirectKernel<Config>;
  const int lda = k, ldb = Config::kRowMajorB ? n : k, ldc = n;
  const auto differs = [](int fixed, int value) { return fixed != 0 && fixed != value; };
  if (m < 1 || n < 1 || k < 1 || differs(Config::kFixedM, m) || differs(Config::kFixedN, n) ||
      differs(Config::kFixedK, k) || differs(Config::kFixedLdA, lda) || differs(Config::kFixedLdB, ldb) ||
      differs(Config::kFixedLdC, ldc))
    return cudaErrorInvalidValue;
  // Accesses are as wide as the leading dimensions of the problem it was made for allowed.
  if (lda % Config::kLoadVector != 0 || ldb % Config::kLoadVector != 0 || ldc % Config::kStoreVector != 0)
    return cudaErrorInvalidValue;

  const dim3 grid(CeilDivide(m, Config::kTileM), CeilDivide(n, Config::kTileN), Config::kSplit);
  if constexpr (Config::kReduction != SplitReduction::kNone) {
    const size_t tiles = size_t(grid.x) * grid.y;
    const size_t sums = (Config::kReduction == SplitReduction::kOrdered ? Config::kSplit : 1) * tiles;
    if (workspace_bytes < SplitCountersBytes(tiles) + sums * Config::kTileM * Config::kTileN * sizeof(float))
      return cudaErrorInvalidValue;
  }

  constexpr int kSmemBytes =
      Config::kWarpsK == 1 ? 0
                           : Config::kWarpsK * SharedTile<Config::kTileM, Config::kTileN>::kFloats * int(sizeof(float));
  // Of the device that is current now.
  const cudaError_t prepared =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  if (prepared != cudaSuccess) return prepared;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = kSmemBytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, GemmArguments{a, b, c, workspace, m, n, k, lda, ldb, ldc});
}

}  // namespace gemmsmith


struct Config {
  using Type = gemmsmith::Bf16;
  static constexpr bool kRowMajorB = false;
  static constexpr int kTileM = 16;
  static constexpr int kTileN = 16;
  static constexpr int kWarpsM = 1;
  static constexpr int kWarpsN = 1;
  static constexpr int kWarpsK = 8;
  static constexpr int kSplit = 4;
  static constexpr auto kReduction = gemmsmith::SplitReduction::kAdd;
  static constexpr int kChunks = 1;
  static constexpr auto kTrigger = gemmsmith::Trigger::kNone;
  static constexpr int kLoadVector = 8;
  static constexpr int kStoreVector = 8;
  static constexpr int kFixedM = 64;
  static constexpr int kFixedN = 64;
  static constexpr int kFixedK = 4096;
  static constexpr int kFixedLdA = 4096;
  static constexpr int kFixedLdB = 4096;
  static constexpr int kFixedLdC = 64;
};

using Kernel = gemmsmith::DirectKernel<Config>;

extern "C" __global__ void __launch_bounds__(Kernel::kThreads)
    gemmsmith_gemm(const __grid_constant__ Kernel::Arguments arguments) {
  Kernel::Run(arguments);
}

// The contract this file was written for: version, layout, types, accumulation.
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn bf16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  return gemmsmith::LaunchGemm<Config>(gemmsmith_gemm, a, b, c, m, n, k, workspace, workspace_bytes, stream);
}
