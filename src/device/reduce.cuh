// Sums of partial tiles: over the warps of a CTA through shared memory, over the CTAs that split K through L2.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

// How the CTAs that split K of one tile meet. Each leaves its workspace zeroed, as it found it.
enum class SplitReduction {
  kNone,
  kAdd,      // f32 adds in L2; the last arriver converts. Flat in the number of splits, sums in order of arrival.
  kOrdered,  // a slot each; the last arriver sums them in order. The same bits every time.
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
GEMMSMITH_DEVICE float* SplitSums(void* workspace, u32 tiles) {
  return reinterpret_cast<float*>(static_cast<char*>(workspace) + ((tiles * 4ull + 255) & ~255ull));
}

// True in every thread of the CTA that arrives last at a tile; resets the counter for the next launch.
template <int kSplit>
GEMMSMITH_DEVICE bool IsLastArriver(u32* counter) {
  __shared__ u32 arrivals_before;
  __syncthreads();
  if (threadIdx.x == 0) {
    arrivals_before = CountArrival(counter);
    if (arrivals_before == kSplit - 1) *counter = 0;
  }
  __syncthreads();
  return arrivals_before == kSplit - 1;
}

}  // namespace gemmsmith
