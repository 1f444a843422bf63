// The `wgmma` family: TMA -> shared memory -> wgmma, one tile of C a CTA (sm_90a).
//
// Warpgroups share the tile's rows and consume stages of kStepK k. Two ways to feed them:
//   resident (kStages 0)  the whole share of K is ordered at once by one lane of the first warp, and nothing is refilled
//   ring (kStages 2 ..)   a producer warp behind the consumers refills a stage as soon as all of them have released it
// CTAs of a cluster that need the same operand copy a slice of it each, for all (multicast). Splits of K meet by f32 adds
// in L2 or, as a cluster, through distributed shared memory.
//
// Config: Type, kRowMajorB, kTileM/N, kWarpgroups, kStepK, kStages, kClusterM/N, kSplit, kReduction, kTrigger, kRaster,
// kStoreByCopyEngine, kStoreVector, kDepthA/B (panels an operation), kStagingInStages (the epilogue reuses the stages'
// memory), kFixedM/N/K/LdC. Shared memory: barriers (1 KiB), stages, staging of the epilogue.
#pragma once

#include "epilogue_staged.cuh"
#include "reduce.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

namespace gemmsmith {

// Which tile a CTA takes: the grid runs along m, along n, or in groups of so many tiles along m, n outside.
enum Raster { kAlongM = 0, kAlongN = 1 };

template <class Config>
struct WgmmaKernel {
  using Type = typename Config::Type;
  using M = Dimension<Config::kFixedM>;
  using N = Dimension<Config::kFixedN>;
  using K = Dimension<Config::kFixedK>;

  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kStepK = Config::kStepK;
  static constexpr int kRowBlocks = kTileM / 64 / Config::kWarpgroups;  // of 64 rows, a warpgroup
  static constexpr int kConsumerWarps = 4 * Config::kWarpgroups, kConsumers = 32 * kConsumerWarps;
  static constexpr bool kIsRing = Config::kStages > 0;
  static constexpr int kThreads = kConsumers + (kIsRing ? 32 : 0);
  static constexpr bool kInside = M::IsMultipleOf(kTileM) && N::IsMultipleOf(kTileN);

  static constexpr int kClusterSize = Config::kClusterM * Config::kClusterN;
  // CTAs that copy something for this one, itself included: those of its row and of its column in the cluster.
  static constexpr int kPeers = Config::kClusterM + Config::kClusterN - 1;
  static constexpr bool kSplitsAreCluster = Config::kReduction == SplitReduction::kCluster;

  // A's lines are rows; B's are columns, or k where B is row-major.
  static constexpr int kWidthB = Config::kRowMajorB ? PanelWidth(kTileN) : 64;
  using A = StagedOperand<kStepK / 64, kTileM, 64, Config::kClusterN, Config::kDepthA>;
  using B = StagedOperand<(Config::kRowMajorB ? kTileN / kWidthB : kStepK / 64), (Config::kRowMajorB ? kStepK : kTileN),
                          kWidthB, Config::kClusterM, Config::kDepthB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;

  // Few known steps are written out; more of them, or unknown ones, stay a loop (a third less code and compile time).
  static constexpr int kKnownSteps = CeilDivide(CeilDivide(Config::kFixedK, kStepK), Config::kSplit);
  static constexpr int kUnroll = K::is_fixed && kKnownSteps <= 4 ? kKnownSteps : 1;

  static constexpr int kMaxStages = 32;
  static constexpr int kFullBarriers = 0, kEmptyBarriers = 8 * kMaxStages, kArrivalsWord = 16 * kMaxStages;
  static constexpr int kStagesStart = 1024;
  static constexpr int kSums = kTileN / 2;  // of a row block, a thread
  static constexpr int kStagingBytes = kSplitsAreCluster            ? kTileM * (kTileN + 4) * 4
                                       : Config::kStoreByCopyEngine ? kTileM / 16 * StoredPanels<kTileN>::kBytes
                                                                    : kTileM / 16 * PaddedRows<kTileN>::kBytes;

  // As the host lays them out: the maps in order, C's only where the copy engine stores.
  struct ArgumentsForRows {
    TensorMap a, b;
    GemmArguments gemm;
  };
  struct ArgumentsForBoxes {
    TensorMap a, b, c;
    GemmArguments gemm;
  };
  using Arguments = typename Conditional<Config::kStoreByCopyEngine, ArgumentsForBoxes, ArgumentsForRows>::Type;

  const Arguments& arguments;
  const u32 shared;
  int tile_row, tile_column;  // in tiles
  int first_step, steps;      // of kStepK, of this split
  int slice_a, slice_b;       // of what the cluster shares

  GEMMSMITH_DEVICE WgmmaKernel(const Arguments& arguments_, u32 shared_) : arguments(arguments_), shared(shared_) {
    FindTile();
    slice_a = tile_column % Config::kClusterN, slice_b = tile_row % Config::kClusterM;
    const int all = CeilDivide(K::Value(arguments.gemm.k), kStepK);
    const int split = blockIdx.z;
    first_step = Config::kSplit == 1 ? 0 : all * split / Config::kSplit;
    steps = Config::kSplit == 1 ? all : all * (split + 1) / Config::kSplit - first_step;
  }

  // The grid is launched over whole clusters; a tile outside C computes zeros and stores nothing.
  GEMMSMITH_DEVICE void FindTile() {
    if constexpr (Config::kRaster == kAlongM) {
      tile_row = blockIdx.x, tile_column = blockIdx.y;
    } else if constexpr (Config::kRaster == kAlongN) {
      tile_row = blockIdx.y, tile_column = blockIdx.x;
    } else {
      constexpr int kGroup = Config::kRaster;  // clusters
      const int rows = CeilDivide(CeilDivide(M::Value(arguments.gemm.m), kTileM), Config::kClusterM);
      const int columns = CeilDivide(CeilDivide(N::Value(arguments.gemm.n), kTileN), Config::kClusterN);
      const int cluster = blockIdx.x / kClusterSize, member = blockIdx.x % kClusterSize;
      const int group = cluster / (kGroup * columns), in_group = cluster % (kGroup * columns);
      const int group_rows = min(kGroup, rows - group * kGroup);
      const int row = group * kGroup + in_group % group_rows, column = in_group / group_rows;
      tile_row = row * Config::kClusterM + member % Config::kClusterM;
      tile_column = column * Config::kClusterN + member / Config::kClusterM;
    }
  }
  static GEMMSMITH_DEVICE int RankOf(int member_m, int member_n) {
    return Config::kRaster == kAlongN ? member_n + member_m * Config::kClusterN
                                      : member_m + member_n * Config::kClusterM;
  }

  GEMMSMITH_DEVICE u32 Full(int stage) const { return shared + kFullBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Empty(int stage) const { return shared + kEmptyBarriers + 8 * stage; }
  GEMMSMITH_DEVICE u32 Stage(int stage) const { return shared + kStagesStart + stage * kStageBytes; }
  // The same place in every split, though their steps may differ by one: they read each other's.
  GEMMSMITH_DEVICE u32 Staging() const {
    if constexpr (Config::kStagingInStages) return Stage(0);
    if constexpr (kIsRing) return Stage(Config::kStages);
    return Stage(CeilDivide(CeilDivide(K::Value(arguments.gemm.k), kStepK), Config::kSplit));
  }
  GEMMSMITH_DEVICE int StagesFilledAtOnce() const { return kIsRing ? min(steps, Config::kStages) : steps; }
  GEMMSMITH_DEVICE bool WillBeRefilled(int step) const { return step + Config::kStages < steps; }

  // ---- feeding ----

  GEMMSMITH_DEVICE void Fill(int step, int stage) const {
    u32 peers_a = 0, peers_b = 0;
    if constexpr (kClusterSize > 1) {
#pragma unroll
      for (int i = 0; i < Config::kClusterN; ++i) peers_a |= 1u << RankOf(slice_b, i);
#pragma unroll
      for (int i = 0; i < Config::kClusterM; ++i) peers_b |= 1u << RankOf(i, slice_a);
    }
    const int k = (first_step + step) * kStepK, row = tile_row * kTileM, column = tile_column * kTileN;
    ArriveExpecting(Full(stage), kStageBytes);
    A::Copy(Stage(stage), arguments.a, k, row, slice_a, Full(stage), peers_a);
    B::Copy(Stage(stage) + A::kBytes, arguments.b, Config::kRowMajorB ? column : k, Config::kRowMajorB ? k : column,
            slice_b, Full(stage), peers_b);
  }

  GEMMSMITH_DEVICE void InitBarriers() const {
#pragma unroll 1
    for (int i = 0; i < StagesFilledAtOnce(); ++i) {
      InitBarrier(Full(i), 1);
      if (kIsRing) InitBarrier(Empty(i), kConsumerWarps * kPeers);
    }
    PublishBarriers();
  }

  GEMMSMITH_DEVICE void FillAtOnce() const {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
#pragma unroll 1
    for (int i = 0; i < StagesFilledAtOnce(); ++i) Fill(i, i);
  }

  // Barriers ready for everyone, first copies under way. `is_feeder`: the one lane that orders copies.
  GEMMSMITH_DEVICE void Start(bool is_feeder) const {
    if (is_feeder) {
      if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
      PrefetchMap(arguments.a);
      PrefetchMap(arguments.b);
      InitBarriers();
      if (kClusterSize == 1) FillAtOnce();
    }
    __syncwarp();
    if constexpr (kClusterSize == 1) {
      __syncthreads();
    } else {
      MeetCluster();  // the barriers of every peer are ready before anything is sent to it
      if (is_feeder) FillAtOnce();
      __syncwarp();
    }
  }

  GEMMSMITH_DEVICE void Refill() const {
    int stage = 0;
    u32 parity = 0;
#pragma unroll 1
    for (int step = Config::kStages; step < steps; ++step) {
      WaitFor(Empty(stage), parity);
      Fill(step, stage);
      if (++stage == Config::kStages) stage = 0, parity ^= 1;
    }
  }

  // ---- consuming ----

  // One warp tells everyone who fills this stage. Only stages that will be refilled are released, so that nothing arrives
  // at a CTA that may have ended. (A CTA may end while a slice it ordered is still on its way to its peers: the copy is
  // the engine's by then and needs nothing of the CTA.)
  GEMMSMITH_DEVICE void Release(int stage) const {
    const int lane = threadIdx.x % 32;
    if constexpr (kClusterSize == 1) {
      if (lane == 0) Arrive(Empty(stage));
    } else if (lane < kPeers) {
      // Lanes 0 .. kClusterN - 1: the CTAs of this row; the others: the rest of this column.
      const int other = lane - Config::kClusterN;
      const bool in_row = lane < Config::kClusterN;
      const int member_m = in_row ? slice_b : other + (other >= slice_b ? 1 : 0);
      const int member_n = in_row ? lane : slice_a;
      ArriveInCluster(SharedAddressOf(RankOf(member_m, member_n), Empty(stage)));
    }
  }

  GEMMSMITH_DEVICE void MultiplyStage(int stage, int warpgroup, bool is_first, float (&sums)[kRowBlocks][kSums]) const {
    const u32 a_start = Stage(stage) + warpgroup * kRowBlocks * 64 * A::kLineBytes, b_start = Stage(stage) + A::kBytes;
    const u64 a = OperandDescriptor<A::kLineBytes>(a_start, 0);
    const u64 b = OperandDescriptor<B::kLineBytes>(b_start, Config::kRowMajorB ? B::kPanelBytes : 0);
#pragma unroll
    for (int k = 0; k < kStepK; k += 16) {
      const int a_offset = k / 64 * A::kPanelBytes + k % 64 * 2;
      const int b_offset = Config::kRowMajorB ? k * B::kLineBytes : k / 64 * B::kPanelBytes + k % 64 * 2;
#pragma unroll
      for (int block = 0; block < kRowBlocks; ++block)
        Wgmma<Type, Config::kRowMajorB, kTileN>::MultiplyAdd(
            sums[block], Advance(a, a_offset + block * 64 * A::kLineBytes), Advance(b, b_offset), !is_first || k > 0);
    }
  }

  // The loop keeps one group of instructions under way, so a stage is released one step late.
  GEMMSMITH_DEVICE void Consume(int warpgroup, float (&sums)[kRowBlocks][kSums]) const {
    int stage = 0, step = 0;
    u32 parity = 0;
#pragma unroll kUnroll
    do {
      WaitFor(Full(stage), parity);
      FenceWgmma();
      MultiplyStage(stage, warpgroup, step == 0, sums);
      CommitWgmma();
      WaitWgmma<1>();
      if constexpr (kIsRing) {
        if (step > 0 && WillBeRefilled(step - 1)) Release(stage == 0 ? Config::kStages - 1 : stage - 1);
        if (++stage == Config::kStages) stage = 0, parity ^= 1;
      } else {
        ++stage;
      }
    } while (++step < steps);
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
    WaitWgmma<0>();
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) SettleSums(sums[block]);
  }

  // ---- finishing ----

  GEMMSMITH_DEVICE u16* C() const { return static_cast<u16*>(arguments.gemm.c); }
  GEMMSMITH_DEVICE i64 LdC() const { return Dimension<Config::kFixedLdC>::Value(arguments.gemm.ldc); }
  GEMMSMITH_DEVICE OutputBounds<kInside> Bounds() const {
    return {M::Value(arguments.gemm.m), N::Value(arguments.gemm.n)};
  }

  GEMMSMITH_DEVICE void StoreTile(int warp, const float (&sums)[kRowBlocks][kSums]) const {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row_in_tile = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16;
      const int row = tile_row * kTileM + row_in_tile, column = tile_column * kTileN;
      if constexpr (Config::kStoreByCopyEngine)
        StoreThroughCopyEngine<Type, kTileN>(arguments.c, row, column, sums[block],
                                             Staging() + row_in_tile / 16 * StoredPanels<kTileN>::kBytes);
      else
        StoreThroughPaddedRows<Type, Config::kStoreVector, kTileN>(
            C(), LdC(), row, column, sums[block], Staging() + row_in_tile / 16 * PaddedRows<kTileN>::kBytes, Bounds());
    }
    if (Config::kStoreByCopyEngine && ElectLane()) WaitUntilStoresHaveRead();
  }

  GEMMSMITH_DEVICE bool AddToWorkspace(float (&sums)[kRowBlocks][kSums]) const {
    const u32 tile = blockIdx.y * gridDim.x + blockIdx.x;
    float* tile_sums = SplitSums(arguments.gemm.workspace, gridDim.x * gridDim.y) + u64(tile) * (kTileM * kTileN);
    u32* counter = static_cast<u32*>(arguments.gemm.workspace) + tile;
    extern __shared__ __align__(1024) char memory[];
    return AddToTile<Config::kSplit, kConsumers>(reinterpret_cast<float(&)[kRowBlocks * kSums]>(sums), tile_sums, counter,
                                                 reinterpret_cast<u32*>(memory + kArrivalsWord));
  }

  // Every split keeps its sums in its own shared memory, adds up the same few rows of all of them, and stores these.
  GEMMSMITH_DEVICE void StoreShareOfCluster(int warp, const float (&sums)[kRowBlocks][kSums]) const {
    constexpr int kRow = kTileN + 4, kRows = kTileM / Config::kSplit, kPieces = kTileN / 4;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row = (warp / 4 * kRowBlocks + block) * 64 + warp % 4 * 16 + lane / 4;
#pragma unroll
      for (int i = 0; i < kSums; i += 4) {
        const u32 to = Staging() + (row * kRow + i * 2 + lane % 4 * 2) * 4;
        const float(&q)[kSums] = sums[block];
        asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(to), "f"(q[i]), "f"(q[i + 1]) : "memory");
        asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(to + 8 * kRow * 4), "f"(q[i + 2]), "f"(q[i + 3]) : "memory");
      }
    }
    MeetCluster();
    const int first_row = int(blockIdx.z) * kRows;
#pragma unroll 2
    for (int i = threadIdx.x; i < kRows * kPieces; i += kConsumers) {
      const int row = first_row + i / kPieces, column = i % kPieces * 4;
      float parts[Config::kSplit][4];
#pragma unroll
      for (int split = 0; split < Config::kSplit; ++split)
        LoadFromCluster(parts[split], SharedAddressOf(split, Staging() + (row * kRow + column) * 4));
#pragma unroll
      for (int split = 1; split < Config::kSplit; ++split)
#pragma unroll
        for (int e = 0; e < 4; ++e) parts[0][e] += parts[split][e];
      if (kInside || tile_column * kTileN + column < Bounds().n)
        StoreRow<Type, Config::kStoreVector>(C(), LdC(), tile_row * kTileM + row, tile_column * kTileN + column,
                                             parts[0], Bounds());
    }
    __syncwarp();
    MeetCluster();  // nobody ends while another reads its sums
  }

  GEMMSMITH_DEVICE void Finish(int warp, float (&sums)[kRowBlocks][kSums]) const {
    if constexpr (Config::kReduction == SplitReduction::kAdd) {
      if (!AddToWorkspace(sums)) return;
    } else if constexpr (Config::kStagingInStages) {
      MeetThreads<kConsumers>(1);  // the stages are read by all
    }
    if constexpr (kSplitsAreCluster)
      StoreShareOfCluster(warp, sums);
    else
      StoreTile(warp, sums);
  }

  static GEMMSMITH_DEVICE void Run(const Arguments& arguments) {
    extern __shared__ __align__(1024) char memory[];
    // In a form that lets the compiler see that it is the same for the whole warp.
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    const WgmmaKernel kernel(arguments, SharedAddress(memory));
    const bool is_feeder = warp == (kIsRing ? kConsumerWarps : 0) && ElectLane();
    kernel.Start(is_feeder);
    if (kIsRing && warp == kConsumerWarps) {
      if (is_feeder) kernel.Refill();
      return;
    }
    float sums[kRowBlocks][kSums];
    kernel.Consume(warp / 4, sums);
    kernel.Finish(warp, sums);
  }
};

}  // namespace gemmsmith
