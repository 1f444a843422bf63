// The `wgmma` family with one tile of C a CTA: TMA -> shared memory -> wgmma (sm_90a).
//
// Consumer warpgroups share the tile's rows. The feed has two forms:
//   resident (kStages 0)  one lane of the first warp orders the copies of all steps at once; no stage is refilled
//   ring (kStages 2 ..)   a producer warp behind the consumers refills each stage when all of them have released it
// CTAs may split K of a tile (SplitReduction). Warpgroups end the tile together, or with a staggered epilogue.
//
// Config
//   Type, Sum, kColumnMajorA, kRowMajorB, kSwapped, kTileM/N, kStepK, kStages, kFixedM/N/K/LdC
//   kConstantB          B may be read before the launch before has ended
//   kSchedule, kWarpgroups, kTrigger, kRaster, kSplit, kReduction
//   kClusterM/N         CTAs that share copies
//   kGroupM/N           tiles in a cluster of splits; 1 elsewhere
//   kStaggerSteps       steps of the stagger; 0: none
//   kStoresByTma        TMA stores C
//   kStoreVector        elements that another store holds
//   kDepthA/B           panels that an operation copies
//   kStreamsA/B, kEvictsStoresFirst   evict-first
//   kStagingInStages    the epilogue reuses the stages' memory
#pragma once

#include "epilogue_split.cuh"
#include "feed.cuh"
#include "main_loop.cuh"
#include "stamps.cuh"
#include "tile_scheduler.cuh"

namespace gemmsmith {

template <class Config>
struct WgmmaKernel {
  using Tile = WgmmaTile<Config>;
  using Arguments = typename Tile::Arguments;
  using Index = typename OneTileScheduler<Config>::Index;
  using Loop = OneTileLoop<Config>;
  using Epilogue = SplitEpilogue<Config>;
  static constexpr bool kIsRing = Config::kStages > 0;
  static constexpr int kConsumerWarps = 4 * Config::kWarpgroups, kFeedWarp = kIsRing ? kConsumerWarps : 0;
  static constexpr int kThreads = WgmmaThreads(Config::kWarpgroups, kIsRing, false, false);
  static_assert(Config::kSchedule == Schedule::kOneTile, "one tile a CTA");
  static_assert(Config::kGroupM * Config::kGroupN == 1 ||
                    (Config::kReduction == SplitReduction::kCluster && Config::kRaster <= kAlongN),
                "tiles of a cluster of splits are neighbours in the grid's x and y");

  const Tile tile;
  const Index index;
  int first_step, steps;  // of kStepK, of this split

  GEMMSMITH_DEVICE WgmmaKernel(const Arguments& arguments, u32 shared, const Index& index_)
      : tile(arguments, shared, index_.row % Config::kClusterM, index_.column % Config::kClusterN), index(index_) {
    const int all = CeilDivide(Tile::K::Value(arguments.gemm.k), Tile::kStepK);
    const int split = blockIdx.z;
    first_step = Config::kSplit == 1 ? 0 : all * split / Config::kSplit;
    steps = Config::kSplit == 1 ? all : all * (split + 1) / Config::kSplit - first_step;
  }

  // ---- producer ----

  GEMMSMITH_DEVICE void Fill(int step, int stage) const {
    Feed<Config>::Fill(tile, Feed<Config>::KOf(first_step + step), index.Coord(), stage);
  }

  // Orders the first copies, one for each stage. A constant B does not wait for the launch before.
  GEMMSMITH_DEVICE void FillStages() const {
    const int first = kIsRing ? min(steps, Config::kStages) : steps;
    if constexpr (Config::kConstantB && Config::kTrigger != Trigger::kNone) {
#pragma unroll Loop::kUnroll
      for (int i = 0; i < first; ++i) {
        ArriveExpecting(tile.Full(i), Tile::kStageBytes);
        Feed<Config>::CopyB(tile, Feed<Config>::KOf(first_step + i), index.Coord(), i);
      }
      WaitForLaunchBefore();
#pragma unroll Loop::kUnroll
      for (int i = 0; i < first; ++i) Feed<Config>::CopyA(tile, Feed<Config>::KOf(first_step + i), index.Coord(), i);
    } else {
      if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
#pragma unroll Loop::kUnroll
      for (int i = 0; i < first; ++i) Fill(i, i);
    }
    Stamp(tile.arguments.gemm, Moment::kOrdered, true);
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
  }

  // Barriers are ready for all threads of the CTA and its cluster, and the first copies are ordered. Each use elects
  // the lane again, because ptxas puts a loop around every copy where the choice comes from a variable.
  GEMMSMITH_DEVICE void Start(bool feeds) const {
    if (feeds && ElectLane()) {
      if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
      PrefetchMap(tile.arguments.a);
      PrefetchMap(tile.arguments.b);
      Epilogue::InitSumsBarrier(tile);
      Feed<Config>::InitBarriers(tile, kIsRing ? Config::kStages : Tile::K::is_fixed ? Loop::kKnownSteps : steps);
      Epilogue::ExpectSums(tile);
      Stamp(tile.arguments.gemm, Moment::kReady, true);
      if (Tile::kClusterSize == 1) FillStages();
    }
    __syncwarp();
    if constexpr (Tile::kClusterSize == 1) {
      __syncthreads();
      Epilogue::ArriveStarted();
    } else {
      MeetCluster();  // the barriers of every peer are ready before anything is sent to it
      if (feeds && ElectLane()) FillStages();
      __syncwarp();
    }
  }

  // By the producer warp of a ring.
  GEMMSMITH_DEVICE void Produce() const {
    if (ElectLane()) {
      int stage = 0;
      u32 parity = 0;
#pragma unroll 1
      for (int step = Config::kStages; step < steps; ++step) {
        WaitFor(tile.Empty(stage), parity);
        Fill(step, stage);
        if (++stage == Config::kStages) stage = 0, parity ^= 1;
      }
    }
    __syncwarp();
    Epilogue::WaitBeforeExit();
  }

  // ---- consumer ----

  GEMMSMITH_DEVICE void Consume(int warpgroup, typename Tile::Sums& sums) const {
    if constexpr (kTakesStamps) {
      WaitFor(tile.Full(0), 0);
      Stamp(tile.arguments.gemm, Moment::kLoaded, threadIdx.x == 0);
    }
    typename Tile::Accumulators accumulators;
    Loop::Multiply(tile, steps, warpgroup, accumulators);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    Loop::WaitForSums(accumulators);
    Epilogue::WidenAll(accumulators, sums);
    Stamp(tile.arguments.gemm, Moment::kMultiplied, threadIdx.x == 0);
  }

  static GEMMSMITH_DEVICE void Run(const Arguments& arguments) {
    extern __shared__ __align__(1024) char memory[];
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);  // so the compiler knows it uniform in the warp
    Stamp(arguments.gemm, Moment::kStarted, threadIdx.x == 0);
    const WgmmaKernel kernel(arguments, SharedAddress(memory), OneTileScheduler<Config>::Find(arguments));
    kernel.Start(warp == kFeedWarp);
    if (kIsRing && warp == kFeedWarp) return kernel.Produce();
    typename Tile::Sums sums;
    kernel.Consume(warp / 4, sums);
    Epilogue::Finish(kernel.tile, kernel.index, warp, sums);
    Stamp(arguments.gemm, Moment::kStored, threadIdx.x == 0);
  }
};

}  // namespace gemmsmith
