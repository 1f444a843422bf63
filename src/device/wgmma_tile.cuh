// What kernels of the `wgmma` family have in common, however their tiles are scheduled (sm_90a): operands staged in
// shared memory by TMA, barriers that say what is full and what may be refilled, and the multiplication of one stage.
// All is said in terms of C but the sums, which are C transposed where the roles of the operands are swapped.
//
// CTAs of a cluster that need the same operand copy a slice of it each, for all (multicast), but where splits of K are the
// cluster. Shared memory: barriers (1 KiB), stages, staging of the epilogue.
#pragma once

#include "accumulators.cuh"
#include "epilogue_staged.cuh"
#include "neighbours.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

namespace gemmsmith {

// How CTAs come to their tiles.
enum class Schedule {
  kOneTile,      // each has one; its warpgroups share the rows
  kCooperative,  // each walks over many; its warpgroups share the rows of one after the other
  kPingPong,     // each walks over many; each of two warpgroups has tiles of its own: one multiplies, the other stores
  kUnaided,      // as cooperative, but without a producer: a thread of the last warpgroup orders the copies
};

// The order of the tiles: along m, along n, or in groups of so many clusters of tiles along m, n outside.
enum Raster { kAlongM = 0, kAlongN = 1 };

// Where wgmma finds an operand in a stage: in panels of 64 k, with a line for each row or column of the sums; or, across
// k, in panels side by side along the sums, with a line for each k.
template <class Staged, bool kAcrossK_>
struct MultipliedOperand {
  static constexpr bool kAcrossK = kAcrossK_;
  static constexpr int kBlockBytes = kAcrossK ? Staged::kPanelBytes : 64 * Staged::kLineBytes;  // of 64 rows of the sums
  static GEMMSMITH_DEVICE constexpr int OffsetOf(int k) {
    return kAcrossK ? k * Staged::kLineBytes : k / 64 * Staged::kPanelBytes + k % 64 * 2;
  }
  static GEMMSMITH_DEVICE u64 Descriptor(u32 address) {
    return OperandDescriptor<Staged::kLineBytes>(address, kAcrossK ? Staged::kPanelBytes : 0);
  }
};

template <class Config>
struct WgmmaTile {
  using Type = typename Config::Type;
  using Sum = typename Config::Sum;
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;

  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kStepK = Config::kStepK;
  // The sums have rows by 64 and columns by 8. Straight, these are C's, rows from A and columns from B; with the roles
  // swapped the sums are C transposed, rows from B and columns from A.
  static constexpr bool kSwapped = Config::kSwapped;
  static constexpr int kSumRows = kSwapped ? kTileN : kTileM, kSumColumns = kSwapped ? kTileM : kTileN;
  static constexpr int kTeam = Config::kSchedule == Schedule::kPingPong ? 1 : Config::kWarpgroups;  // that share a tile
  static constexpr int kRowBlocks = kSumRows / 64 / kTeam;  // of 64 rows of the sums, a warpgroup
  // Whether no tile reaches beyond C, nor lies beyond it: the grid consists of whole clusters.
  static constexpr bool kInside = M::IsMultipleOf(kTileM * Config::kClusterM * Config::kGroupM) &&
                                  N::IsMultipleOf(kTileN * Config::kClusterN * Config::kGroupN);

  static constexpr int kClusterSize = Config::kClusterM * Config::kClusterN;
  // CTAs that copy something for this one, itself included: those of its row and of its column in the cluster.
  static constexpr int kPeers = Config::kClusterM + Config::kClusterN - 1;

  // A's lines are rows; B's are columns, or k where B is row-major.
  static constexpr int kWidthB = Config::kRowMajorB ? PanelWidth(kTileN) : 64;
  using A = StagedOperand<kStepK / 64, kTileM, 64, Config::kClusterN, Config::kDepthA>;
  using B = StagedOperand<(Config::kRowMajorB ? kTileN / kWidthB : kStepK / 64), (Config::kRowMajorB ? kStepK : kTileN),
                          kWidthB, Config::kClusterM, Config::kDepthB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  using MultipliedA = MultipliedOperand<A, false>;
  using MultipliedB = MultipliedOperand<B, Config::kRowMajorB>;

  static constexpr int kMaxStages = 32;
  static constexpr int kFullBarriers = 0, kEmptyBarriers = 8 * kMaxStages, kArrivalsWord = 16 * kMaxStages;
  static constexpr int kStagingBarriers = kArrivalsWord + 8, kRestWords = kStagingBarriers + 8 * 4;
  static constexpr bool kIsPlaced = Config::kPlaced;
  static constexpr int kStagesStart = 1024;
  static constexpr int kSums = kSumColumns / 2;  // of a row block, a thread
  using Accumulators = AccumulatorsOf<Sum, kSums>[kRowBlocks];
  using Sums = float[kRowBlocks][kSums];

  // As the host lays them out: the maps in order, C's only where the copy engine stores; the ranks, where they matter.
  struct ArgumentsForRows {
    TensorMap a, b;
    GemmArguments gemm;
  };
  struct ArgumentsForBoxes {
    TensorMap a, b, c;
    GemmArguments gemm;
  };
  struct PlacedArgumentsForRows {
    TensorMap a, b;
    const NeighbourRanks* ranks;
    GemmArguments gemm;
  };
  struct PlacedArgumentsForBoxes {
    TensorMap a, b, c;
    const NeighbourRanks* ranks;
    GemmArguments gemm;
  };
  template <class Placed, class Other>
  using IfPlaced = typename Conditional<kIsPlaced, Placed, Other>::Type;
  using Arguments = typename Conditional<Config::kStoreByCopyEngine, IfPlaced<PlacedArgumentsForBoxes, ArgumentsForBoxes>,
                                         IfPlaced<PlacedArgumentsForRows, ArgumentsForRows>>::Type;

  const Arguments& arguments;
  const u32 shared;
  const int member_m, member_n;  // of the cluster; each copies its slice of what the others of its row or column need

  GEMMSMITH_DEVICE WgmmaTile(const Arguments& arguments_, u32 shared_, int member_m_, int member_n_)
      : arguments(arguments_), shared(shared_), member_m(member_m_), member_n(member_n_) {}

  static GEMMSMITH_DEVICE int RankOf(int m, int n) {
    constexpr bool kAlongNFirst = Config::kSchedule == Schedule::kOneTile && Config::kRaster == kAlongN;
    return kAlongNFirst ? n + m * Config::kClusterN : m + n * Config::kClusterM;
  }

  GEMMSMITH_DEVICE u32 Full(int stage) const { return shared + kFullBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Empty(int stage) const { return shared + kEmptyBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Stage(int stage) const { return shared + kStagesStart + stage * kStageBytes; }

  // Written out where their number is known: in a loop ptxas (CUDA 13.0) puts a fence before each.
  static constexpr int kInitUnroll = Config::kStages > 0 ? Config::kStages : K::is_fixed ? 8 : 1;
  GEMMSMITH_DEVICE void InitBarriers(int stages) const {
#pragma unroll kInitUnroll
    for (int i = 0; i < stages; ++i) {
      InitBarrier(Full(i), 1);
      if (Config::kStages > 0) InitBarrier(Empty(i), 4 * kTeam * kPeers);
    }
    PublishBarriers();
  }

  // Of every sixteen steps the first ones, and the next one in some of every four sixteens.
  static constexpr int kCoarsePeriod = 16, kKeepPeriod = 64;
  static GEMMSMITH_DEVICE bool IsKept(int step) {
    constexpr int kPeriods = kKeepPeriod / kCoarsePeriod, kWhole = Config::kKeep / kPeriods, kRest = Config::kKeep % kPeriods;
    const int place = step % kCoarsePeriod, period = step / kCoarsePeriod % kPeriods;
    return place < kWhole || (kRest > 0 && place == kWhole && period < kRest);
  }
  // Of a streamed operand L2 gives up first what all steps but those kept copy, or all lines but those kept.
  template <bool kStreams>
  static GEMMSMITH_DEVICE auto PolicyOf(bool is_kept) {
    if constexpr (!kStreams)
      return NoPolicy();
    else if constexpr (Config::kKeepLines > 0)
      return FirstOutBut<Config::kKeepLines>();
    else if constexpr (Config::kKeep == 0)
      return FirstOut();
    else
      return is_kept ? InTurn() : FirstOut();
  }

  // Orders the copies of the k from here on, of the rows and columns of a tile.
  GEMMSMITH_DEVICE void Fill(int k, int row, int column, int stage) const {
    Fill(k, row, column, stage, IsKept(k / kStepK));
  }
  GEMMSMITH_DEVICE void Fill(int k, int row, int column, int stage, bool is_kept) const {
    u32 peers_a = 0, peers_b = 0;
    if constexpr (kClusterSize > 1) {
#pragma unroll
      for (int i = 0; i < Config::kClusterN; ++i) peers_a |= 1u << RankOf(member_m, i);
#pragma unroll
      for (int i = 0; i < Config::kClusterM; ++i) peers_b |= 1u << RankOf(i, member_n);
    }
    ArriveExpecting(Full(stage), kStageBytes);
    A::Copy(Stage(stage), arguments.a, k, row, member_n, Full(stage), peers_a, PolicyOf<Config::kStreamsA>(is_kept));
    B::Copy(Stage(stage) + A::kBytes, arguments.b, Config::kRowMajorB ? column : k, Config::kRowMajorB ? k : column,
            member_m, Full(stage), peers_b, PolicyOf<Config::kStreamsB>(is_kept));
  }

  // One warp tells everyone who fills this stage. Only stages that will be refilled are released, so that nothing
  // arrives at a CTA that may have ended. (A CTA may end while a slice it ordered is still on its way to its peers: the
  // copy is the engine's by then and needs nothing of the CTA.)
  GEMMSMITH_DEVICE void Release(int stage) const {
    const int lane = threadIdx.x % 32;
    if constexpr (kClusterSize == 1) {
      if (lane == 0) Arrive(Empty(stage));
    } else if (lane < kPeers) {
      // Lanes 0 .. kClusterN - 1: the CTAs of this row; the others: the rest of this column.
      const int other = lane - Config::kClusterN;
      const bool in_row = lane < Config::kClusterN;
      const int m = in_row ? member_m : other + (other >= member_m ? 1 : 0);
      const int n = in_row ? lane : member_n;
      ArriveInCluster(SharedAddressOf(RankOf(m, n), Empty(stage)));
    }
  }

  // `teammate`: which of the warpgroups that share the tile.
  GEMMSMITH_DEVICE void MultiplyStage(int stage, int teammate, bool is_first, Accumulators& accumulators) const {
    using Left = typename Conditional<kSwapped, MultipliedB, MultipliedA>::Type;
    using Right = typename Conditional<kSwapped, MultipliedA, MultipliedB>::Type;
    const int first_row = teammate * kRowBlocks * Left::kBlockBytes;
    const u64 a = MultipliedA::Descriptor(Stage(stage) + (kSwapped ? 0 : first_row));
    const u64 b = MultipliedB::Descriptor(Stage(stage) + A::kBytes + (kSwapped ? first_row : 0));
    const u64 left = kSwapped ? b : a, right = kSwapped ? a : b;
#pragma unroll
    for (int k = 0; k < kStepK; k += 16)
#pragma unroll
      for (int block = 0; block < kRowBlocks; ++block)
        Wgmma<Type, Sum, Left::kAcrossK, Right::kAcrossK, kSumColumns>::MultiplyAdd(
            accumulators[block], Advance(left, Left::OffsetOf(k) + block * Left::kBlockBytes),
            Advance(right, Right::OffsetOf(k)), !is_first || k > 0);
  }

  // ---- warpgroups that end a tile in turn (kTurnSteps): one stores while the next one multiplies ----

  // Named barriers of two neighbours: this and the teammate's number. Schedules have those before.
  static constexpr int kTurnBarriers = 8;
  // The others wait until the teammate before has put all of its own on their way. In a loop of their own: where one loop
  // had the wait in its middle, ptxas (CUDA 13.0) read sums before their last instruction had ended (persistent, half of
  // them wrong in every tile).
  static GEMMSMITH_DEVICE int StepsBeforeTurn(int teammate, int steps) {
    return Config::kTurnSteps > 0 && teammate > 0 ? steps - Config::kTurnSteps : steps;
  }
  static GEMMSMITH_DEVICE void AwaitTurn(int teammate) { MeetThreads<256>(kTurnBarriers + teammate); }
  // With all instructions of the tile on their way.
  static GEMMSMITH_DEVICE void PassTurn(int teammate) {
    if (Config::kTurnSteps > 0 && teammate + 1 < kTeam) ArriveAt<256>(kTurnBarriers + teammate + 1);
  }

  // Until the instructions have ended.
  static GEMMSMITH_DEVICE void Settle(Accumulators& accumulators) {
    WaitWgmma<0>();
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) SettleSums(accumulators[block]);
  }
  static GEMMSMITH_DEVICE void WidenAll(const Accumulators& accumulators, Sums& sums) {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) Widen(accumulators[block], sums[block]);
  }

  GEMMSMITH_DEVICE u16* C() const { return static_cast<u16*>(arguments.gemm.c); }
  GEMMSMITH_DEVICE i64 LdC() const { return Dimension<Config::kFixedLdC>::Value(arguments.gemm.ldc); }
  GEMMSMITH_DEVICE OutputBounds<kInside> Bounds() const {
    return {M::Value(arguments.gemm.m), N::Value(arguments.gemm.n)};
  }
  // What a warp's 16 rows of the sums take in the epilogue.
  static constexpr int kStagedRowsBytes =
      kSwapped                     ? 16 * kSumColumns * 2
      : Config::kStoreByCopyEngine ? Config::kStagedPanels * StoredPanels<kTileN, 16>::kPanelBytes
                                   : PaddedRows<kTileN>::kBytes;
  struct PlaceInC {
    int row, column;
  };
  // Of a block of 64 rows of the sums of the tile that begins at `tile`.
  static GEMMSMITH_DEVICE PlaceInC PlaceOfBlock(const PlaceInC& tile, int block) {
    return kSwapped ? PlaceInC{tile.row, tile.column + block * 64} : PlaceInC{tile.row + block * 64, tile.column};
  }
  GEMMSMITH_DEVICE void StoreRows(int row, int column, const float (&sums)[kSums], u32 staging) const {
    StoreThroughPaddedRows<Type, Config::kStoreVector, kTileN>(C(), LdC(), row, column, sums, staging, Bounds());
  }
  // The copy engine's boxes of C have so many rows: those of a warp, or, one after the other in a persistent kernel, of
  // a warpgroup (1.4 % of the time where C is most of what is moved, H200, 2026-11-21).
  // Those of transposed sums have a warpgroup's 64 columns of all rows of the tile.
  static constexpr int kBoxRows = kSwapped ? kTileM : Config::kSchedule == Schedule::kOneTile ? 16 : 64;
  static constexpr int kBoxedColumns = kSwapped ? kTransposedWidth : kTileN;  // of C, that boxes cover
  static constexpr int kPanels = StoredPanels<kBoxedColumns, kBoxRows>::kCount;
  // Of the panels those from kFirst to kEnd.
  template <int kFirst = 0, int kEnd = kPanels>
  GEMMSMITH_DEVICE void StageBoxes(const float (&sums)[kSums], int first_row, u32 staging) const {
    if constexpr (kSwapped)
      StageTransposed<Type, kSumColumns>(sums, first_row, staging);
    else
      StageInPanels<Type, kTileN, kBoxRows, kFirst, kEnd>(sums, first_row, staging);
    if constexpr (Config::kStoreByCopyEngine) PublishToCopies();  // that are ordered behind a barrier
  }
  template <int kFirst = 0, int kEnd = kPanels>
  GEMMSMITH_DEVICE void StoreBoxes(int row, int column, u32 staging) const {
    StorePanels<kBoxedColumns, kBoxRows, Config::kStoreLeavesL2First, kFirst, kEnd>(arguments.c, row, column, staging);
  }
  // What StageBoxes() staged, where the copy engine cannot store it.
  GEMMSMITH_DEVICE void StoreBoxesAsRows(int row, int column, u32 staging) const {
    static_assert(kSwapped, "straight sums are staged otherwise");
    StoreTransposedLines<Config::kStoreVector, kTileM>(C(), LdC(), row, column, staging, Bounds());
  }
};

}  // namespace gemmsmith
