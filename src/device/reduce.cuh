// Sums of partial tiles: over the warps of a CTA through shared memory, over the CTAs that split K through L2.
#pragma once

#include "ptx.cuh"

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
