// Splits of K that are a cluster: each pushes shares of its sums into the others' shared memory, straight from registers.
// No fence, no workspace, and no barrier of the cluster but the one that says that all have their barriers ready.
#pragma once

#include "tma.cuh"

namespace gemmsmith {

// Of every thread's kCount sums each split keeps a share, as many pieces as the others or one less, and sends the others
// theirs. What comes lies in slots, one for each of the others in the order of the splits behind this one, and a barrier
// counts it in.
template <int kSplit, int kThreads, int kCount>
struct ClusterExchange {
  static constexpr int kPiece = kCount % (4 * kSplit) == 0 ? 4 : 2;  // sums that travel together
  static constexpr int kPieces = kCount / kPiece, kMostOfShare = CeilDivide(kPieces, kSplit);
  static constexpr int kPieceBytes = kPiece * 4, kStride = kPieceBytes * kThreads, kSlotBytes = kMostOfShare * kStride;
  static constexpr int kOthers = kSplit - 1, kBytes = kOthers * kSlotBytes;  // WgmmaPlan::StagingBytes() says the same
  using Share = float[kMostOfShare][kPiece];

  static GEMMSMITH_DEVICE constexpr int FirstOfShare(int split) { return kPieces * split / kSplit; }
  static GEMMSMITH_DEVICE constexpr int PiecesOfShare(int split) { return FirstOfShare(split + 1) - FirstOfShare(split); }
  static GEMMSMITH_DEVICE int BytesToCome(int split) { return kOthers * PiecesOfShare(split) * kStride; }

  // `slots` and `barrier`: at the same place in every CTA; those of another split are in the cluster's CTA rank_of(other).
  template <class RankOf>
  static GEMMSMITH_DEVICE void SendAllBut(Share& mine, u32 slots, u32 barrier, int split, RankOf&& rank_of,
                                          const float (&sums)[kCount]) {
#pragma unroll
    for (int other = 0; other < kSplit; ++other) {
      const int behind = split - other - 1, slot = behind < 0 ? behind + kSplit : behind;
      const u32 to = SharedAddressOf(rank_of(other), slots + slot * kSlotBytes) + threadIdx.x * kPieceBytes;
      const u32 counted_at = SharedAddressOf(rank_of(other), barrier);
      // So many times for every split, that the compiler unrolls this loop, too.
#pragma unroll
      for (int i = 0; i < kMostOfShare; ++i) {
        if (i >= PiecesOfShare(other)) continue;
        float piece[kPiece];
#pragma unroll
        for (int e = 0; e < kPiece; ++e) piece[e] = sums[(FirstOfShare(other) + i) * kPiece + e];
        if (other != split) {
          SendInCluster(to + i * kStride, piece, counted_at);
        } else {
#pragma unroll
          for (int e = 0; e < kPiece; ++e) mine[i][e] = piece[e];
        }
      }
    }
  }

  // Calls use(piece, totals) for each piece of the share, when all have come. The order of the sums depends on the place
  // in the tile alone.
  template <class Use>
  static GEMMSMITH_DEVICE void Take(const Share& mine, u32 slots, u32 barrier, int split, Use&& use) {
    // At the scope of the CTA: what came lies in its own shared memory, where no cache is in between. (At that of the
    // cluster ptxas, CUDA 13.0, adds that the first-level cache forgets all.)
    WaitFor(barrier, 0);
    const u32 from = slots + threadIdx.x * kPieceBytes;
#pragma unroll
    for (int i = 0; i < kMostOfShare; ++i) {
      if (i >= PiecesOfShare(split)) continue;
      float totals[kPiece];
#pragma unroll
      for (int e = 0; e < kPiece; ++e) totals[e] = mine[i][e];
#pragma unroll
      for (int slot = 0; slot < kOthers; ++slot) {
        float come[kPiece];
        LoadFromStage(come, from + slot * kSlotBytes + i * kStride);
#pragma unroll
        for (int e = 0; e < kPiece; ++e) totals[e] += come[e];
      }
      use(FirstOfShare(split) + i, totals);
    }
  }
};

}  // namespace gemmsmith
