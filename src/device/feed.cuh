// Feed: the copies of operands into stages by TMA. One thread initialises the barriers and orders all copies of a CTA.
//
// CTAs of a cluster that need the same operand copy a slice of it each, for all of them (multicast). CTAs of a cluster
// of splits copy for themselves.
#pragma once

#include "wgmma_tile.cuh"

namespace gemmsmith {

template <class Config>
struct Feed {
  using Tile = WgmmaTile<Config>;

  // A full barrier expects the thread that orders the copies, and their bytes. An empty barrier expects each warp that
  // reads the stage, in all peers. Unrolled where the number is known: in a loop ptxas (CUDA 13.0) puts a fence before
  // each barrier.
  static constexpr int kInitUnroll = Config::kStages > 0 ? Config::kStages : Tile::K::is_fixed ? 8 : 1;
  static GEMMSMITH_DEVICE void InitBarriers(const Tile& tile, int stages) {
#pragma unroll kInitUnroll
    for (int i = 0; i < stages; ++i) {
      InitBarrier(tile.Full(i), 1);
      if (Config::kStages > 0) InitBarrier(tile.Empty(i), 4 * Tile::kTeam * Tile::kPeers);
    }
    PublishBarriers();
  }

  // The cache hint of an operand: evict-first where the plan streams it.
  template <bool kStreams>
  static GEMMSMITH_DEVICE auto Policy() {
    if constexpr (kStreams)
      return EvictFirst();
    else
      return NoPolicy();
  }

  static GEMMSMITH_DEVICE int KOf(int step) { return step * Tile::kStepK; }

  // Orders the copies of one step, from k on, for the rows and columns of a tile.
  static GEMMSMITH_DEVICE void Fill(const Tile& tile, int k, const TileCoord& at, int stage) {
    ArriveExpecting(tile.Full(stage), Tile::kStageBytes);
    CopyA(tile, k, at, stage);
    CopyB(tile, k, at, stage);
  }
  static GEMMSMITH_DEVICE void CopyA(const Tile& tile, int k, const TileCoord& at, int stage) {
    u32 peers = 0;
    if constexpr (Tile::kClusterSize > 1)
#pragma unroll
      for (int i = 0; i < Config::kClusterN; ++i) peers |= 1u << Tile::RankOf(tile.member_m, i);
    Tile::A::Copy(tile.Stage(stage), tile.arguments.a, Config::kColumnMajorA ? at.row : k,
                  Config::kColumnMajorA ? k : at.row, tile.member_n, tile.Full(stage), peers,
                  Policy<Config::kStreamsA>());
  }
  static GEMMSMITH_DEVICE void CopyB(const Tile& tile, int k, const TileCoord& at, int stage) {
    u32 peers = 0;
    if constexpr (Tile::kClusterSize > 1)
#pragma unroll
      for (int i = 0; i < Config::kClusterM; ++i) peers |= 1u << Tile::RankOf(i, tile.member_n);
    Tile::B::Copy(tile.Stage(stage) + Tile::A::kBytes, tile.arguments.b, Config::kRowMajorB ? at.column : k,
                  Config::kRowMajorB ? k : at.column, tile.member_m, tile.Full(stage), peers,
                  Policy<Config::kStreamsB>());
  }
};

}  // namespace gemmsmith
