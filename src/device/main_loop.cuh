// Main loop: a warpgroup waits for full stages, multiplies them by wgmma and releases them to the producer.
//
// One group of instructions stays in flight, so a step releases the stage of the step before. With a staggered epilogue
// the warpgroups of a tile end one after the other: one stores while the next one multiplies.
#pragma once

#include "ring.cuh"
#include "tile_scheduler.cuh"
#include "wgmma.cuh"
#include "wgmma_tile.cuh"

namespace gemmsmith {

// How wgmma reads an operand of a stage. Lines along k: panels of 64 k, a line for each row or column of the sums.
// Across k: panels side by side along the sums, a line for each k.
template <class Staged, bool kAcrossK_>
struct MultipliedOperand {
  static constexpr bool kAcrossK = kAcrossK_;
  static constexpr int kBlockBytes = kAcrossK ? Staged::kPanelBytes : 64 * Staged::kLineBytes;  // 64 rows of the sums
  static GEMMSMITH_DEVICE constexpr int OffsetOf(int k) {
    return kAcrossK ? k * Staged::kLineBytes : k / 64 * Staged::kPanelBytes + k % 64 * 2;
  }
  static GEMMSMITH_DEVICE u64 Descriptor(u32 address) {
    return OperandDescriptor<Staged::kLineBytes>(address, kAcrossK ? Staged::kPanelBytes : 0);
  }
};

// Common to both loops: one step of a warpgroup. `teammate` is its number among those that share the tile.
template <class Config>
struct MainLoop {
  using Tile = WgmmaTile<Config>;
  using Accumulators = typename Tile::Accumulators;
  using A = MultipliedOperand<typename Tile::A, Config::kColumnMajorA>;
  using B = MultipliedOperand<typename Tile::B, Config::kRowMajorB>;

  static GEMMSMITH_DEVICE void MultiplyStage(const Tile& tile, int teammate, int stage, bool is_first,
                                             Accumulators& accumulators) {
    using Left = typename Conditional<Tile::kSwapped, B, A>::Type;
    using Right = typename Conditional<Tile::kSwapped, A, B>::Type;
    const int first_row = teammate * Tile::kRowBlocks * Left::kBlockBytes;
    const u64 a = A::Descriptor(tile.Stage(stage) + (Tile::kSwapped ? 0 : first_row));
    const u64 b = B::Descriptor(tile.Stage(stage) + Tile::A::kBytes + (Tile::kSwapped ? first_row : 0));
    const u64 left = Tile::kSwapped ? b : a, right = Tile::kSwapped ? a : b;
#pragma unroll
    for (int k = 0; k < Tile::kStepK; k += 16)
#pragma unroll
      for (int block = 0; block < Tile::kRowBlocks; ++block)
        Wgmma<typename Tile::Type, typename Tile::Sum, Left::kAcrossK, Right::kAcrossK, Tile::kSumColumns>::MultiplyAdd(
            accumulators[block], Advance(left, Left::OffsetOf(k) + block * Left::kBlockBytes),
            Advance(right, Right::OffsetOf(k)), !is_first || k > 0);
  }

  static GEMMSMITH_DEVICE void Step(const Tile& tile, int teammate, const RingPosition<Config::kStages>& at,
                                    bool is_first, Accumulators& accumulators) {
    WaitFor(tile.Full(at.stage), at.parity);
    FenceWgmma();
    MultiplyStage(tile, teammate, at.stage, is_first, accumulators);
    CommitWgmma();
    WaitWgmma<1>();
  }

  // Arrives for this warp at the empty barriers of all CTAs that fill the stage. The loops release only stages that
  // will be refilled, because a CTA that has nothing more to fill may have ended. (A CTA may end while a slice that it
  // ordered is still in flight: TMA needs nothing of it by then.)
  static GEMMSMITH_DEVICE void Release(const Tile& tile, int stage) {
    const int lane = threadIdx.x % 32;
    if constexpr (Tile::kClusterSize == 1) {
      if (lane == 0) Arrive(tile.Empty(stage));
    } else if (lane < Tile::kPeers) {
      // Lanes 0 .. kClusterN - 1: the CTAs of this row; the others: the rest of this column.
      const int other = lane - Config::kClusterN;
      const bool in_row = lane < Config::kClusterN;
      const int m = in_row ? tile.member_m : other + (other >= tile.member_m ? 1 : 0);
      const int n = in_row ? lane : tile.member_n;
      ArriveInCluster(SharedAddressOf(Tile::RankOf(m, n), tile.Empty(stage)));
    }
  }

  // ---- staggered epilogue ----

  // All warpgroups but the first keep their last steps until the one before has issued all of its own. These steps need
  // a loop of their own: with the wait inside one loop, ptxas (CUDA 13.0) read sums before their last instruction
  // ended.
  static GEMMSMITH_DEVICE int StepsBeforeStagger(int teammate, int steps) {
    return Tile::kStaggerSteps > 0 && teammate > 0 ? steps - Tile::kStaggerSteps : steps;
  }
  static GEMMSMITH_DEVICE void WaitForTeammate(int teammate) { MeetThreads<256>(Tile::kStaggerBarrier + teammate); }
  static GEMMSMITH_DEVICE void LetTeammateEnd(int teammate) {
    if (Tile::kStaggerSteps > 0 && teammate + 1 < Tile::kTeam) ArriveAt<256>(Tile::kStaggerBarrier + teammate + 1);
  }

  static GEMMSMITH_DEVICE void WaitForSums(Accumulators& accumulators) {
    WaitWgmma<0>();
#pragma unroll
    for (int block = 0; block < Tile::kRowBlocks; ++block) SettleSums(accumulators[block]);
  }
};

// One tile a CTA: the steps of this CTA's share of K, from a ring or, with kStages 0, from resident stages.
template <class Config>
struct OneTileLoop : MainLoop<Config> {
  using Base = MainLoop<Config>;
  using typename Base::Tile, typename Base::Accumulators;
  static constexpr bool kIsRing = Config::kStages > 0;

  // Few known steps are unrolled. More of them, or unknown ones, stay a loop, with a third less code and compile time.
  // So do steps whose descriptors find no registers beside the sums: 192x128 by one warpgroup spilled 112 bytes.
  static constexpr int kKnownSteps = CeilDivide(CeilDivide(Config::kFixedK, Config::kStepK), Config::kSplit);
  static constexpr bool kHasRegisters = Tile::kRowBlocks < 3 || Tile::kRowBlocks * Tile::kSums < 176;
  static constexpr int kUnroll = Tile::K::is_fixed && kKnownSteps <= 4 && kHasRegisters ? kKnownSteps : 1;

  struct Progress {
    int step = 0;
    RingPosition<Config::kStages> at;
  };
  static GEMMSMITH_DEVICE void ReleaseBefore(const Tile& tile, int steps, const Progress& now) {
    if (kIsRing && now.step - 1 + Config::kStages < steps) Base::Release(tile, now.at.StageBefore());
  }
  static GEMMSMITH_DEVICE void MultiplySteps(const Tile& tile, int steps, int teammate, int end, Progress& now,
                                             Accumulators& accumulators) {
    const int begin = now.step;
#pragma unroll kUnroll
    do {
      Base::Step(tile, teammate, now.at, now.step == 0, accumulators);
      if (now.step > begin) ReleaseBefore(tile, steps, now);
      now.at.Next();
    } while (++now.step < end);
  }

  // Returns when the last instruction is issued. WaitForSums() follows.
  static GEMMSMITH_DEVICE void Multiply(const Tile& tile, int steps, int teammate, Accumulators& accumulators) {
    Progress now;
    const int unstaggered = Base::StepsBeforeStagger(teammate, steps);
    MultiplySteps(tile, steps, teammate, unstaggered, now, accumulators);
    if (unstaggered < steps) {
      WaitWgmma<0>();
      ReleaseBefore(tile, steps, now);  // before the wait, which may be long
      Base::WaitForTeammate(teammate);
      MultiplySteps(tile, steps, teammate, steps, now, accumulators);
    }
    Base::LetTeammateEnd(teammate);
  }
};

// Persistent: tile after tile from a ring whose steps count on. `work`: the scheduler's counts of this CTA.
template <class Config>
struct PersistentLoop : MainLoop<Config> {
  using Base = MainLoop<Config>;
  using typename Base::Tile, typename Base::Accumulators;
  using Position = RingPosition<Config::kStages>;
  using Work = PersistentScheduler<Config>;

  static GEMMSMITH_DEVICE void ReleaseAfter(const Tile& tile, const Work& work, int step, int stage) {
    if (step + Config::kStages < work.all_steps) Base::Release(tile, stage);
  }
  static GEMMSMITH_DEVICE void MultiplySteps(const Tile& tile, const Work& work, int teammate, int begin, int end,
                                             int first_step, Position& at, Accumulators& accumulators) {
    Position before = at;
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      Base::Step(tile, teammate, at, i == 0, accumulators);
      if (i > begin) ReleaseAfter(tile, work, first_step + (i - 1), before.stage);
      before = at;
      at.Next();
    }
  }

  // The same for the tile of one visit. FinishSums() follows, with the position behind the tile.
  static GEMMSMITH_DEVICE Position Multiply(const Tile& tile, const Work& work, int teammate, int visit,
                                            Accumulators& accumulators) {
    const int first_step = visit * work.steps, unstaggered = Base::StepsBeforeStagger(teammate, work.steps);
    Position at(first_step);
    MultiplySteps(tile, work, teammate, 0, unstaggered, first_step, at, accumulators);
    if (unstaggered < work.steps) {
      WaitWgmma<0>();
      ReleaseAfter(tile, work, first_step + (unstaggered - 1), at.StageBefore());  // before the wait, which may be long
      Base::WaitForTeammate(teammate);
      MultiplySteps(tile, work, teammate, unstaggered, work.steps, first_step, at, accumulators);
    }
    Base::LetTeammateEnd(teammate);
    return at;
  }
  // Waits for the sums and releases the last stage of the tile.
  static GEMMSMITH_DEVICE void FinishSums(const Tile& tile, const Work& work, int visit, const Position& end,
                                          Accumulators& accumulators) {
    Base::WaitForSums(accumulators);
    ReleaseAfter(tile, work, visit * work.steps + (work.steps - 1), end.StageBefore());
  }
};

}  // namespace gemmsmith
