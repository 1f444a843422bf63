// The `wgmma` family: TMA -> shared memory -> wgmma, one tile of C a CTA (sm_90a).
//
// Warpgroups share the tile's rows and consume stages of kStepK k. Two ways to feed them:
//   resident (kStages 0)  the whole share of K is ordered at once by one lane of the first warp, and nothing is refilled
//   ring (kStages 2 ..)   a producer warp behind the consumers refills a stage as soon as all of them have released it
// Splits of K meet by f32 adds in L2, through slots there or, as a cluster, through distributed shared memory.
// Warpgroups end the tile together or in turn: then the first ones store while the last one multiplies.
//
// Config: Type, Sum, kRowMajorB, kTileM/N, kSwapped, kSchedule, kWarpgroups, kStepK, kStages, kClusterM/N, kGroupM/N (tiles
// that stand beside each other in a cluster of splits; 1 elsewhere), kSplit, kReduction, kTurnSteps (0: together), kTrigger,
// kRaster, kStoreByCopyEngine, kStagingBytes (of the epilogue), kStagedPanels (of C, at a time), kStoreLeavesL2First,
// kStoreVector, kDepthA/B (panels an operation), kStreamsA/B (L2 gives up its lines first), kKeep (but those of so many of
// 64 steps) or kKeepLines (but so many of 16), kAlternates (every other launch takes its steps from the last one to the
// first), kStagingInStages (the epilogue reuses the stages' memory), kFixedM/N/K/LdC.
#pragma once

#include "cluster_exchange.cuh"
#include "reduce.cuh"
#include "stamps.cuh"
#include "wgmma_tile.cuh"

namespace gemmsmith {

template <class Config>
struct WgmmaKernel : WgmmaTile<Config> {
  using Tile = WgmmaTile<Config>;
  using typename Tile::Arguments, typename Tile::Type, typename Tile::Accumulators, typename Tile::Sums;
  using typename Tile::M, typename Tile::N, typename Tile::K;
  using Tile::arguments, Tile::shared, Tile::member_m, Tile::member_n;
  using Tile::Full, Tile::Empty, Tile::Stage, Tile::Release, Tile::Bounds, Tile::C, Tile::LdC;
  using Tile::kTileM, Tile::kTileN, Tile::kStepK, Tile::kRowBlocks, Tile::kInside, Tile::kSums, Tile::kClusterSize;
  using Tile::kSwapped;
  static_assert(Config::kSchedule == Schedule::kOneTile, "one tile a CTA");

  static constexpr int kConsumerWarps = 4 * Config::kWarpgroups, kConsumers = 32 * kConsumerWarps;
  static constexpr bool kIsRing = Config::kStages > 0;
  static constexpr int kThreads = kConsumers + (kIsRing ? 32 : 0);
  static constexpr bool kSplitsAreCluster = Config::kReduction == SplitReduction::kCluster;
  static constexpr bool kSplitsExchange = Config::kReduction == SplitReduction::kExchange;
  using SharesInCluster = ClusterExchange<Config::kSplit, kConsumers, kRowBlocks * kSums>;
  static constexpr int kStagingBytes = kSplitsExchange     ? 0
                                       : kSplitsAreCluster ? SharesInCluster::kBytes
                                                           : Tile::kSumRows / 16 * Tile::kStagedRowsBytes;
  // Whether warpgroups stage C while others still read the stages; then only the last one has no memory beside these.
  static constexpr bool kStagesInTurn = Config::kTurnSteps > 0 && Config::kSplit == 1;
  static constexpr int kStagingBeside = !Config::kStagingInStages ? kStagingBytes
                                        : kStagesInTurn ? kStagingBytes / Config::kWarpgroups * (Config::kWarpgroups - 1)
                                                        : 0;
  static_assert(!kSwapped || !(kSplitsAreCluster || kSplitsExchange), "shares of a tile are stored as straight sums");
  static_assert(!kSplitsAreCluster || kClusterSize == 1, "CTAs of a cluster of splits copy for themselves");
  static_assert(Config::kGroupM * Config::kGroupN == 1 || (kSplitsAreCluster && Config::kRaster <= kAlongN),
                "tiles stand beside each other as the grid's x and y");
  static_assert(kStagingBytes == Config::kStagingBytes, "WgmmaPlan::StagingBytes() says the same");
  // What other splits send may come while this one still multiplies.
  static constexpr bool kSendsBesideStages = kSplitsAreCluster && !Config::kStagingInStages;
  static constexpr int kStoreBarrier = 2;  // of each warpgroup, what it stages of transposed sums

  // Few known steps are written out; more of them, or unknown ones, stay a loop (a third less code and compile time), and
  // so do those whose descriptors find no registers beside the sums (192x128 by one warpgroup spilled 112 bytes).
  static constexpr int kKnownSteps = CeilDivide(CeilDivide(Config::kFixedK, kStepK), Config::kSplit);
  static constexpr bool kHasRegisters = kRowBlocks < 3 || kRowBlocks * kSums < 176;
  static constexpr int kUnroll = K::is_fixed && kKnownSteps <= 4 && kHasRegisters ? kKnownSteps : 1;

  struct Place {
    int row, column;  // in tiles
  };
  const Place tile;
  int first_step, steps;  // of kStepK, of this split
  const bool walks_back;

  GEMMSMITH_DEVICE WgmmaKernel(const Arguments& arguments_, u32 shared_) : WgmmaKernel(arguments_, shared_, FindTile(arguments_)) {}
  GEMMSMITH_DEVICE WgmmaKernel(const Arguments& arguments_, u32 shared_, const Place& tile_)
      : Tile(arguments_, shared_, tile_.row % Config::kClusterM, tile_.column % Config::kClusterN),
        tile(tile_),
        walks_back(Config::kAlternates && IsOddLaunch()) {
    const int all = CeilDivide(K::Value(arguments.gemm.k), kStepK);
    const int split = blockIdx.z;
    first_step = Config::kSplit == 1 ? 0 : all * split / Config::kSplit;
    steps = Config::kSplit == 1 ? all : all * (split + 1) / Config::kSplit - first_step;
  }

  // The grid is launched over whole clusters; a tile outside C computes zeros and stores nothing.
  static GEMMSMITH_DEVICE Place FindTile(const Arguments& arguments) {
    if constexpr (Config::kRaster == kAlongM) return {int(blockIdx.x), int(blockIdx.y)};
    if constexpr (Config::kRaster == kAlongN) return {int(blockIdx.y), int(blockIdx.x)};
    constexpr int kGroup = Max(Config::kRaster, 1);  // clusters
    const int rows = CeilDivide(CeilDivide(M::Value(arguments.gemm.m), kTileM), Config::kClusterM);
    const int columns = CeilDivide(CeilDivide(N::Value(arguments.gemm.n), kTileN), Config::kClusterN);
    const int cluster = blockIdx.x / kClusterSize, member = blockIdx.x % kClusterSize;
    const int group = cluster / (kGroup * columns), in_group = cluster % (kGroup * columns);
    const int group_rows = min(kGroup, rows - group * kGroup);
    return {(group * kGroup + in_group % group_rows) * Config::kClusterM + member % Config::kClusterM,
            in_group / group_rows * Config::kClusterN + member / Config::kClusterM};
  }

  GEMMSMITH_DEVICE static bool IsLast(int warpgroup) { return warpgroup + 1 == Config::kWarpgroups; }
  // Of the tile, for this warpgroup's rows of it. The same place in every split, though their steps may differ by one:
  // they write to each other's.
  GEMMSMITH_DEVICE u32 Staging(int warpgroup) const {
    if (Config::kStagingInStages && (!kStagesInTurn || IsLast(warpgroup))) return Stage(0);
    if constexpr (kIsRing) return Stage(Config::kStages);
    return Stage(CeilDivide(CeilDivide(K::Value(arguments.gemm.k), kStepK), Config::kSplit));
  }
  GEMMSMITH_DEVICE int StagesFilledAtOnce() const { return kIsRing ? min(steps, Config::kStages) : steps; }
  GEMMSMITH_DEVICE bool WillBeRefilled(int step) const { return step + Config::kStages < steps; }

  // ---- feeding ----

  // Where launches alternate, each begins at the end that the one before it came to, and L2 still holds the last steps of
  // that one, kKeep of kKeepPeriod. As those come from L2 sooner than others from memory, rounds have one of these and
  // then up to three of those: all of them at once, memory would be idle meanwhile (8 % of the time with 101 MB, 4 with
  // 134, none with more than 300; H200, 2026-11-26). Rounds end before the last KeptSteps(), which stay in their places:
  // the next launch begins with them.
  static constexpr int kRound = Config::kKeep == 0 ? 1 : Min(4, Tile::kKeepPeriod / Config::kKeep - 1);
  static_assert(kRound >= 1 && (kRound + 1) * Config::kKeep <= Tile::kKeepPeriod, "rounds would reach into the last steps");
  GEMMSMITH_DEVICE int KeptSteps() const { return steps * Config::kKeep / Tile::kKeepPeriod; }
  // How far from that end.
  GEMMSMITH_DEVICE int FromEnd(int step) const {
    const int round = step / kRound;
    if (kRound == 1 || round >= KeptSteps()) return step;
    return step % kRound == 0 ? round : KeptSteps() + step - round - 1;
  }

  GEMMSMITH_DEVICE void FillStep(int step, int stage) const {
    if constexpr (Config::kAlternates) {
      const int from_end = FromEnd(step), at = first_step + (walks_back ? steps - 1 - from_end : from_end);
      Tile::Fill(at * kStepK, tile.row * kTileM, tile.column * kTileN, stage, step >= steps - KeptSteps());
    } else {
      Tile::Fill((first_step + step) * kStepK, tile.row * kTileM, tile.column * kTileN, stage);
    }
  }

  GEMMSMITH_DEVICE void FillAtOnce() const {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
#pragma unroll kUnroll
    for (int i = 0; i < StagesFilledAtOnce(); ++i) FillStep(i, i);
    Stamp(arguments.gemm, Moment::kOrdered, true);
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
  }

  // Barriers ready for everyone, first copies under way. `feeds`: the warp of which one lane orders copies; that lane is
  // elected anew in each place, because where the choice comes out of a variable ptxas puts a loop around every copy.
  GEMMSMITH_DEVICE void Start(bool feeds) const {
    if (feeds && ElectLane()) {
      if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
      PrefetchMap(arguments.a);
      PrefetchMap(arguments.b);
      if constexpr (kSplitsAreCluster) InitBarrier(SumsBarrier(), 1);
      Tile::InitBarriers(kIsRing ? Config::kStages : K::is_fixed ? kKnownSteps : steps);
      if constexpr (kSplitsAreCluster) ArriveExpecting(SumsBarrier(), SharesInCluster::BytesToCome(blockIdx.z));
      Stamp(arguments.gemm, Moment::kReady, true);
      if (kClusterSize == 1) FillAtOnce();
    }
    __syncwarp();
    if constexpr (kClusterSize == 1) {
      __syncthreads();
      if constexpr (kSendsBesideStages) ArriveAtCluster();  // who sends its sums waits for it
    } else {
      MeetClusterWithoutMemory();  // the barriers of every peer are ready before anything is sent to it
      if (feeds && ElectLane()) FillAtOnce();
      __syncwarp();
    }
  }

  GEMMSMITH_DEVICE void Refill() const {
    int stage = 0;
    u32 parity = 0;
#pragma unroll 1
    for (int step = Config::kStages; step < steps; ++step) {
      WaitFor(Empty(stage), parity);
      FillStep(step, stage);
      if (++stage == Config::kStages) stage = 0, parity ^= 1;
    }
  }

  // ---- consuming ----

  // Where a warpgroup stands in the stages.
  struct Progress {
    int step = 0, stage = 0;
    u32 parity = 0;
  };
  GEMMSMITH_DEVICE void ReleaseBefore(const Progress& at) const {
    if (kIsRing && WillBeRefilled(at.step - 1)) Release(at.stage == 0 ? Config::kStages - 1 : at.stage - 1);
  }

  // One group of instructions stays under way, so a stage is released one step late, and the last one not at all.
  GEMMSMITH_DEVICE void MultiplySteps(int end, Progress& at, int warpgroup, Accumulators& accumulators) const {
    const int begin = at.step;
#pragma unroll kUnroll
    do {
      WaitFor(Full(at.stage), at.parity);
      FenceWgmma();
      Tile::MultiplyStage(at.stage, warpgroup, at.step == 0, accumulators);
      CommitWgmma();
      WaitWgmma<1>();
      if (at.step > begin) ReleaseBefore(at);
      ++at.stage;
      if (kIsRing && at.stage == Config::kStages) at.stage = 0, at.parity ^= 1;
    } while (++at.step < end);
  }

  GEMMSMITH_DEVICE void Consume(int warpgroup, Sums& sums) const {
    if constexpr (kTakesStamps) {
      WaitFor(Full(0), 0);
      Stamp(arguments.gemm, Moment::kLoaded, threadIdx.x == 0);
    }
    Accumulators accumulators;
    Progress at;
    const int alone = Tile::StepsBeforeTurn(warpgroup, steps);
    MultiplySteps(alone, at, warpgroup, accumulators);
    if (alone < steps) {  // a turn may be long in coming
      WaitWgmma<0>();
      ReleaseBefore(at);
      Tile::AwaitTurn(warpgroup);
      MultiplySteps(steps, at, warpgroup, accumulators);
    }
    Tile::PassTurn(warpgroup);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    Tile::Settle(accumulators);
    Tile::WidenAll(accumulators, sums);
    Stamp(arguments.gemm, Moment::kMultiplied, threadIdx.x == 0);
  }

  // ---- finishing ----

  GEMMSMITH_DEVICE void StoreTile(int warp, const Sums& sums) const {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row_in_tile = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16;
      const int row = tile.row * kTileM + row_in_tile, column = tile.column * kTileN;
      const u32 staging = Staging(warp / 4) + row_in_tile / 16 * Tile::kStagedRowsBytes;
      if constexpr (Config::kStoreByCopyEngine) {
        Tile::StageBoxes(sums[block], 0, staging);
        __syncwarp();
        if (ElectLane()) Tile::StoreBoxes(row, column, staging);
      } else {
        Tile::StoreRows(row, column, sums[block], staging);
      }
    }
    if (Config::kStoreByCopyEngine && ElectLane()) {
      CommitStores();
      WaitForStoresBut<0>();
    }
  }

  // A row of C takes its elements from all warps of a warpgroup.
  GEMMSMITH_DEVICE void StoreTransposedTile(int warp, const Sums& sums) const {
    const int warpgroup = warp / 4;
    const auto staging = [&](int block) {
      return Staging(warpgroup) + (warpgroup * kRowBlocks + block) * 4 * Tile::kStagedRowsBytes;
    };
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) Tile::StageBoxes(sums[block], warp % 4 * 16, staging(block));
    MeetThreads<128>(kStoreBarrier + warpgroup);
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const auto place =
          Tile::PlaceOfBlock({tile.row * kTileM, tile.column * kTileN}, warpgroup * kRowBlocks + block);
      if constexpr (!Config::kStoreByCopyEngine)
        Tile::StoreBoxesAsRows(place.row, place.column, staging(block));
      else if (warp % 4 == 0 && ElectLane())
        Tile::StoreBoxes(place.row, place.column, staging(block));
    }
    if (Config::kStoreByCopyEngine && warp % 4 == 0 && ElectLane()) {
      CommitStores();
      WaitForStoresBut<0>();
    }
  }

  static GEMMSMITH_DEVICE u32 TileIndex() { return blockIdx.y * gridDim.x + blockIdx.x; }
  // The tile's sums in the workspace, or its first slot.
  GEMMSMITH_DEVICE float* TileSums(int slots) const {
    return SplitSums(arguments.gemm.workspace, gridDim.x * gridDim.y) + u64(TileIndex()) * slots * (kTileM * kTileN);
  }

  GEMMSMITH_DEVICE bool AddToWorkspace(Sums& sums) const {
    const u32 tile_index = TileIndex();
    float* tile_sums = TileSums(1);
    u32* counter = static_cast<u32*>(arguments.gemm.workspace) + tile_index;
    extern __shared__ __align__(1024) char memory[];
    return AddToTile<Config::kSplit, kConsumers>(reinterpret_cast<float(&)[kRowBlocks * kSums]>(sums), tile_sums, counter,
                                                 reinterpret_cast<u32*>(memory + Tile::kArrivalsWord));
  }

  GEMMSMITH_DEVICE void StoreShareOfSlots(Sums& sums) const {
    using Exchange = SlotExchange<Config::kSplit, kConsumers, kRowBlocks * kSums / 4>;
    float* slots = TileSums(Config::kSplit);
    const int rank = blockIdx.z, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    typename Exchange::Share mine;
    Exchange::SendAllBut(mine, slots, rank, reinterpret_cast<float(&)[kRowBlocks * kSums]>(sums));
    Stamp(arguments.gemm, Moment::kSent, threadIdx.x == 0);
    Exchange::Take(mine, slots, rank, [&](int quad, const float(&totals)[4]) {
      const int block = quad * 4 / kSums;
      const int row = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16 + lane / 4;
      const int column = quad * 4 % kSums * 2 + lane % 4 * 2;
      const auto store = [&](int r, float first, float second) {
        const float pair[2] = {first, second};
        StoreRow<Type, Config::kStoreVector>(C(), LdC(), tile.row * kTileM + r, tile.column * kTileN + column, pair,
                                             Bounds());
      };
      store(row, totals[0], totals[1]);
      store(row + 8, totals[2], totals[3]);
    });
  }

  // Counts in what the other splits of a cluster send of this one's share.
  GEMMSMITH_DEVICE u32 SumsBarrier() const { return shared + Tile::kArrivalsWord; }
  GEMMSMITH_DEVICE void StoreShareOfCluster(int warp, Sums& sums) const {
    constexpr int kPiece = SharesInCluster::kPiece;
    const int split = blockIdx.z, lane = threadIdx.x % 32, my_rank = ThisRankInCluster();
    // Everybody's barrier is ready, and, where sums come to where stages were, everybody has done with these: what it had
    // ordered has come, and what read it has ended.
    if constexpr (kSendsBesideStages)
      WaitForCluster();
    else
      MeetClusterWithoutMemory();
    typename SharesInCluster::Share mine;
    SharesInCluster::SendAllBut(
        mine, Staging(0), SumsBarrier(), split,
        [&](int other) { return my_rank + (other - split) * (Config::kGroupM * Config::kGroupN); },
        reinterpret_cast<float(&)[kRowBlocks * kSums]>(sums));
    Stamp(arguments.gemm, Moment::kSent, threadIdx.x == 0);
    SharesInCluster::Take(mine, Staging(0), SumsBarrier(), split, [&](int piece, const float(&totals)[kPiece]) {
#pragma unroll
      for (int i = 0; i < kPiece; i += 2) {
        const int sum = piece * kPiece + i, block = sum / kSums;
        const int row = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16 + lane / 4 + sum / 2 % 2 * 8;
        const int column = sum % kSums / 4 * 8 + lane % 4 * 2;
        const float pair[2] = {totals[i], totals[i + 1]};
        StoreRow<Type, Config::kStoreVector>(C(), LdC(), tile.row * kTileM + row, tile.column * kTileN + column, pair,
                                             Bounds());
      }
    });
  }

  GEMMSMITH_DEVICE void Finish(int warp, Sums& sums) const {
    if constexpr (Config::kReduction == SplitReduction::kAdd) {
      if (!AddToWorkspace(sums)) return;
      Stamp(arguments.gemm, Moment::kMet, threadIdx.x == 0);
    } else if constexpr (Config::kStagingInStages && !kSplitsAreCluster) {
      if (kStagesInTurn && !IsLast(warp / 4))
        ArriveAt<kConsumers>(1);
      else
        MeetThreads<kConsumers>(1);  // the stages are read by all
    }
    if constexpr (kSplitsExchange)
      StoreShareOfSlots(sums);
    else if constexpr (kSplitsAreCluster)
      StoreShareOfCluster(warp, sums);
    else if constexpr (kSwapped)
      StoreTransposedTile(warp, sums);
    else
      StoreTile(warp, sums);
  }

  static GEMMSMITH_DEVICE void Run(const Arguments& arguments) {
    extern __shared__ __align__(1024) char memory[];
    // In a form that lets the compiler see that it is the same for the whole warp.
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    Stamp(arguments.gemm, Moment::kStarted, threadIdx.x == 0);
    const WgmmaKernel kernel(arguments, SharedAddress(memory));
    kernel.Start(warp == (kIsRing ? kConsumerWarps : 0));
    if (kIsRing && warp == kConsumerWarps) {
      if (ElectLane()) kernel.Refill();
      __syncwarp();
      if constexpr (kSendsBesideStages) WaitForCluster();  // nobody ends in a phase that it has arrived at
      return;
    }
    Sums sums;
    kernel.Consume(warp / 4, sums);
    kernel.Finish(warp, sums);
    Stamp(arguments.gemm, Moment::kStored, threadIdx.x == 0);
  }
};

}  // namespace gemmsmith
