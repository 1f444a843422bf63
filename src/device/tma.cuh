// TMA, the tensor memory accelerator: one thread orders copies of boxes of a matrix to shared memory and back. Barriers
// in shared memory count the bytes that arrive.
//
// A box lands as a panel: consecutive lines of 32, 64 or 128 bytes. Within 8 lines TMA permutes (swizzles) the 16-byte
// pieces by the line's number, against bank conflicts; SwizzledOffset() is that permutation. Panels of C may have lines
// of 16 bytes, which are not swizzled.
#pragma once

#include "cluster.cuh"

namespace gemmsmith {

// The driver's CUtensorMap: the host writes it, only TMA reads it.
struct alignas(128) TensorMap {
  u64 opaque[16];
};

// The offset of a byte in a panel with lines of kLineBytes. Panels start at multiples of 8 lines.
template <int kLineBytes>
GEMMSMITH_DEVICE u32 SwizzledOffset(u32 line, u32 byte) {
  const u32 offset = line * kLineBytes + byte;
  return offset ^ ((offset >> 7 & (kLineBytes / 16 - 1)) << 4);
}

GEMMSMITH_DEVICE void PrefetchMap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- barriers: a phase ends when `arrivals` threads and all expected bytes have arrived ----

GEMMSMITH_DEVICE void InitBarrier(u32 barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Publishes initialised barriers to other threads, CTAs and TMA.
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
// Arrives at a barrier of another CTA. It needs no .release.cluster, because its owner reads nothing that this CTA
// wrote; that fence doubled the time of a 1024^3 product.
GEMMSMITH_DEVICE void ArriveInCluster(u32 mapped_barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(mapped_barrier) : "memory");
}
// Returns when the phase of this parity has ended. The loop is assembly, because a loop in C++ makes ptxas serialise
// every wgmma of the kernel (C7518, CUDA 13.0).
GEMMSMITH_DEVICE void WaitFor(u32 barrier, u32 parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra AGAIN; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- copies; one thread orders each ----

// L2 evicts these lines first, so that lines that are read again stay.
GEMMSMITH_DEVICE u64 EvictFirst() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Copies without a cache hint.
struct NoPolicy {};

// kPeerCount > 1: multicast to the same offset in every CTA of `peers` (a bit each), whose barriers count their bytes.
// Policy: u64 or NoPolicy.
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
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(u16(peers))
        : "memory");
}

template <int kPeerCount, class Policy>
GEMMSMITH_DEVICE void CopyBox(u32 to, const TensorMap& map, int x, int y, int z, u32 barrier, u32 peers,
                              Policy policy) {
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

// Makes this thread's writes to shared memory visible to copies that are ordered later.
GEMMSMITH_DEVICE void PublishToTma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

template <bool kEvictFirst>
GEMMSMITH_DEVICE void StoreBox(const TensorMap& map, int x, int y, u32 from) {
  if constexpr (kEvictFirst)
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(
            &map),
        "r"(x), "r"(y), "r"(from), "l"(EvictFirst())
        : "memory");
  else
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
                 "r"(y), "r"(from)
                 : "memory");
}
// Makes one group of the stores that this thread ordered since the last group.
GEMMSMITH_DEVICE void CommitStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until all groups of this thread but the last kPending have read shared memory. A CTA may not end before.
template <int kPending>
GEMMSMITH_DEVICE void WaitForStoresBut() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// ---- operands ----

// One operand's share of a stage: kPanels panels of kLines lines, each line kWidth elements of the contiguous
// direction. An operation copies kDepth neighbouring panels through a map of three dimensions (kWidth, lines, panels),
// or one panel through a map of two. With kPeers > 1 each CTA that needs the operand copies a slice of it for all
// (multicast).
template <int kPanels_, int kLines_, int kWidth_, int kPeers_, int kDepth_>
struct StagedOperand {
  static constexpr int kPanels = kPanels_, kLines = kLines_, kWidth = kWidth_, kPeers = kPeers_, kDepth = kDepth_;
  static constexpr int kLineBytes = kWidth * 2;
  static constexpr int kPanelBytes = kLines * kLineBytes;
  static constexpr int kBytes = kPanels * kPanelBytes;
  static constexpr bool kSlicesArePanels = SlicesArePanels(kPanels, kPeers);
  static constexpr int kSlicePanels = SlicePanels(kPanels, kPeers);
  static constexpr int kSliceLines = SliceLines(kPanels, kLines, kPeers);
  static_assert(kSlicePanels % kDepth == 0 && (kDepth == 1 || kSliceLines == kLines),
                "an operation fills whole panels");
  static_assert(kSliceLines % 8 == 0, "the swizzle repeats every 8 lines");

  // `inner`: where panel 0 begins in the contiguous direction; `line`: line 0.
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
