// style: emitted, wgmma, C written by the copy engine
// shape: 500x520x640
// layout: tn
//
// wgmma tile_m=128 tile_n=64 warpgroups=2 step_k=64 stages=3 cluster_m=1 cluster_n=1 split=1 reduction=add store=tma trigger=none raster=m fixed=none
// for gemm 500x520x640 tn f16 f32
//
// One self-contained file: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a
// A and B as the layout says, packed; pointers aligned to 16 bytes; the workspace arrives zeroed and is left zeroed.
#include <cuda_runtime.h>

// The host's side of a `wgmma` kernel in a standalone file: checks, tensor maps, geometry, launch. Compiled by nvcc
// only; the driver's function that encodes tensor maps is asked for at run time.

#include <cuda.h>

// The `wgmma` family: TMA -> shared memory -> wgmma, one tile of C a CTA (sm_90a).
//
// Warpgroups share the tile's rows and consume stages of kStepK k. Two ways to feed them:
//   resident (kStages 0)  the whole share of K is ordered at once by one lane of the first warp, and nothing is refilled
//   ring (kStages 2 ..)   a producer warp behind the consumers refills a stage as soon as all of them have released it
// CTAs of a cluster that need the same operand copy a slice of it each, for all (multicast). Splits of K meet by f32 adds
// in L2 or, as a cluster, through distributed shared memory.
//
// Config: Type, kRowMajorB, kTileM/N, kWarpgroups, kStepK, kStages, kClusterM/N, kSplit, kReduction, kTrigger, kRaster,
// kStoreByCopyEngine, kStoreVector, kDepthA/B (panels an operation), kStagingInStages (the epilogue reuses the stages'
// memory), kFixedM/N/K/LdC. Shared memory: barriers (1 KiB), stages, staging of the epilogue.

// From the sums of wgmma to C by way of shared memory, a warp's 16 rows at a time, so that whole rows of the tile are
// written in wide accesses; clipped at the matrix's edges.

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

// The tensor memory accelerator: boxes of a matrix copied to shared memory and back by one thread's order, and the
// barriers in shared memory that count the bytes in.
//
// A box lands as a panel: lines of 32, 64 or 128 bytes (16, unswizzled, on the way out), one behind the other. Within each 8 lines the 16-byte pieces
// are permuted (swizzled) by the number of the line, so that neither the copy nor the matrix instructions meet bank
// conflicts; SwizzledOffset() is that permutation.

// Clusters of CTAs: their barrier, and loads from each other's shared memory.


namespace gemmsmith {

// Every thread of the cluster that has not ended arrives; what was written to shared memory before is visible behind.
GEMMSMITH_DEVICE void MeetCluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The address, valid throughout the cluster, of the same place in the shared memory of CTA `rank`.
GEMMSMITH_DEVICE u32 SharedAddressOf(int rank, u32 address) {
  u32 mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

GEMMSMITH_DEVICE void LoadFromCluster(float (&to)[4], u32 address) {
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address)
               : "memory");
}

}  // namespace gemmsmith


namespace gemmsmith {

// CUtensorMap of the driver; written by the host, read by the copy engine only.
struct alignas(128) TensorMap {
  u64 opaque[16];
};

// The widest lines, in elements, of panels that so many columns fill.
__host__ __device__ constexpr int PanelWidth(int columns) {
  return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : columns % 16 == 0 ? 16 : 8;
}

// Where a byte of a panel stands, for lines of kLineBytes. Panels start at multiples of 8 lines.
template <int kLineBytes>
GEMMSMITH_DEVICE u32 SwizzledOffset(u32 line, u32 byte) {
  const u32 offset = line * kLineBytes + byte;
  return offset ^ ((offset >> 7 & (kLineBytes / 16 - 1)) << 4);
}

GEMMSMITH_DEVICE void PrefetchMap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- barriers: a phase ends when `arrivals` have come and every expected byte with them ----

GEMMSMITH_DEVICE void InitBarrier(u32 barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// After the last InitBarrier(), before any other thread, CTA or the copy engine may use them.
GEMMSMITH_DEVICE void PublishBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
GEMMSMITH_DEVICE void ArriveExpecting(u32 barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
GEMMSMITH_DEVICE void Arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// At a barrier of another CTA. Not with .release.cluster: nothing was written that its owner reads, and the fence that
// comes with it doubled the time of a 1024^3 product (11.7 against 6.1 us, H200, November 2026).
GEMMSMITH_DEVICE void ArriveInCluster(u32 mapped_barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(mapped_barrier) : "memory");
}
// Returns when the phase of this parity has ended. The loop is part of the assembly: written in C++ it makes ptxas
// serialise every wgmma of the kernel (C7518, CUDA 13.0).
GEMMSMITH_DEVICE void WaitFor(u32 barrier, u32 parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra AGAIN; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- copies; one thread orders each ----

// kPeerCount > 1: to the same place in every CTA of `peers` (a bit each), whose barriers count their bytes.
template <int kPeerCount>
GEMMSMITH_DEVICE void CopyBox(u32 to, const TensorMap& map, int x, int y, u32 barrier, u32 peers) {
  if constexpr (kPeerCount == 1)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
            "r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(u16(peers))
        : "memory");
}

template <int kPeerCount>
GEMMSMITH_DEVICE void CopyBox(u32 to, const TensorMap& map, int x, int y, int z, u32 barrier, u32 peers) {
  if constexpr (kPeerCount == 1)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(u16(peers))
        : "memory");
}

// What this thread wrote to shared memory becomes visible to the copies that are ordered from here on.
GEMMSMITH_DEVICE void PublishToCopies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

GEMMSMITH_DEVICE void StoreBox(const TensorMap& map, int x, int y, u32 from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
               "r"(y), "r"(from)
               : "memory");
}
// Until the stores that this thread ordered have read shared memory; a CTA may not end before.
GEMMSMITH_DEVICE void WaitUntilStoresHaveRead() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// ---- operands on their way in ----

// One operand's share of a stage: kPanels panels of kLines lines, each line kWidth elements of the contiguous
// direction. An operation brings kDepth neighbouring panels through a map of three dimensions (kWidth, lines, panels),
// or one through a map of two. With kPeers > 1 each CTA that needs the same operand copies its slice for all of them:
// whole panels where these can be dealt out evenly, else lines of every panel.
template <int kPanels_, int kLines_, int kWidth_, int kPeers_, int kDepth_>
struct StagedOperand {
  static constexpr int kPanels = kPanels_, kLines = kLines_, kWidth = kWidth_, kPeers = kPeers_, kDepth = kDepth_;
  static constexpr int kLineBytes = kWidth * 2;
  static constexpr int kPanelBytes = kLines * kLineBytes;
  static constexpr int kBytes = kPanels * kPanelBytes;
  static constexpr bool kSlicesArePanels = kPanels % kPeers == 0;
  static constexpr int kSlicePanels = kSlicesArePanels ? kPanels / kPeers : kPanels;
  static constexpr int kSliceLines = kSlicesArePanels ? kLines : kLines / kPeers;
  static_assert(kSlicePanels % kDepth == 0 && (kDepth == 1 || kSliceLines == kLines), "an operation fills whole panels");
  static_assert(kSliceLines % 8 == 0, "the swizzle repeats every 8 lines");

  // `inner` is the place of panel 0 in the contiguous direction, `line` that of line 0.
  static GEMMSMITH_DEVICE void Copy(u32 stage, const TensorMap& map, int inner, int line, int slice, u32 barrier,
                                    u32 peers) {
    const int first_panel = kSlicesArePanels ? slice * kSlicePanels : 0;
    const int first_line = kSlicesArePanels ? 0 : slice * kSliceLines;
#pragma unroll
    for (int i = 0; i < kSlicePanels; i += kDepth) {
      const int panel = first_panel + i;
      const u32 to = stage + panel * kPanelBytes + first_line * kLineBytes;
      if constexpr (kDepth > 1)
        CopyBox<kPeers>(to, map, 0, line, inner / kWidth + panel, barrier, peers);
      else
        CopyBox<kPeers>(to, map, inner + panel * kWidth, line + first_line, barrier, peers);
    }
  }
};

}  // namespace gemmsmith


namespace gemmsmith {

// One 16-byte piece of a row, or as much of it as lies inside.
template <int kVector, bool kInside>
GEMMSMITH_DEVICE void StorePiece(u16* to, const u32 (&piece)[4], int columns_left) {
  if constexpr (kVector == 8) {
    if (kInside || columns_left >= 8) return Store<8>(to, piece);
  } else if constexpr (kVector > 1) {
    if (kInside || columns_left >= 8) {
#pragma unroll
      for (int i = 0; i < 8; i += kVector) {
        u32 part[kVector / 2];
#pragma unroll
        for (int r = 0; r < kVector / 2; ++r) part[r] = piece[i / 2 + r];
        Store<kVector>(to + i, part);
      }
      return;
    }
  }
  if constexpr (!kInside || kVector == 1) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const u32 element[1] = {i % 2 == 0 ? piece[i / 2] : piece[i / 2] >> 16};
      if (kInside || i < columns_left) Store<1>(to + i, element);
    }
  }
}

// A warp's sums as wgmma leaves them (16 rows x kColumns), converted, to shared memory at place(row, column) of each
// piece of 8 columns.
template <class Type, int kColumns, class Place>
GEMMSMITH_DEVICE void StageSums(const float (&sums)[kColumns / 2], Place&& place) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int column = 0; column + 16 <= kColumns; column += 16) {
    const float* q = sums + column / 2;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                     place(lane % 16, column + lane / 16 * 8)),
                 "r"(Pack<Type>(q[0], q[1])), "r"(Pack<Type>(q[2], q[3])), "r"(Pack<Type>(q[4], q[5])),
                 "r"(Pack<Type>(q[6], q[7]))
                 : "memory");
  }
  if constexpr (kColumns % 16 != 0) {
    const float* q = sums + (kColumns - 8) / 2;
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(place(lane % 16, kColumns - 8)),
                 "r"(Pack<Type>(q[0], q[1])), "r"(Pack<Type>(q[2], q[3]))
                 : "memory");
  }
}

// Rows in shared memory are one piece longer than the tile's, so that the pieces of a column fall into different banks.
template <int kColumns>
struct PaddedRows {
  static constexpr int kRowBytes = kColumns * 2 + 16;
  static constexpr int kBytes = 16 * kRowBytes;  // of a warp
};

template <class Type, int kVector, int kColumns, bool kInside>
GEMMSMITH_DEVICE void StoreThroughPaddedRows(u16* c, i64 ldc, int row, int column,
                                             const float (&sums)[kColumns / 2], u32 staging,
                                             OutputBounds<kInside> bounds) {
  using Rows = PaddedRows<kColumns>;
  StageSums<Type, kColumns>(sums, [&](int r, int col) { return staging + r * Rows::kRowBytes + col * 2; });
  __syncwarp();
  constexpr int kPieces = kColumns / 8;
#pragma unroll
  for (int first = 0; first < 16 * kPieces; first += 32) {
    const int i = first + threadIdx.x % 32;
    if (16 * kPieces % 32 != 0 && i >= 16 * kPieces) break;
    const int r = i / kPieces, col = i % kPieces * 8;
    u32 piece[4];
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(piece[0]), "=r"(piece[1]), "=r"(piece[2]), "=r"(piece[3])
                 : "r"(staging + r * Rows::kRowBytes + col * 2)
                 : "memory");
    if (bounds.HasRow(row + r) && (kInside || column + col < bounds.n))
      StorePiece<kVector, kInside>(c + (row + r) * ldc + column + col, piece, bounds.ColumnsFrom(column + col));
  }
}

// The tile in the panels that the copy engine stores from, of the widest lines that the tile's columns fill.
template <int kColumns>
struct StoredPanels {
  static constexpr int kWidth = PanelWidth(kColumns);
  static constexpr int kPanelBytes = 16 * kWidth * 2;
  static constexpr int kBytes = 16 * kColumns * 2;  // of a warp
};

// The caller waits with WaitUntilStoresHaveRead() in the lane that ElectLane() names.
template <class Type, int kColumns>
GEMMSMITH_DEVICE void StoreThroughCopyEngine(const TensorMap& map, int row, int column,
                                             const float (&sums)[kColumns / 2], u32 staging) {
  using Panels = StoredPanels<kColumns>;
  StageSums<Type, kColumns>(sums, [&](int r, int col) {
    return staging + col / Panels::kWidth * Panels::kPanelBytes +
           SwizzledOffset<Panels::kWidth * 2>(r, col % Panels::kWidth * 2);
  });
  PublishToCopies();
  __syncwarp();
  if (ElectLane()) {
#pragma unroll
    for (int panel = 0; panel < kColumns / Panels::kWidth; ++panel)
      StoreBox(map, column + panel * Panels::kWidth, row, staging + panel * Panels::kPanelBytes);
  }
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

// Warpgroup-level matrix instruction wgmma.m64nNk16 with f32 accumulators, both operands in shared memory (sm_90a).
//
// With warp w of the warpgroup and lane = 4 * g + t, a thread holds of every 8 columns j
//   sums[4j], sums[4j + 1]: row 16w + g, columns 8j + 2t and 8j + 2t + 1      sums[4j + 2], sums[4j + 3]: row 16w + g + 8


namespace gemmsmith {

// ---- how an operand lies in shared memory ----

// 64-bit descriptor: address, distance between panels (used where the panels lie side by side in m or n), distance
// between groups of 8 lines, swizzle. Everything in units of 16 bytes.
template <int kLineBytes>
GEMMSMITH_DEVICE u64 OperandDescriptor(u32 address, int panel_bytes) {
  static_assert(kLineBytes == 128 || kLineBytes == 64 || kLineBytes == 32, "the swizzles that panels have");
  constexpr u64 kSwizzle = kLineBytes == 128 ? 1 : kLineBytes == 64 ? 2 : 3;
  return u64((address & 0x3ffff) >> 4) | u64(panel_bytes >> 4) << 16 | u64(8 * kLineBytes >> 4) << 32 | kSwizzle << 62;
}
// The same operand `bytes` further on.
GEMMSMITH_DEVICE u64 Advance(u64 descriptor, int bytes) { return descriptor + u64(bytes >> 4); }

// ---- order ----

// Before the first instruction of a group: the registers and what was read of shared memory are settled.
GEMMSMITH_DEVICE void FenceWgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GEMMSMITH_DEVICE void CommitWgmma() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most kPending groups are under way.
template <int kPending>
GEMMSMITH_DEVICE void WaitWgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// Keeps reads of the sums behind the wait before it.
template <int kCount>
GEMMSMITH_DEVICE void SettleSums(float (&sums)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// ---- the instruction ----

// sums = a * b + (add ? sums : 0). kColumns: 8 ... 256 by 8. kRowMajorB: B's panels hold lines of n instead of k.
template <class Type, bool kRowMajorB, int kColumns>
struct Wgmma;

// The text needs each register by its number: "%0,%1,...". TENS(t) are ten of them, %t0 ... %t9.
#define GEMMSMITH_4(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3"
#define GEMMSMITH_8(t) GEMMSMITH_4(t) ",%" #t "4,%" #t "5,%" #t "6,%" #t "7"
#define GEMMSMITH_10(t) GEMMSMITH_8(t) ",%" #t "8,%" #t "9"
#define GEMMSMITH_2(t) "%" #t "0,%" #t "1"
#define GEMMSMITH_6(t) GEMMSMITH_4(t) ",%" #t "4,%" #t "5"
#define GEMMSMITH_FIRST_10 GEMMSMITH_10()
#define GEMMSMITH_FIRST_20 GEMMSMITH_FIRST_10 "," GEMMSMITH_10(1)
#define GEMMSMITH_FIRST_30 GEMMSMITH_FIRST_20 "," GEMMSMITH_10(2)
#define GEMMSMITH_FIRST_40 GEMMSMITH_FIRST_30 "," GEMMSMITH_10(3)
#define GEMMSMITH_FIRST_50 GEMMSMITH_FIRST_40 "," GEMMSMITH_10(4)
#define GEMMSMITH_FIRST_60 GEMMSMITH_FIRST_50 "," GEMMSMITH_10(5)
#define GEMMSMITH_FIRST_70 GEMMSMITH_FIRST_60 "," GEMMSMITH_10(6)
#define GEMMSMITH_FIRST_80 GEMMSMITH_FIRST_70 "," GEMMSMITH_10(7)
#define GEMMSMITH_FIRST_90 GEMMSMITH_FIRST_80 "," GEMMSMITH_10(8)
#define GEMMSMITH_FIRST_100 GEMMSMITH_FIRST_90 "," GEMMSMITH_10(9)
#define GEMMSMITH_FIRST_110 GEMMSMITH_FIRST_100 "," GEMMSMITH_10(10)
#define GEMMSMITH_FIRST_120 GEMMSMITH_FIRST_110 "," GEMMSMITH_10(11)
#define GEMMSMITH_SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define GEMMSMITH_SUMS_8(i) GEMMSMITH_SUMS_4(i), GEMMSMITH_SUMS_4(i + 4)
#define GEMMSMITH_SUMS_16(i) GEMMSMITH_SUMS_8(i), GEMMSMITH_SUMS_8(i + 8)
#define GEMMSMITH_SUMS_32(i) GEMMSMITH_SUMS_16(i), GEMMSMITH_SUMS_16(i + 16)
#define GEMMSMITH_SUMS_64(i) GEMMSMITH_SUMS_32(i), GEMMSMITH_SUMS_32(i + 32)
// clang-format off
#define GEMMSMITH_WGMMA_TEXT(N, TYPE, REGISTERS, A, B, ADD, MAJOR)                                                     \
  "{ .reg .pred p; setp.ne.b32 p, %" #ADD ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE         \
  " {" REGISTERS "}, %" #A ", %" #B ", p, 1, 1, 0, %" #MAJOR "; }"
#define GEMMSMITH_WGMMA(N, A, B, ADD, MAJOR, REGISTERS, ...)                                                           \
  template <class Type, bool kRowMajorB>                                                                               \
  struct Wgmma<Type, kRowMajorB, N> {                                                                                  \
    static GEMMSMITH_DEVICE void MultiplyAdd(float (&sums)[N / 2], u64 a, u64 b, int add) {                            \
      if constexpr (IsSame<Type, F16>::value)                                                                          \
        asm volatile(GEMMSMITH_WGMMA_TEXT(N, "f16", REGISTERS, A, B, ADD, MAJOR)                                       \
                     : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(int(kRowMajorB)));                                  \
      else                                                                                                             \
        asm volatile(GEMMSMITH_WGMMA_TEXT(N, "bf16", REGISTERS, A, B, ADD, MAJOR)                                      \
                     : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(int(kRowMajorB)));                                  \
    }                                                                                                                  \
  };
GEMMSMITH_WGMMA(8, 4, 5, 6, 7, GEMMSMITH_4(), GEMMSMITH_SUMS_4(0))
GEMMSMITH_WGMMA(16, 8, 9, 10, 11, GEMMSMITH_8(), GEMMSMITH_SUMS_8(0))
GEMMSMITH_WGMMA(24, 12, 13, 14, 15, GEMMSMITH_FIRST_10 "," GEMMSMITH_2(1), GEMMSMITH_SUMS_8(0), GEMMSMITH_SUMS_4(8))
GEMMSMITH_WGMMA(32, 16, 17, 18, 19, GEMMSMITH_FIRST_10 "," GEMMSMITH_6(1), GEMMSMITH_SUMS_16(0))
GEMMSMITH_WGMMA(40, 20, 21, 22, 23, GEMMSMITH_FIRST_20, GEMMSMITH_SUMS_16(0), GEMMSMITH_SUMS_4(16))
GEMMSMITH_WGMMA(48, 24, 25, 26, 27, GEMMSMITH_FIRST_20 "," GEMMSMITH_4(2), GEMMSMITH_SUMS_16(0), GEMMSMITH_SUMS_8(16))
GEMMSMITH_WGMMA(56, 28, 29, 30, 31, GEMMSMITH_FIRST_20 "," GEMMSMITH_8(2), GEMMSMITH_SUMS_16(0), GEMMSMITH_SUMS_8(16), GEMMSMITH_SUMS_4(24))
GEMMSMITH_WGMMA(64, 32, 33, 34, 35, GEMMSMITH_FIRST_30 "," GEMMSMITH_2(3), GEMMSMITH_SUMS_32(0))
GEMMSMITH_WGMMA(72, 36, 37, 38, 39, GEMMSMITH_FIRST_30 "," GEMMSMITH_6(3), GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_4(32))
GEMMSMITH_WGMMA(80, 40, 41, 42, 43, GEMMSMITH_FIRST_40, GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_8(32))
GEMMSMITH_WGMMA(88, 44, 45, 46, 47, GEMMSMITH_FIRST_40 "," GEMMSMITH_4(4), GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_8(32), GEMMSMITH_SUMS_4(40))
GEMMSMITH_WGMMA(96, 48, 49, 50, 51, GEMMSMITH_FIRST_40 "," GEMMSMITH_8(4), GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_16(32))
GEMMSMITH_WGMMA(104, 52, 53, 54, 55, GEMMSMITH_FIRST_50 "," GEMMSMITH_2(5), GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_16(32), GEMMSMITH_SUMS_4(48))
GEMMSMITH_WGMMA(112, 56, 57, 58, 59, GEMMSMITH_FIRST_50 "," GEMMSMITH_6(5), GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_16(32), GEMMSMITH_SUMS_8(48))
GEMMSMITH_WGMMA(120, 60, 61, 62, 63, GEMMSMITH_FIRST_60, GEMMSMITH_SUMS_32(0), GEMMSMITH_SUMS_16(32), GEMMSMITH_SUMS_8(48), GEMMSMITH_SUMS_4(56))
GEMMSMITH_WGMMA(128, 64, 65, 66, 67, GEMMSMITH_FIRST_60 "," GEMMSMITH_4(6), GEMMSMITH_SUMS_64(0))
GEMMSMITH_WGMMA(136, 68, 69, 70, 71, GEMMSMITH_FIRST_60 "," GEMMSMITH_8(6), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_4(64))
GEMMSMITH_WGMMA(144, 72, 73, 74, 75, GEMMSMITH_FIRST_70 "," GEMMSMITH_2(7), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_8(64))
GEMMSMITH_WGMMA(152, 76, 77, 78, 79, GEMMSMITH_FIRST_70 "," GEMMSMITH_6(7), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_8(64), GEMMSMITH_SUMS_4(72))
GEMMSMITH_WGMMA(160, 80, 81, 82, 83, GEMMSMITH_FIRST_80, GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_16(64))
GEMMSMITH_WGMMA(168, 84, 85, 86, 87, GEMMSMITH_FIRST_80 "," GEMMSMITH_4(8), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_16(64), GEMMSMITH_SUMS_4(80))
GEMMSMITH_WGMMA(176, 88, 89, 90, 91, GEMMSMITH_FIRST_80 "," GEMMSMITH_8(8), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_16(64), GEMMSMITH_SUMS_8(80))
GEMMSMITH_WGMMA(184, 92, 93, 94, 95, GEMMSMITH_FIRST_90 "," GEMMSMITH_2(9), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_16(64), GEMMSMITH_SUMS_8(80), GEMMSMITH_SUMS_4(88))
GEMMSMITH_WGMMA(192, 96, 97, 98, 99, GEMMSMITH_FIRST_90 "," GEMMSMITH_6(9), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64))
GEMMSMITH_WGMMA(200, 100, 101, 102, 103, GEMMSMITH_FIRST_100, GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_4(96))
GEMMSMITH_WGMMA(208, 104, 105, 106, 107, GEMMSMITH_FIRST_100 "," GEMMSMITH_4(10), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_8(96))
GEMMSMITH_WGMMA(216, 108, 109, 110, 111, GEMMSMITH_FIRST_100 "," GEMMSMITH_8(10), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_8(96), GEMMSMITH_SUMS_4(104))
GEMMSMITH_WGMMA(224, 112, 113, 114, 115, GEMMSMITH_FIRST_110 "," GEMMSMITH_2(11), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_16(96))
GEMMSMITH_WGMMA(232, 116, 117, 118, 119, GEMMSMITH_FIRST_110 "," GEMMSMITH_6(11), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_16(96), GEMMSMITH_SUMS_4(112))
GEMMSMITH_WGMMA(240, 120, 121, 122, 123, GEMMSMITH_FIRST_120, GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_16(96), GEMMSMITH_SUMS_8(112))
GEMMSMITH_WGMMA(248, 124, 125, 126, 127, GEMMSMITH_FIRST_120 "," GEMMSMITH_4(12), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_32(64), GEMMSMITH_SUMS_16(96), GEMMSMITH_SUMS_8(112), GEMMSMITH_SUMS_4(120))
GEMMSMITH_WGMMA(256, 128, 129, 130, 131, GEMMSMITH_FIRST_120 "," GEMMSMITH_8(12), GEMMSMITH_SUMS_64(0), GEMMSMITH_SUMS_64(64))
// clang-format on
#undef GEMMSMITH_2
#undef GEMMSMITH_4
#undef GEMMSMITH_6
#undef GEMMSMITH_8
#undef GEMMSMITH_10
#undef GEMMSMITH_FIRST_10
#undef GEMMSMITH_FIRST_20
#undef GEMMSMITH_FIRST_30
#undef GEMMSMITH_FIRST_40
#undef GEMMSMITH_FIRST_50
#undef GEMMSMITH_FIRST_60
#undef GEMMSMITH_FIRST_70
#undef GEMMSMITH_FIRST_80
#undef GEMMSMITH_FIRST_90
#undef GEMMSMITH_FIRST_100
#undef GEMMSMITH_FIRST_110
#undef GEMMSMITH_FIRST_120
#undef GEMMSMITH_SUMS_4
#undef GEMMSMITH_SUMS_8
#undef GEMMSMITH_SUMS_16
#undef GEMMSMITH_SUMS_32
#undef GEMMSMITH_SUMS_64
#undef GEMMSMITH_WGMMA_TEXT
#undef GEMMSMITH_WGMMA

}  // namespace gemmsmith


namespace gemmsmith {

// Which tile a CTA takes: the grid runs along m, along n, or in groups of so many tiles along m, n outside.
enum Raster { kAlongM = 0, kAlongN = 1 };

template <class Config>
struct WgmmaKernel {
  using Type = typename Config::Type;
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;

  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kStepK = Config::kStepK;
  static constexpr int kRowBlocks = kTileM / 64 / Config::kWarpgroups;  // of 64 rows, a warpgroup
  static constexpr int kConsumerWarps = 4 * Config::kWarpgroups, kConsumers = 32 * kConsumerWarps;
  static constexpr bool kIsRing = Config::kStages > 0;
  static constexpr int kThreads = kConsumers + (kIsRing ? 32 : 0);
  static constexpr bool kInside = M::IsMultipleOf(kTileM) && N::IsMultipleOf(kTileN);

  static constexpr int kClusterSize = Config::kClusterM * Config::kClusterN;
  // CTAs that copy something for this one, itself included: those of its row and of its column in the cluster.
  static constexpr int kPeers = Config::kClusterM + Config::kClusterN - 1;
  static constexpr bool kSplitsAreCluster = Config::kReduction == SplitReduction::kCluster;

  // A's lines are rows; B's are columns, or k where B is row-major.
  static constexpr int kWidthB = Config::kRowMajorB ? PanelWidth(kTileN) : 64;
  using A = StagedOperand<kStepK / 64, kTileM, 64, Config::kClusterN, Config::kDepthA>;
  using B = StagedOperand<(Config::kRowMajorB ? kTileN / kWidthB : kStepK / 64), (Config::kRowMajorB ? kStepK : kTileN),
                          kWidthB, Config::kClusterM, Config::kDepthB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;

  // Few known steps are written out; more of them, or unknown ones, stay a loop (a third less code and compile time).
  static constexpr int kKnownSteps = CeilDivide(CeilDivide(Config::kFixedK, kStepK), Config::kSplit);
  static constexpr int kUnroll = K::is_fixed && kKnownSteps <= 4 ? kKnownSteps : 1;

  static constexpr int kMaxStages = 32;
  static constexpr int kFullBarriers = 0, kEmptyBarriers = 8 * kMaxStages, kArrivalsWord = 16 * kMaxStages;
  static constexpr int kStagesStart = 1024;
  static constexpr int kSums = kTileN / 2;  // of a row block, a thread
  static constexpr int kStagingBytes = kSplitsAreCluster            ? kTileM * (kTileN + 4) * 4
                                       : Config::kStoreByCopyEngine ? kTileM / 16 * StoredPanels<kTileN>::kBytes
                                                                    : kTileM / 16 * PaddedRows<kTileN>::kBytes;

  // As the host lays them out: the maps in order, C's only where the copy engine stores.
  struct ArgumentsForRows {
    TensorMap a, b;
    GemmArguments gemm;
  };
  struct ArgumentsForBoxes {
    TensorMap a, b, c;
    GemmArguments gemm;
  };
  using Arguments = typename Conditional<Config::kStoreByCopyEngine, ArgumentsForBoxes, ArgumentsForRows>::Type;

  const Arguments& arguments;
  const u32 shared;
  int tile_row, tile_column;  // in tiles
  int first_step, steps;      // of kStepK, of this split
  int slice_a, slice_b;       // of what the cluster shares

  GEMMSMITH_DEVICE WgmmaKernel(const Arguments& arguments_, u32 shared_) : arguments(arguments_), shared(shared_) {
    FindTile();
    slice_a = tile_column % Config::kClusterN, slice_b = tile_row % Config::kClusterM;
    const int all = CeilDivide(K::Value(arguments.gemm.k), kStepK);
    const int split = blockIdx.z;
    first_step = Config::kSplit == 1 ? 0 : all * split / Config::kSplit;
    steps = Config::kSplit == 1 ? all : all * (split + 1) / Config::kSplit - first_step;
  }

  // The grid is launched over whole clusters; a tile outside C computes zeros and stores nothing.
  GEMMSMITH_DEVICE void FindTile() {
    if constexpr (Config::kRaster == kAlongM) {
      tile_row = blockIdx.x, tile_column = blockIdx.y;
    } else if constexpr (Config::kRaster == kAlongN) {
      tile_row = blockIdx.y, tile_column = blockIdx.x;
    } else {
      constexpr int kGroup = Config::kRaster;  // clusters
      const int rows = CeilDivide(CeilDivide(M::Value(arguments.gemm.m), kTileM), Config::kClusterM);
      const int columns = CeilDivide(CeilDivide(N::Value(arguments.gemm.n), kTileN), Config::kClusterN);
      const int cluster = blockIdx.x / kClusterSize, member = blockIdx.x % kClusterSize;
      const int group = cluster / (kGroup * columns), in_group = cluster % (kGroup * columns);
      const int group_rows = min(kGroup, rows - group * kGroup);
      const int row = group * kGroup + in_group % group_rows, column = in_group / group_rows;
      tile_row = row * Config::kClusterM + member % Config::kClusterM;
      tile_column = column * Config::kClusterN + member / Config::kClusterM;
    }
  }
  static GEMMSMITH_DEVICE int RankOf(int member_m, int member_n) {
    return Config::kRaster == kAlongN ? member_n + member_m * Config::kClusterN
                                      : member_m + member_n * Config::kClusterM;
  }

  GEMMSMITH_DEVICE u32 Full(int stage) const { return shared + kFullBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Empty(int stage) const { return shared + kEmptyBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Stage(int stage) const { return shared + kStagesStart + stage * kStageBytes; }
  // The same place in every split, though their steps may differ by one: they read each other's.
  GEMMSMITH_DEVICE u32 Staging() const {
    if constexpr (Config::kStagingInStages) return Stage(0);
    if constexpr (kIsRing) return Stage(Config::kStages);
    return Stage(CeilDivide(CeilDivide(K::Value(arguments.gemm.k), kStepK), Config::kSplit));
  }
  GEMMSMITH_DEVICE int StagesFilledAtOnce() const { return kIsRing ? min(steps, Config::kStages) : steps; }
  GEMMSMITH_DEVICE bool WillBeRefilled(int step) const { return step + Config::kStages < steps; }

  // ---- feeding ----

  GEMMSMITH_DEVICE void Fill(int step, int stage) const {
    u32 peers_a = 0, peers_b = 0;
    if constexpr (kClusterSize > 1) {
#pragma unroll
      for (int i = 0; i < Config::kClusterN; ++i) peers_a |= 1u << RankOf(slice_b, i);
#pragma unroll
      for (int i = 0; i < Config::kClusterM; ++i) peers_b |= 1u << RankOf(i, slice_a);
    }
    const int k = (first_step + step) * kStepK, row = tile_row * kTileM, column = tile_column * kTileN;
    ArriveExpecting(Full(stage), kStageBytes);
    A::Copy(Stage(stage), arguments.a, k, row, slice_a, Full(stage), peers_a);
    B::Copy(Stage(stage) + A::kBytes, arguments.b, Config::kRowMajorB ? column : k, Config::kRowMajorB ? k : column,
            slice_b, Full(stage), peers_b);
  }

  GEMMSMITH_DEVICE void InitBarriers() const {
#pragma unroll 1
    for (int i = 0; i < StagesFilledAtOnce(); ++i) {
      InitBarrier(Full(i), 1);
      if (kIsRing) InitBarrier(Empty(i), kConsumerWarps * kPeers);
    }
    PublishBarriers();
  }

  GEMMSMITH_DEVICE void FillAtOnce() const {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
#pragma unroll 1
    for (int i = 0; i < StagesFilledAtOnce(); ++i) Fill(i, i);
  }

  // Barriers ready for everyone, first copies under way. `is_feeder`: the one lane that orders copies.
  GEMMSMITH_DEVICE void Start(bool is_feeder) const {
    if (is_feeder) {
      if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
      PrefetchMap(arguments.a);
      PrefetchMap(arguments.b);
      InitBarriers();
      if (kClusterSize == 1) FillAtOnce();
    }
    __syncwarp();
    if constexpr (kClusterSize == 1) {
      __syncthreads();
    } else {
      MeetCluster();  // the barriers of every peer are ready before anything is sent to it
      if (is_feeder) FillAtOnce();
      __syncwarp();
    }
  }

  GEMMSMITH_DEVICE void Refill() const {
    int stage = 0;
    u32 parity = 0;
#pragma unroll 1
    for (int step = Config::kStages; step < steps; ++step) {
      WaitFor(Empty(stage), parity);
      Fill(step, stage);
      if (++stage == Config::kStages) stage = 0, parity ^= 1;
    }
  }

  // ---- consuming ----

  // One warp tells everyone who fills this stage. Only stages that will be refilled are released, so that nothing arrives
  // at a CTA that may have ended. (A CTA may end while a slice it ordered is still on its way to its peers: the copy is
  // the engine's by then and needs nothing of the CTA.)
  GEMMSMITH_DEVICE void Release(int stage) const {
    const int lane = threadIdx.x % 32;
    if constexpr (kClusterSize == 1) {
      if (lane == 0) Arrive(Empty(stage));
    } else if (lane < kPeers) {
      // Lanes 0 .. kClusterN - 1: the CTAs of this row; the others: the rest of this column.
      const int other = lane - Config::kClusterN;
      const bool in_row = lane < Config::kClusterN;
      const int member_m = in_row ? slice_b : other + (other >= slice_b ? 1 : 0);
      const int member_n = in_row ? lane : slice_a;
      ArriveInCluster(SharedAddressOf(RankOf(member_m, member_n), Empty(stage)));
    }
  }

  GEMMSMITH_DEVICE void MultiplyStage(int stage, int warpgroup, bool is_first, float (&sums)[kRowBlocks][kSums]) const {
    const u32 a_start = Stage(stage) + warpgroup * kRowBlocks * 64 * A::kLineBytes, b_start = Stage(stage) + A::kBytes;
    const u64 a = OperandDescriptor<A::kLineBytes>(a_start, 0);
    const u64 b = OperandDescriptor<B::kLineBytes>(b_start, Config::kRowMajorB ? B::kPanelBytes : 0);
#pragma unroll
    for (int k = 0; k < kStepK; k += 16) {
      const int a_offset = k / 64 * A::kPanelBytes + k % 64 * 2;
      const int b_offset = Config::kRowMajorB ? k * B::kLineBytes : k / 64 * B::kPanelBytes + k % 64 * 2;
#pragma unroll
      for (int block = 0; block < kRowBlocks; ++block)
        Wgmma<Type, Config::kRowMajorB, kTileN>::MultiplyAdd(
            sums[block], Advance(a, a_offset + block * 64 * A::kLineBytes), Advance(b, b_offset), !is_first || k > 0);
    }
  }

  // The loop keeps one group of instructions under way, so a stage is released one step late.
  GEMMSMITH_DEVICE void Consume(int warpgroup, float (&sums)[kRowBlocks][kSums]) const {
    int stage = 0, step = 0;
    u32 parity = 0;
#pragma unroll kUnroll
    do {
      WaitFor(Full(stage), parity);
      FenceWgmma();
      MultiplyStage(stage, warpgroup, step == 0, sums);
      CommitWgmma();
      WaitWgmma<1>();
      if constexpr (kIsRing) {
        if (step > 0 && WillBeRefilled(step - 1)) Release(stage == 0 ? Config::kStages - 1 : stage - 1);
        if (++stage == Config::kStages) stage = 0, parity ^= 1;
      } else {
        ++stage;
      }
    } while (++step < steps);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    WaitWgmma<0>();
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) SettleSums(sums[block]);
  }

  // ---- finishing ----

  GEMMSMITH_DEVICE u16* C() const { return static_cast<u16*>(arguments.gemm.c); }
  GEMMSMITH_DEVICE i64 LdC() const { return Dimension<Config::kFixedLdC>::Value(arguments.gemm.ldc); }
  GEMMSMITH_DEVICE OutputBounds<kInside> Bounds() const {
    return {M::Value(arguments.gemm.m), N::Value(arguments.gemm.n)};
  }

  GEMMSMITH_DEVICE void StoreTile(int warp, const float (&sums)[kRowBlocks][kSums]) const {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row_in_tile = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16;
      const int row = tile_row * kTileM + row_in_tile, column = tile_column * kTileN;
      if constexpr (Config::kStoreByCopyEngine)
        StoreThroughCopyEngine<Type, kTileN>(arguments.c, row, column, sums[block],
                                             Staging() + row_in_tile / 16 * StoredPanels<kTileN>::kBytes);
      else
        StoreThroughPaddedRows<Type, Config::kStoreVector, kTileN>(
            C(), LdC(), row, column, sums[block], Staging() + row_in_tile / 16 * PaddedRows<kTileN>::kBytes, Bounds());
    }
    if (Config::kStoreByCopyEngine && ElectLane()) WaitUntilStoresHaveRead();
  }

  GEMMSMITH_DEVICE bool AddToWorkspace(float (&sums)[kRowBlocks][kSums]) const {
    const u32 tile = blockIdx.y * gridDim.x + blockIdx.x;
    float* tile_sums = SplitSums(arguments.gemm.workspace, gridDim.x * gridDim.y) + u64(tile) * (kTileM * kTileN);
    u32* counter = static_cast<u32*>(arguments.gemm.workspace) + tile;
    extern __shared__ __align__(1024) char memory[];
    return AddToTile<Config::kSplit, kConsumers>(reinterpret_cast<float(&)[kRowBlocks * kSums]>(sums), tile_sums, counter,
                                                 reinterpret_cast<u32*>(memory + kArrivalsWord));
  }

  // Every split keeps its sums in its own shared memory, adds up the same few rows of all of them, and stores these.
  GEMMSMITH_DEVICE void StoreShareOfCluster(int warp, const float (&sums)[kRowBlocks][kSums]) const {
    constexpr int kRow = kTileN + 4, kRows = kTileM / Config::kSplit, kPieces = kTileN / 4;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16 + lane / 4;
#pragma unroll
      for (int i = 0; i < kSums; i += 4) {
        const u32 to = Staging() + (row * kRow + i * 2 + lane % 4 * 2) * 4;
        const float(&q)[kSums] = sums[block];
        asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(to), "f"(q[i]), "f"(q[i + 1]) : "memory");
        asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(to + 8 * kRow * 4), "f"(q[i + 2]), "f"(q[i + 3]) : "memory");
      }
    }
    MeetCluster();
    const int first_row = int(blockIdx.z) * kRows;
#pragma unroll 2
    for (int i = threadIdx.x; i < kRows * kPieces; i += kConsumers) {
      const int row = first_row + i / kPieces, column = i % kPieces * 4;
      float parts[Config::kSplit][4];
#pragma unroll
      for (int split = 0; split < Config::kSplit; ++split)
        LoadFromCluster(parts[split], SharedAddressOf(split, Staging() + (row * kRow + column) * 4));
#pragma unroll
      for (int split = 1; split < Config::kSplit; ++split)
#pragma unroll
        for (int e = 0; e < 4; ++e) parts[0][e] += parts[split][e];
      if (kInside || tile_column * kTileN + column < Bounds().n)
        StoreRow<Type, Config::kStoreVector>(C(), LdC(), tile_row * kTileM + row, tile_column * kTileN + column,
                                             parts[0], Bounds());
    }
    __syncwarp();
    MeetCluster();  // nobody ends while another reads its sums
  }

  GEMMSMITH_DEVICE void Finish(int warp, float (&sums)[kRowBlocks][kSums]) const {
    if constexpr (Config::kReduction == SplitReduction::kAdd) {
      if (!AddToWorkspace(sums)) return;
    } else if constexpr (Config::kStagingInStages) {
      MeetThreads<kConsumers>(1);  // the stages are read by all
    }
    if constexpr (kSplitsAreCluster)
      StoreShareOfCluster(warp, sums);
    else
      StoreTile(warp, sums);
  }

  static GEMMSMITH_DEVICE void Run(const Arguments& arguments) {
    extern __shared__ __align__(1024) char memory[];
    // In a form that lets the compiler see that it is the same for the whole warp.
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    const WgmmaKernel kernel(arguments, SharedAddress(memory));
    const bool is_feeder = warp == (kIsRing ? kConsumerWarps : 0) && ElectLane();
    kernel.Start(is_feeder);
    if (kIsRing && warp == kConsumerWarps) {
      if (is_feeder) kernel.Refill();
      return;
    }
    float sums[kRowBlocks][kSums];
    kernel.Consume(warp / 4, sums);
    kernel.Finish(warp, sums);
  }
};

}  // namespace gemmsmith


namespace gemmsmith {

using EncodeFunction = decltype(&cuTensorMapEncodeTiled);
inline EncodeFunction FindEncodeFunction() {
  cudaDriverEntryPointQueryResult found;
  void* function = nullptr;
  const cudaError_t asked =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  return asked == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeFunction>(function)
                                                                      : nullptr;
}

// A matrix of `lines` lines of `inner` elements, seen in boxes of width x box_lines (x depth panels side by side).
inline cudaError_t EncodeMap(TensorMap& map, bool is_f16, const void* address, cuuint64_t inner, cuuint64_t lines,
                             cuuint32_t width, cuuint32_t box_lines, cuuint32_t depth) {
  static const EncodeFunction encode = FindEncodeFunction();
  if (encode == nullptr) return cudaErrorNotSupported;
  const bool deep = depth > 1;
  const cuuint64_t extent[3] = {deep ? width : inner, lines, inner / width};
  const cuuint64_t strides[2] = {inner * 2, cuuint64_t(width) * 2};
  const cuuint32_t box[3] = {width, box_lines, depth}, steps[3] = {1, 1, 1};
  const CUtensorMapSwizzle swizzle = width == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : width == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : width == 16 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUresult encoded =
      encode(reinterpret_cast<CUtensorMap*>(&map),
             is_f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, deep ? 3 : 2,
             const_cast<void*>(address), extent, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return encoded == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

template <class Operand>
cudaError_t EncodeOperand(TensorMap& map, bool is_f16, const void* address, int inner, int lines) {
  if (Operand::kDepth > 1 && inner % Operand::kWidth != 0) return cudaErrorInvalidValue;
  return EncodeMap(map, is_f16, address, inner, lines, Operand::kWidth, Operand::kSliceLines, Operand::kDepth);
}

// Packed A, B and C. cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(typename WgmmaKernel<Config>::Arguments), const void* a, const void* b, void* c,
                       int m, int n, int k, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  using Kernel = WgmmaKernel<Config>;
  const int lda = k, ldb = Config::kRowMajorB ? n : k, ldc = n;
  const auto differs = [](int fixed, int value) { return fixed != 0 && fixed != value; };
  if (m < 1 || n < 1 || k < 1 || differs(Config::kFixedM, m) || differs(Config::kFixedN, n) ||
      differs(Config::kFixedK, k) || differs(Config::kFixedLdC, ldc))
    return cudaErrorInvalidValue;
  if (lda % 8 != 0 || ldb % 8 != 0 || ldc % Config::kStoreVector != 0) return cudaErrorInvalidValue;

  constexpr bool kIsF16 = IsSame<typename Config::Type, F16>::value;
  typename Kernel::Arguments arguments{};
  cudaError_t encoded = EncodeOperand<typename Kernel::A>(arguments.a, kIsF16, a, k, m);
  if (encoded == cudaSuccess)
    encoded = EncodeOperand<typename Kernel::B>(arguments.b, kIsF16, b, Config::kRowMajorB ? n : k,
                                                Config::kRowMajorB ? k : n);
  if constexpr (Config::kStoreByCopyEngine)
    if (encoded == cudaSuccess)
      encoded = EncodeMap(arguments.c, kIsF16, c, n, m, StoredPanels<Config::kTileN>::kWidth, 16, 1);
  if (encoded != cudaSuccess) return encoded;
  arguments.gemm = {a, b, c, workspace, m, n, k, lda, ldb, ldc};

  const unsigned tiles_m = CeilDivide(CeilDivide(m, Config::kTileM), Config::kClusterM) * Config::kClusterM;
  const unsigned tiles_n = CeilDivide(CeilDivide(n, Config::kTileN), Config::kClusterN) * Config::kClusterN;
  if constexpr (Config::kReduction == SplitReduction::kAdd) {
    const size_t tiles = size_t(tiles_m) * tiles_n;
    if (workspace_bytes < SplitCountersBytes(tiles) + tiles * Config::kTileM * Config::kTileN * sizeof(float))
      return cudaErrorInvalidValue;
  }

  constexpr int kMaxSmemBytes = 232448;
  const int steps = CeilDivide(k, Config::kStepK), steps_of_split = CeilDivide(steps, Config::kSplit);
  if (steps < Config::kSplit || (!Kernel::kIsRing && steps_of_split > Kernel::kMaxStages)) return cudaErrorInvalidValue;
  const int stages_bytes = (Kernel::kIsRing ? Config::kStages : steps_of_split) * Kernel::kStageBytes;
  const int smem_bytes = Kernel::kStagesStart + (Config::kStagingInStages ? stages_bytes > Kernel::kStagingBytes
                                                                                ? stages_bytes
                                                                                : Kernel::kStagingBytes
                                                                          : stages_bytes + Kernel::kStagingBytes);
  if (smem_bytes > kMaxSmemBytes) return cudaErrorInvalidValue;
  // Of the device that is current now.
  cudaError_t prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (prepared == cudaSuccess)
    prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMaxSmemBytes);
  if (prepared != cudaSuccess) return prepared;

  cudaLaunchConfig_t config{};
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Config::kClusterM, Config::kClusterN, 1};
  config.gridDim = dim3(tiles_m, tiles_n, Config::kSplit);
  if (Config::kRaster == kAlongN) {
    config.gridDim = dim3(tiles_n, tiles_m, Config::kSplit);
    cluster.val.clusterDim = {Config::kClusterN, Config::kClusterM, 1};
  } else if (Config::kRaster != kAlongM) {
    config.gridDim = dim3(tiles_m * tiles_n, 1, Config::kSplit);
    cluster.val.clusterDim = {Kernel::kClusterSize, 1, 1};
  }
  if (Kernel::kSplitsAreCluster) cluster.val.clusterDim.z = Config::kSplit;
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = Kernel::kClusterSize > 1 || Kernel::kSplitsAreCluster ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gemmsmith


struct Config {
  using Type = gemmsmith::F16;
  static constexpr bool kRowMajorB = false;
  static constexpr int kTileM = 128;
  static constexpr int kTileN = 64;
  static constexpr int kWarpgroups = 2;
  static constexpr int kStepK = 64;
  static constexpr int kStages = 3;
  static constexpr int kClusterM = 1;
  static constexpr int kClusterN = 1;
  static constexpr int kSplit = 1;
  static constexpr auto kReduction = gemmsmith::SplitReduction::kNone;
  static constexpr auto kTrigger = gemmsmith::Trigger::kNone;
  static constexpr int kRaster = 0;
  static constexpr bool kStoreByCopyEngine = true;
  static constexpr int kStoreVector = 8;
  static constexpr int kDepthA = 1;
  static constexpr int kDepthB = 1;
  static constexpr bool kStagingInStages = false;
  static constexpr int kFixedM = 0;
  static constexpr int kFixedN = 0;
  static constexpr int kFixedK = 0;
  static constexpr int kFixedLdC = 0;
};

using Kernel = gemmsmith::WgmmaKernel<Config>;

extern "C" __global__ void __launch_bounds__(Kernel::kThreads)
    gemmsmith_gemm(const __grid_constant__ Kernel::Arguments arguments) {
  Kernel::Run(arguments);
}

// The contract this file was written for: version, layout, types, accumulation.
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  return gemmsmith::LaunchGemm<Config>(gemmsmith_gemm, a, b, c, m, n, k, workspace, workspace_bytes, stream);
}
