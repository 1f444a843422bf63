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
  kExchange,  // a slot each; every CTA takes its share of the tile from all slots as the sums come in, in order. The
              // same bits every time. The CTAs wait for each other, so all of the launch must be on the GPU at once.
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
// A sum of zero travels as minus zero, which changes no total.
template <int kCount>
GEMMSMITH_DEVICE void Send(float* to, const float (&sums)[kCount]) {
  float sent[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    sent[i] = __float_as_uint(sums[i]) == 0 ? __uint_as_float(0x80000000u) : sums[i];
  StoreShared(to, sent);
}
GEMMSMITH_DEVICE bool HasCome(const float (&sums)[4]) {
  return __float_as_uint(sums[0]) != 0 && __float_as_uint(sums[1]) != 0 && __float_as_uint(sums[2]) != 0 &&
         __float_as_uint(sums[3]) != 0;
}

// How many neighbouring lanes share the slots of one piece of four sums: as many as leave no thread idle, and enough
// that none has more than 8.
__host__ __device__ constexpr int LanesOfPiece(int share, int split, int threads) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes <= split && (2 * lanes * share <= threads || 8 * lanes < split)) lanes *= 2;
  return lanes;
}

// The slots of one tile, kFloats sums each, in any order that all CTAs agree on.
template <int kSplit, int kThreads, int kFloats>
struct SlotExchange {
  static_assert(kFloats % 4 == 0, "pieces of four");
  static constexpr int kPieces = kFloats / 4;
  static constexpr int kShare = CeilDivide(kPieces, kSplit);  // pieces that a CTA takes
  static constexpr int kLanes = LanesOfPiece(kShare, kSplit, kThreads), kSlots = CeilDivide(kSplit, kLanes);
  static constexpr int kAtOnce = kThreads / kLanes;  // pieces
  static constexpr int kRounds = CeilDivide(kShare, kAtOnce);
  static constexpr int kBatch = Max(1, Min(kRounds, 16 / kSlots));  // rounds whose loads are under way together

  // Calls use(piece, totals) in one thread for each piece of the CTA's share, and leaves zeros behind. Every one of the
  // kThreads threads calls, and has sent its own sums before: a CTA reads its own slot like the others.
  template <class Use>
  static GEMMSMITH_DEVICE void TakeShare(float* slots, int rank, Use&& use) {
    const int lane = threadIdx.x % kLanes, place = threadIdx.x / kLanes;
#pragma unroll 1
    for (int first = 0; first < kRounds; first += kBatch) {
      float sums[kBatch][kSlots][4] = {};
      const auto for_each_mine = [&](auto&& visit) {
#pragma unroll
        for (int round = 0; round < kBatch; ++round)
#pragma unroll
          for (int i = 0; i < kSlots; ++i) {
            const int in_share = (first + round) * kAtOnce + place, slot = i * kLanes + lane;
            const int piece = rank * kShare + in_share;
            if (in_share < kShare && piece < kPieces && slot < kSplit)
              visit(sums[round][i], slots + slot * kFloats + piece * 4);
          }
      };
      const auto is_waiting = [&] {
        bool is_missing = false;
        for_each_mine([&](const float(&come)[4], const float*) { is_missing |= !HasCome(come); });
        return is_missing;
      };
      for_each_mine([](float(&to)[4], const float* from) { LoadShared(to, from); });
      // Whoever is early leaves L2 to those that still multiply: what came is not read again, and the rest not at once.
      while (is_waiting()) {
        Pause();
        for_each_mine([](float(&to)[4], const float* from) {
          if (!HasCome(to)) LoadShared(to, from);
        });
      }
      // The same thread wrote zeros after it read the sums, so the zeros stay.
      for_each_mine([](const float(&)[4], float* from) { StoreShared(from, {0, 0, 0, 0}); });
#pragma unroll
      for (int round = 0; round < kBatch; ++round) {
        float totals[4] = {};
#pragma unroll
        for (int i = 0; i < kSlots; ++i)
#pragma unroll
          for (int e = 0; e < 4; ++e) totals[e] += sums[round][i][e];
#pragma unroll
        for (int apart = 1; apart < kLanes; apart *= 2)
#pragma unroll
          for (int e = 0; e < 4; ++e) totals[e] += __shfl_xor_sync(0xffffffffu, totals[e], apart);
        const int in_share = (first + round) * kAtOnce + place, piece = rank * kShare + in_share;
        if (in_share < kShare && piece < kPieces && lane == 0) use(piece, totals);
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
