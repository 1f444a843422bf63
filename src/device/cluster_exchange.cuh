// SplitReduction::kCluster: the splits of a tile are a cluster. Each pushes shares of its sums from registers into the
// shared memory of the others. Reproducible; needs no fence and no workspace.
#pragma once

#include "tma.cuh"

namespace gemmsmith {

// Each split keeps a share of every thread's kCount sums and sends the other shares. The shares' sizes differ by one
// piece at most. Sums arrive in slots, one for each other split in the order of the splits behind this one. A barrier
// counts their bytes.
template <int kSplit, int kThreads, int kCount>
struct ClusterExchange {
  static constexpr int kPiece = ClusterPiece(kCount, kSplit);  // sums that travel together
  static constexpr int kPieces = kCount / kPiece, kMostOfShare = CeilDivide(kPieces, kSplit);
  static constexpr int kPieceBytes = kPiece * 4, kStride = kPieceBytes * kThreads;
  static constexpr int kSlotBytes = ClusterSlotBytes(kCount, kSplit, kThreads);
  static constexpr int kOthers = kSplit - 1;
  using Share = float[kMostOfShare][kPiece];

  static GEMMSMITH_DEVICE constexpr int FirstOfShare(int split) { return kPieces * split / kSplit; }
  static GEMMSMITH_DEVICE constexpr int PiecesOfShare(int split) {
    return FirstOfShare(split + 1) - FirstOfShare(split);
  }
  static GEMMSMITH_DEVICE int ExpectedBytes(int split) { return kOthers * PiecesOfShare(split) * kStride; }

  // `slots` and `barrier` have the same address in every CTA. Split `other` is the cluster's CTA rank_of(other).
  template <class RankOf>
  static GEMMSMITH_DEVICE void SendAllBut(Share& mine, u32 slots, u32 barrier, int split, RankOf&& rank_of,
                                          const float (&sums)[kCount]) {
#pragma unroll
    for (int other = 0; other < kSplit; ++other) {
      const int behind = split - other - 1, slot = behind < 0 ? behind + kSplit : behind;
      const u32 to = SharedAddressOf(rank_of(other), slots + slot * kSlotBytes) + threadIdx.x * kPieceBytes;
      const u32 counted_at = SharedAddressOf(rank_of(other), barrier);
      // The same trip count for every split, or the compiler does not unroll this loop.
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

  // Waits for the other splits' sums and calls use(piece, totals) for each piece of the share. The order of the
  // additions depends only on the coordinates in the tile.
  template <class Use>
  static GEMMSMITH_DEVICE void Take(const Share& mine, u32 slots, u32 barrier, int split, Use&& use) {
    // CTA scope suffices, because the sums lie in this CTA's shared memory. Cluster scope would make ptxas (CUDA 13.0)
    // invalidate L1.
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
        float sent[kPiece];
        LoadFromShared(sent, from + slot * kSlotBytes + i * kStride);
#pragma unroll
        for (int e = 0; e < kPiece; ++e) totals[e] += sent[e];
      }
      use(FirstOfShare(split) + i, totals);
    }
  }
};

}  // namespace gemmsmith
