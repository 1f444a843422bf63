// SplitReduction::kAdd: the splits of a tile add their sums in L2, and the last one to arrive has the totals. The order
// of the additions varies.
#pragma once

#include "split_workspace.cuh"

namespace gemmsmith {

// True in all kThreads threads of the CTA that arrives last at a tile. Resets the counter for the next launch.
// `arrivals` is a word of shared memory.
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

// Adds the CTA's sums to those of the tile in L2, in the order of registers. True in the last arriver, whose `sums`
// then are the totals. The tile's sums in the workspace are zero again.
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
