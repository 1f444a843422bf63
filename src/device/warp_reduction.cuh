// Reduction over the warps of a CTA that split K: each leaves a partial tile in shared memory.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

// Called by all kThreads threads of the CTA after they have written their partial tiles. Calls use(row, column, values)
// with kPiece neighbouring sums over kParts partial tiles; the threads share the tile.
template <int kTileM, int kTileN, int kParts, int kThreads, int kPiece, class Use>
GEMMSMITH_DEVICE void ForEachSharedSum(const float* parts, Use&& use) {
  constexpr int kRow = PartialTileRow(kTileN), kFloats = PartialTileFloats(kTileM, kTileN);
  constexpr int kPieces = kTileM * kTileN / kPiece;
  const auto row_of = [](int piece) { return piece / (kTileN / kPiece); };
  const auto column_of = [](int piece) { return piece % (kTileN / kPiece) * kPiece; };
  int offset = row_of(threadIdx.x) * kRow + column_of(threadIdx.x);
  Prepare(offset);
  __syncthreads();
#pragma unroll
  for (int first = 0; first < kPieces; first += kThreads) {
    const int piece = first + threadIdx.x;
    if (kPieces % kThreads != 0 && piece >= kPieces) break;
    const int row = row_of(piece), column = column_of(piece);
    const float* from = parts + (first == 0 ? offset : row * kRow + column);
    float sum[kPiece];
#pragma unroll
    for (int i = 0; i < kPiece; ++i) sum[i] = from[i];
#pragma unroll
    for (int part = 1; part < kParts; ++part)
#pragma unroll
      for (int i = 0; i < kPiece; ++i) sum[i] += from[part * kFloats + i];
    use(row, column, sum);
  }
}

}  // namespace gemmsmith
