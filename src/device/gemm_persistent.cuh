// The `wgmma` family with persistent CTAs (sm_90a): as many as the GPU holds at once, each with many tiles of C.
//
// A producer warp runs ahead over the tiles' borders, so that copies for the next tile arrive during the epilogue.
// Consumer warpgroups share each tile (cooperative), or each has tiles of its own (ping-pong): one multiplies while the
// other stores. Warpgroups that share a tile may stagger their epilogues to the same effect.
//
// Config: as for one tile a CTA (gemm_wgmma.cuh; kStages at least 2), kProducerRegisters and kConsumerRegisters (0: as
// compiled), kStagedBlocks (row blocks that a warpgroup's staging holds), kHasStoreWarp (StoreWarpEpilogue), and for
// the launch kEvenWaves (PersistentClusters).
#pragma once

#include "epilogue_persistent.cuh"
#include "feed.cuh"
#include "main_loop.cuh"
#include "tile_scheduler.cuh"

namespace gemmsmith {

template <class Config>
struct PersistentKernel {
  using Tile = WgmmaTile<Config>;
  using Arguments = typename Tile::Arguments;
  static constexpr int kStages = Config::kStages, kConsumerWarps = 4 * Config::kWarpgroups;
  static constexpr bool kPingPong = Config::kSchedule == Schedule::kPingPong;
  static constexpr bool kHasStoreWarp = Config::kHasStoreWarp;
  static constexpr bool kMovesRegisters = Config::kProducerRegisters > 0;
  static constexpr int kProducerWarp = kConsumerWarps, kStoreWarp = kConsumerWarps + 1;
  static constexpr int kThreads = WgmmaThreads(Config::kWarpgroups, true, kHasStoreWarp, kMovesRegisters);
  static constexpr int kStagingBytes =
      PersistentStagingBytes(Config::kWarpgroups, Config::kStagedBlocks, kHasStoreWarp, Tile::kStagedRowsBytes);
  using OwnEpilogue =
      typename Conditional<Tile::kStoresByTma || Tile::kSwapped, BoxesEpilogue<Config>, RowsEpilogue<Config>>::Type;
  using Epilogue = typename Conditional<kHasStoreWarp, StoreWarpEpilogue<Config>, OwnEpilogue>::Type;
  static_assert(!kPingPong || Config::kWarpgroups == 2, "two warpgroups take turns");
  static_assert(!kHasStoreWarp || (Tile::kStoresByTma && Config::kStagedBlocks == 1 && !kPingPong),
                "the store warp stores for warpgroups that share a tile");

  const Tile tile;
  const PersistentScheduler<Config> scheduler;

  GEMMSMITH_DEVICE explicit PersistentKernel(const Tile& tile_)
      : tile(tile_), scheduler(tile_, int(blockIdx.x) / Tile::kClusterSize) {}
  static GEMMSMITH_DEVICE int RankInCluster() { return int(blockIdx.x) % Tile::kClusterSize; }

  // Barriers are ready for all threads of the CTA and its cluster.
  GEMMSMITH_DEVICE void Start(int warp) const {
    const bool only_arrives = warp >= kConsumerWarps && !(kHasStoreWarp && warp == kStoreWarp);
    if (warp == kProducerWarp && ElectLane()) {  // elected again where it is needed, as in gemm_wgmma.cuh
      if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
      PrefetchMap(tile.arguments.a);
      PrefetchMap(tile.arguments.b);
      for (int i = 0; i < (kHasStoreWarp ? Config::kWarpgroups : 0); ++i)
        InitBarrier(tile.shared + Tile::kStagingBarriers + 8 * i, 1);
      Feed<Config>::InitBarriers(tile, kStages);
    }
    __syncwarp();
    if constexpr (Tile::kClusterSize > 1)
      MeetCluster();
    else if (only_arrives)
      ArriveAt<kThreads>(Tile::kStartBarrier);  // it waits for no other warp
    else
      MeetThreads<kThreads>(Tile::kStartBarrier);
  }

  // By one thread of the producer warp.
  GEMMSMITH_DEVICE void Produce() const {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
    RingPosition<kStages> at(0);
    int step = 0;
#pragma unroll 1
    for (int visit = 0; visit < scheduler.visits; ++visit) {
      const TileCoord coord = scheduler.Coord(tile, visit);
#pragma unroll 1
      for (int i = 0; i < scheduler.steps; ++i, ++step, at.Next()) {
        if (step >= kStages) WaitFor(tile.Empty(at.stage), at.parity ^ 1);
        Feed<Config>::Fill(tile, Feed<Config>::KOf(i), coord, at.stage);
      }
    }
  }

  GEMMSMITH_DEVICE void Consume(int warp) const {
    constexpr int kTeams = Tile::kTeams;
    Epilogue epilogue(warp);
    using Loop = PersistentLoop<Config>;
    const int warpgroup = warp / 4, team = kPingPong ? warpgroup : 0, teammate = kPingPong ? 0 : warpgroup;
#pragma unroll 1
    for (int visit = team; visit < scheduler.visits; visit += kTeams) {
      typename Tile::Accumulators accumulators;
      if (kPingPong && visit > 0) MeetThreads<256>(Tile::kOrderBarrier + team);
      const auto end = Loop::Multiply(tile, scheduler, teammate, visit, accumulators);
      // The other team's instructions may queue behind these. Without this order a team that waits one phase ahead of
      // the ring would take the parity of the phase before for its own.
      if (kPingPong && visit + 1 < scheduler.visits) ArriveAt<256>(Tile::kOrderBarrier + (visit + 1) % kTeams);
      if (Config::kTrigger == Trigger::kLate && visit + kTeams >= scheduler.visits) LetNextLaunchStart();
      Loop::FinishSums(tile, scheduler, visit, end, accumulators);
      epilogue.Store(tile, scheduler.Coord(tile, visit), teammate, accumulators);
    }
    epilogue.Finish();
  }

  GEMMSMITH_DEVICE void StoreStaged() const {
    const int visits = scheduler.visits;
#pragma unroll 1
    for (int visit = 0; visit < visits; ++visit)
      Epilogue::StoreStaged(tile, scheduler.Coord(tile, visit), visit + 1 < visits);
  }

  static GEMMSMITH_DEVICE void Run(const Arguments& arguments) {
    extern __shared__ __align__(1024) char memory[];
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);  // so the compiler knows it uniform in the warp
    const Tile tile(arguments, SharedAddress(memory), RankInCluster() % Config::kClusterM,
                    RankInCluster() / Config::kClusterM);
    const PersistentKernel kernel(tile);
    kernel.Start(warp);
    if (warp >= kConsumerWarps) {
      if constexpr (kMovesRegisters) GiveRegisters<Config::kProducerRegisters>();
      if (warp == kProducerWarp && ElectLane()) kernel.Produce();
      if constexpr (kHasStoreWarp)
        if (warp == kStoreWarp) kernel.StoreStaged();
    } else {
      if constexpr (kMovesRegisters) TakeRegisters<Config::kConsumerRegisters>();
      kernel.Consume(warp);
    }
  }
};

}  // namespace gemmsmith
