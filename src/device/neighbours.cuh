// Multiprocessors that stand near each other take tiles that lie near each other.
//
// What L2 and the way from it can deliver depends on where those stand who ask for the same lines at the same time, and
// long products run at the power cap, where every byte that is moved costs time (docs/lab/neighbours.md has both
// measured). The launch puts CTAs wherever there is room. So a cluster takes its place in the order of the tiles when it
// starts: the one that belongs to its multiprocessor, or, where somebody else has that, the next free one. No tile
// depends on who takes it.
#pragma once

#include "neighbour_ranks.cuh"
#include "ptx.cuh"

namespace gemmsmith {

// Where a kernel finds the ranks. A standalone file keeps them itself.
#ifndef GEMMSMITH_RANKS
#define GEMMSMITH_RANKS(arguments) (*(arguments).ranks)
#endif

// In the workspace, zeroed: how many clusters have left, then a word a place; enough for eight CTAs a multiprocessor.
constexpr u32 kPlacesBytes = 8192;
static_assert(kPlacesBytes >= 4 * (1 + 8 * NeighbourRanks::kMost));

GEMMSMITH_DEVICE u32 ThisMultiprocessor() {
  u32 id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// Where this CTA is; it stays long enough for all of the launch to have started, where each asks for so much shared memory
// that they are one a multiprocessor.
GEMMSMITH_DEVICE void NoteMultiprocessor(u32* multiprocessors) {
  multiprocessors[blockIdx.x] = ThisMultiprocessor();
  const i64 start = clock64();
  while (clock64() - start < 40'000) {
  }
}

// One of `count` places for each of as many callers, a thread each, of which this is the one with this number.
GEMMSMITH_DEVICE u32 TakePlace(u32* places, const NeighbourRanks& ranks, u32 count, u32 number) {
  const u32 id = ThisMultiprocessor(), known = ranks.multiprocessors;
  const u32 rank = ranks.rank[min(id, NeighbourRanks::kMost - 1)];
  u32 place = known == 0 ? number : min(rank * count / known, count - 1);
  while (atomicExch(places + 1 + place, 1) != 0) place = place + 1 == count ? 0 : place + 1;
  return place;
}

// By everyone who took one. The last one to leave, behind whom nobody takes a place any more, leaves zeros.
GEMMSMITH_DEVICE void LeavePlaces(u32* places, u32 count) {
  if (CountArrival(places) + 1 < count) return;
  for (u32 i = 0; i <= count; ++i) places[i] = 0;
}

}  // namespace gemmsmith
