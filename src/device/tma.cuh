// The tensor memory accelerator: boxes of a matrix copied to shared memory and back by one thread's order, and the
// barriers in shared memory that count the bytes in.
//
// A box lands as a panel: lines of 32, 64 or 128 bytes (16, unswizzled, on the way out), one behind the other. Within each 8 lines the 16-byte pieces
// are permuted (swizzled) by the number of the line, so that neither the copy nor the matrix instructions meet bank
// conflicts; SwizzledOffset() is that permutation.
#pragma once

#include "cluster.cuh"

namespace gemmsmith {

// CUtensorMap of the driver; written by the host, read by the copy engine only.
struct alignas(128) TensorMap {
  u64 opaque[16];
};

// The widest lines, in elements, of panels that so many columns fill.
__host__ __device__ constexpr int PanelWidth(int columns) {
  return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : columns % 16 == 0 ? 16 : 8;
}

// The same of C on its way out, where panels may overlap: the last one ends with the tile, and what two of them have in
// common leaves twice. 64 columns, unless 32 fit as they are or 64 would bring more than a quarter twice. Lines of 16 and
// 32 bytes took up to 1.5 times as long (128 x 176 by ping-pong at k = 256).
__host__ __device__ constexpr int StoredWidth(int columns) {
  if (columns < 64 || columns % 32 == 0) return PanelWidth(columns);
  return CeilDivide(columns, 64) * 64 * 4 <= columns * 5 ? 64 : 32;
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

// For lines that are the first that L2 gives up, so that what is read again stays.
GEMMSMITH_DEVICE u64 FirstOut() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// For such as L2 gives up in their turn.
GEMMSMITH_DEVICE u64 InTurn() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// For lines of which L2 chooses kSixteenths of sixteen by their addresses, the same ones every time, that it gives up
// last, and all others first. (Of kept lines that leave in their turn or unchanged fewer stay: 2.3 and 0.6 % slower, ten
// skinny products on H200s. They are no burden to others: a kernel behind them has its 17 to 31 MB back in L2 by its
// second launch, as behind any other. November 2026.)
template <int kSixteenths>
GEMMSMITH_DEVICE u64 FirstOutBut() {
  static_assert(kSixteenths > 0 && kSixteenths < 16, "a part of the lines");
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;" : "=l"(policy) : "f"(kSixteenths / 16.0f));
  return policy;
}

// Copies without a word about L2.
struct NoPolicy {};

// kPeerCount > 1: to the same place in every CTA of `peers` (a bit each), whose barriers count their bytes. Policy: u64,
// or NoPolicy.
template <int kPeerCount, class Policy>
GEMMSMITH_DEVICE void CopyBox(u32 to, const TensorMap& map, int x, int y, u32 barrier, u32 peers, Policy policy) {
  constexpr bool kHasPolicy = sizeof(Policy) == 8;
  if constexpr (kPeerCount == 1 && kHasPolicy)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
        "[%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "l"(policy)
        : "memory");
  else if constexpr (kHasPolicy)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(u16(peers)), "l"(policy)
        : "memory");
  else if constexpr (kPeerCount == 1)
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

template <int kPeerCount, class Policy>
GEMMSMITH_DEVICE void CopyBox(u32 to, const TensorMap& map, int x, int y, int z, u32 barrier, u32 peers, Policy policy) {
  constexpr bool kHasPolicy = sizeof(Policy) == 8;
  if constexpr (kPeerCount == 1 && kHasPolicy)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
        "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "l"(policy)
        : "memory");
  else if constexpr (kHasPolicy)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(u16(peers)), "l"(policy)
        : "memory");
  else if constexpr (kPeerCount == 1)
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

// The same of global memory, by the thread that wrote it or by one that has learned of it.
GEMMSMITH_DEVICE void PublishGlobalToCopies() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

// So many bytes (16 and more) as they lie; and what lies there so.
GEMMSMITH_DEVICE void CopyLine(u32 to, const void* from, int bytes, u32 barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
      "r"(bytes), "r"(barrier)
      : "memory");
}
GEMMSMITH_DEVICE void LoadFromStage(float (&to)[4], u32 from) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from)
               : "memory");
}

GEMMSMITH_DEVICE void LoadFromStage(float (&to)[2], u32 from) {
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from) : "memory");
}

template <bool kLeavesL2First>
GEMMSMITH_DEVICE void StoreBox(const TensorMap& map, int x, int y, u32 from) {
  if constexpr (kLeavesL2First)
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
        "r"(x), "r"(y), "r"(from), "l"(FirstOut())
        : "memory");
  else
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
                 "r"(y), "r"(from)
                 : "memory");
}
// The stores that this thread ordered since become a group.
GEMMSMITH_DEVICE void CommitStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until all groups of this thread, but the last kPending ones, have read shared memory; a CTA may not end before.
template <int kPending>
GEMMSMITH_DEVICE void WaitForStoresBut() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
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
  template <class Policy>
  static GEMMSMITH_DEVICE void Copy(u32 stage, const TensorMap& map, int inner, int line, int slice, u32 barrier,
                                    u32 peers, Policy policy) {
    const int first_panel = kSlicesArePanels ? slice * kSlicePanels : 0;
    const int first_line = kSlicesArePanels ? 0 : slice * kSliceLines;
#pragma unroll
    for (int i = 0; i < kSlicePanels; i += kDepth) {
      const int panel = first_panel + i;
      const u32 to = stage + panel * kPanelBytes + first_line * kLineBytes;
      if constexpr (kDepth > 1)
        CopyBox<kPeers>(to, map, 0, line, inner / kWidth + panel, barrier, peers, policy);
      else
        CopyBox<kPeers>(to, map, inner + panel * kWidth, line + first_line, barrier, peers, policy);
    }
  }
};

}  // namespace gemmsmith
