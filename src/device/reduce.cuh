// Sums of partial tiles: over the warps of a CTA through shared memory, over the CTAs that split K through L2.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

// How the CTAs that split K of one tile meet. Each leaves its workspace zeroed, as it found it.
enum class SplitReduction {
  kNone,
  kAdd,      // f32 adds in L2; the last arriver converts. Flat in the number of splits, sums in order of arrival.
  kOrdered,  // a slot each; the last arriver sums them in order. The same bits every time.
  kCluster,  // as kExchange, but the splits are a cluster and send into each other's shared memory (cluster_exchange.cuh).
             // The same bits every time.
  kExchange,  // every CTA keeps a share of the tile, sends the others their shares through a slot each, and takes its
              // own from theirs as the sums come in. The same bits every time. The CTAs wait for each other, so all of
              // the launch must be on the GPU at once.
};

// A partial tile in shared memory, one for each warp that splits K. The rows are four floats longer than the tile, so
// that the rows of one store fall into different banks.
template <int kTileM, int kTileN>
struct SharedTile {
  static constexpr int kRow = kTileN + 4;
  static constexpr int kFloats = kTileM * kRow;
};

// Meets all threads of the CTA, which have written the partial tiles; then calls use(row, column, values) with kPiece
// neighbouring sums over kParts partial tiles, the whole tile shared out over kThreads threads.
template <int kTileM, int kTileN, int kParts, int kThreads, int kPiece, class Use>
GEMMSMITH_DEVICE void ForEachSharedSum(const float* parts, Use&& use) {
  using Tile = SharedTile<kTileM, kTileN>;
  constexpr int kPieces = kTileM * kTileN / kPiece;
  const auto row_of = [](int piece) { return piece / (kTileN / kPiece); };
  const auto column_of = [](int piece) { return piece % (kTileN / kPiece) * kPiece; };
  int place = row_of(threadIdx.x) * Tile::kRow + column_of(threadIdx.x);
  Prepare(place);
  __syncthreads();
#pragma unroll
  for (int first = 0; first < kPieces; first += kThreads) {
    const int piece = first + threadIdx.x;
    if (kPieces % kThreads != 0 && piece >= kPieces) break;
    const int row = row_of(piece), column = column_of(piece);
    const float* from = parts + (first == 0 ? place : row * Tile::kRow + column);
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

// ---- kExchange ----

// A sum on its way through the workspace. A word there is zero until its sum has come, so no flag, counter or fence
// says what may be read: each word speaks for itself, and loads and stores of single words need no order among them.
// A sum of zero travels as 2^-149, which changes no total that C could hold.
GEMMSMITH_DEVICE void Send(float* to, const float* sums) {
  float sent[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) sent[i] = __uint_as_float(max(__float_as_uint(sums[i]), 1u));
  StoreShared(to, sent);
}
GEMMSMITH_DEVICE bool HasCome(const float (&sums)[4]) {
  return __float_as_uint(sums[0]) != 0 && __float_as_uint(sums[1]) != 0 && __float_as_uint(sums[2]) != 0 &&
         __float_as_uint(sums[3]) != 0;
}

// The sums of a tile lie in the registers of every CTA's kThreads threads alike, kQuads times four in each. A CTA keeps
// its share of every thread's quads, sends the others through its slot, and takes its own from the slots of the others.
template <int kSplit, int kThreads, int kQuads>
struct SlotExchange {
  static_assert(kQuads % kSplit == 0, "equal shares");
  static constexpr int kShare = kQuads / kSplit, kOthers = kSplit - 1;
  static constexpr int kBatch = Min(kShare, Max(1, 16 / kOthers));  // quads of a slot whose loads are under way together
  static constexpr int kStride = 4 * kThreads;                      // of quads, in floats
  using Share = float[kShare][4];

  static GEMMSMITH_DEVICE float* PlaceOfShare(float* slots, int slot, int rank) {
    return slots + (slot * kQuads + rank * kShare) * kStride + int(threadIdx.x) * 4;
  }

  static GEMMSMITH_DEVICE void SendAllBut(Share& mine, float* slots, int rank, const float (&sums)[4 * kQuads]) {
    float* to = PlaceOfShare(slots, rank, 0);
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

  // Calls use(quad, totals) for each quad of the share, and leaves zeros behind. Every thread calls, and has sent before.
  // The order of the sums depends on the place in the tile alone.
  template <class Use>
  static GEMMSMITH_DEVICE void Take(const Share& mine, float* slots, int rank, Use&& use) {
    float* from[kOthers];
#pragma unroll
    for (int other = 0; other < kOthers; ++other) {
      const int after = rank + 1 + other;
      from[other] = PlaceOfShare(slots, after < kSplit ? after : after - kSplit, rank);
    }
#pragma unroll
    for (int first = 0; first < kShare; first += kBatch) {
      float come[kOthers][kBatch][4];
      const auto load = [&](int other) {
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          if (first + i < kShare) LoadShared(come[other][i], from[other] + (first + i) * kStride);
      };
      const auto has_come = [&](int other) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          if (first + i < kShare) all = all && HasCome(come[other][i]);
        return all;
      };
#pragma unroll
      for (int other = 0; other < kOthers; ++other) load(other);
      // Whoever is early leaves L2 to those that still multiply: what came is not read again, and the rest not at once.
#pragma unroll 1
      while (true) {
        bool is_missing[kOthers], any = false;
#pragma unroll
        for (int other = 0; other < kOthers; ++other) any |= is_missing[other] = !has_come(other);
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
          // The same thread wrote zeros after it read the sums, so the zeros stay.
          StoreShared(from[other] + (first + i) * kStride, {0, 0, 0, 0});
#pragma unroll
          for (int e = 0; e < 4; ++e) totals[e] += come[other][i][e];
        }
        use(rank * kShare + first + i, totals);
      }
    }
  }
};

// ---- kAdd and kOrdered ----

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
