// SplitReduction::kExchange: the splits of a tile exchange shares of their sums through slots in L2. Reproducible.
#pragma once

#include "split_workspace.cuh"

namespace gemmsmith {

// A word of the workspace is zero until its sum has arrived. So no flag, counter or fence is needed, and accesses need
// no order among them. A sum of zero travels as 2^-149, which changes no total that C could hold.
GEMMSMITH_DEVICE void Send(float* to, const float* sums) {
  float sent[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) sent[i] = __uint_as_float(max(__float_as_uint(sums[i]), 1u));
  StoreRelaxed(to, sent);
}
GEMMSMITH_DEVICE bool HasArrived(const float (&sums)[4]) {
  return __float_as_uint(sums[0]) != 0 && __float_as_uint(sums[1]) != 0 && __float_as_uint(sums[2]) != 0 &&
         __float_as_uint(sums[3]) != 0;
}

// Each of the kThreads threads of every CTA holds kQuads times four sums of the tile, at the same coordinates in each
// CTA. A CTA keeps a share of every thread's quads. It sends the other shares through its slot, and takes its own from
// theirs.
template <int kSplit, int kThreads, int kQuads>
struct SlotExchange {
  static_assert(kQuads % kSplit == 0, "equal shares");
  static constexpr int kShare = kQuads / kSplit, kOthers = kSplit - 1;
  static constexpr int kBatch = Min(kShare, Max(1, 16 / kOthers));  // quads of a slot that are loaded together
  static constexpr int kStride = 4 * kThreads;                      // floats from quad to quad
  using Share = float[kShare][4];

  static GEMMSMITH_DEVICE float* ShareInSlot(float* slots, int slot, int rank) {
    return slots + (slot * kQuads + rank * kShare) * kStride + int(threadIdx.x) * 4;
  }

  static GEMMSMITH_DEVICE void SendAllBut(Share& mine, float* slots, int rank, const float (&sums)[4 * kQuads]) {
    float* to = ShareInSlot(slots, rank, 0);
#pragma unroll
    for (int quad = 0; quad < kQuads; ++quad) {
      if (quad / kShare != rank) {
        Send(to + quad * kStride, sums + 4 * quad);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) mine[quad % kShare][e] = sums[4 * quad + e];
      }
    }
  }

  // Calls use(quad, totals) for each quad of the share, and leaves zeros behind. All threads call it, after
  // SendAllBut(). The order of the additions depends only on the coordinates in the tile.
  template <class Use>
  static GEMMSMITH_DEVICE void Take(const Share& mine, float* slots, int rank, Use&& use) {
    float* from[kOthers];
#pragma unroll
    for (int other = 0; other < kOthers; ++other) {
      const int after = rank + 1 + other;
      from[other] = ShareInSlot(slots, after < kSplit ? after : after - kSplit, rank);
    }
#pragma unroll
    for (int first = 0; first < kShare; first += kBatch) {
      float arrived[kOthers][kBatch][4];
      const auto load = [&](int other) {
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          if (first + i < kShare) LoadRelaxed(arrived[other][i], from[other] + (first + i) * kStride);
      };
      const auto has_arrived = [&](int other) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          if (first + i < kShare) all = all && HasArrived(arrived[other][i]);
        return all;
      };
#pragma unroll
      for (int other = 0; other < kOthers; ++other) load(other);
        // Poll only for missing sums, with pauses, so that CTAs that still multiply have L2.
#pragma unroll 1
      while (true) {
        bool is_missing[kOthers], any = false;
#pragma unroll
        for (int other = 0; other < kOthers; ++other) any |= is_missing[other] = !has_arrived(other);
        if (!any) break;
        Pause();
#pragma unroll
        for (int other = 0; other < kOthers; ++other)
          if (is_missing[other]) load(other);
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (first + i >= kShare) continue;
        float totals[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) totals[e] = mine[first + i][e];
#pragma unroll
        for (int other = 0; other < kOthers; ++other) {
          // The zeros stay: the sender writes a word once a launch, and this thread has read it.
          StoreRelaxed(from[other] + (first + i) * kStride, {0, 0, 0, 0});
#pragma unroll
          for (int e = 0; e < 4; ++e) totals[e] += arrived[other][i][e];
        }
        use(rank * kShare + first + i, totals);
      }
    }
  }
};

}  // namespace gemmsmith
