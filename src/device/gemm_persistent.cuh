// The `wgmma` family with persistent CTAs: as many as the GPU holds at once, each of which walks over many tiles of C
// (sm_90a). A producer runs ahead over the tiles' borders, so that the copies for the next tile arrive while this one is
// finished. Consumer warpgroups share each tile (cooperative), or take turns (ping-pong): then one multiplies while the
// other one stores. Those that share a tile may end it in turn, to the same effect.
//
// Without a producer (unaided) its registers are the consumers'. A thread of the last warpgroup orders the copies, each
// when its own warpgroup has done with the stage: the others, ahead of it or beside it, have too by then, or soon.
//
// Config: as for one tile a CTA (gemm_wgmma.cuh; kStages at least 2, kSplit 1), and kProducerRegisters,
// kConsumerRegisters (0: as compiled), kEvenTurns (for the host: launch no more CTAs than make the same number of turns),
// kStagedBlocks (row blocks of a warp that the epilogue has memory for; behind the stages), kSharesStaging (all
// warpgroups stage in the memory of one block, one after the other, and a warp of its own stores), kTurnsBack (every other
// turn through K from its end, and every other row, column or group of tiles), kPlaced (neighbours.cuh), kSharesRest (the
// tiles that whole turns leave over are shared out along K, rest.cuh; CTAs wait for each other, so all must be there).
#pragma once

#include "part_sums.cuh"
#include "rest.cuh"
#include "wgmma_tile.cuh"

namespace gemmsmith {

// Quotients by a divisor that is known when the kernel starts: without the 30 instructions of an integer division.
struct Divisor {
  int value;
  float reciprocal;
  GEMMSMITH_DEVICE explicit Divisor(int value_) : value(value_) {
    asm("rcp.rz.f32 %0, %1;" : "=f"(reciprocal) : "f"(float(value_)));
  }
  // For 0 <= n < 2^23.
  GEMMSMITH_DEVICE int Divide(int n) const {
    const int quotient = int(float(n) * reciprocal);  // right, or one too few
    return quotient + ((quotient + 1) * value <= n ? 1 : 0);
  }
};

// The clusters of tiles of C in the order in which they are worked on.
template <int kRaster, bool kTurnsBack>
struct TileOrder {
  int rows, columns;  // clusters
  Divisor group, last_group;

  GEMMSMITH_DEVICE TileOrder(int rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        group(kRaster == kAlongM ? rows_ : kRaster == kAlongN ? columns_ : kRaster * columns_),
        last_group(kRaster > 1 && rows_ % kRaster != 0 ? rows_ % kRaster : Max(kRaster, 1)) {}
  GEMMSMITH_DEVICE int count() const { return rows * columns; }
  GEMMSMITH_DEVICE void Find(int index, int& row, int& column) const {
    const int outer = group.Divide(index), inner = index - outer * group.value;
    if constexpr (kRaster == kAlongM) {
      row = kTurnsBack && outer % 2 == 1 ? rows - 1 - inner : inner, column = outer;
    } else if constexpr (kRaster == kAlongN) {
      row = outer, column = kTurnsBack && outer % 2 == 1 ? columns - 1 - inner : inner;
    } else {
      const bool is_last = (outer + 1) * kRaster > rows;
      column = is_last ? last_group.Divide(inner) : inner / kRaster;
      row = outer * kRaster + inner - column * (is_last ? last_group.value : kRaster);
      if (kTurnsBack && outer % 2 == 1) column = columns - 1 - column;
    }
  }
};

template <class Config>
struct PersistentKernel : WgmmaTile<Config> {
  using Tile = WgmmaTile<Config>;
  using typename Tile::Arguments, typename Tile::Accumulators, typename Tile::Sums;
  using typename Tile::M, typename Tile::N, typename Tile::K;
  using Tile::arguments, Tile::shared, Tile::member_m, Tile::member_n;
  using Tile::Full, Tile::Empty, Tile::Stage, Tile::Release;
  using Tile::kTileM, Tile::kTileN, Tile::kStepK, Tile::kRowBlocks, Tile::kClusterSize, Tile::kIsPlaced;
  using Parts = PartSums<Config::kWarpgroups * 128, kRowBlocks, Tile::kSums, Tile::kStageBytes>;

  static constexpr int kStages = Config::kStages, kWarpgroups = Config::kWarpgroups;
  static constexpr bool kPingPong = Config::kSchedule == Schedule::kPingPong;
  static constexpr bool kUnaided = Config::kSchedule == Schedule::kUnaided;
  static constexpr int kTeams = kPingPong ? kWarpgroups : 1;
  static constexpr bool kMovesRegisters = Config::kProducerRegisters > 0;
  static constexpr int kConsumerWarps = 4 * kWarpgroups;
  // The warp that orders copies, a producer's or the first one of the last warpgroup, and where staging is shared another
  // one that stores.
  static constexpr bool kSharesStaging = Config::kSharesStaging;
  static constexpr int kOrderingWarp = kUnaided ? kConsumerWarps - 4 : kConsumerWarps;
  static constexpr int kStoringWarp = kConsumerWarps + 1;
  static constexpr int kThreads =
      32 * kConsumerWarps + (kUnaided ? 0 : kMovesRegisters ? 128 : kSharesStaging ? 64 : 32);
  static constexpr int kStagingWarps = kSharesStaging ? 4 : kConsumerWarps;
  static constexpr int kStagingBytes = kStagingWarps * Config::kStagedBlocks * Tile::kStagedRowsBytes;
  static constexpr bool kIsRing = true;
  // Named barriers: of each team, whose turn it is; the start; of each warpgroup, what it stages.
  static constexpr int kTurnBarrier = 1, kStartBarrier = 1 + kTeams, kStoreBarrier = 2 + kTeams;
  static_assert(!kPingPong || kWarpgroups == 2, "two take turns");
  static_assert(!kUnaided || (kWarpgroups > 1 && !kMovesRegisters && !kSharesStaging && !Config::kSwapped),
                "no thread but the consumers, which have all registers");
  static_assert(!Config::kStoreByCopyEngine || Config::kStagedPanels == Tile::kPanels || Config::kStagedBlocks == 1,
                "a block in parts has memory for one part");
  static_assert(!kSharesStaging || (Config::kStoreByCopyEngine && Config::kStagedBlocks == 1 && !kPingPong),
                "a warp stores for those that share a tile");

  static constexpr bool kSharesRest = Config::kSharesRest;
  static_assert(!kSharesRest || (kTeams == 1 && !kUnaided && kClusterSize == 1 && IsSame<typename Config::Sum, float>::value),
                "a range of steps is one CTA's, and its sums are floats");

  const TileOrder<Config::kRaster, Config::kTurnsBack> order;
  const int first, stride;  // of the clusters of tiles that this cluster works on
  const int steps;          // of kStepK, a tile
  const int turns;          // how many whole tiles it works on
  const int ring_steps;     // in all

  GEMMSMITH_DEVICE PersistentKernel(const Tile& tile, int first_, int steps_of_rest = 0)
      : Tile(tile),
        order(CeilDivide(CeilDivide(M::Value(tile.arguments.gemm.m), kTileM), Config::kClusterM),
              CeilDivide(CeilDivide(N::Value(tile.arguments.gemm.n), kTileN), Config::kClusterN)),
        first(first_),
        stride(ClusterCount()),
        steps(CeilDivide(K::Value(tile.arguments.gemm.k), kStepK)),
        turns(kSharesRest ? order.count() / stride : (order.count() - first + stride - 1) / stride),
        ring_steps(turns * steps + steps_of_rest) {}

  static GEMMSMITH_DEVICE int ClusterCount() { return int(gridDim.x) / kClusterSize; }
  static GEMMSMITH_DEVICE int RankInCluster() { return int(blockIdx.x) % kClusterSize; }

  // ---- the place in the order ----

  static GEMMSMITH_DEVICE u32* Places(const Arguments& arguments) { return static_cast<u32*>(arguments.gemm.workspace); }
  static GEMMSMITH_DEVICE u32 PlaceWord(const Tile& tile) { return tile.shared + Tile::kArrivalsWord; }

  // One thread of each cluster, before its CTAs meet.
  static GEMMSMITH_DEVICE void TakePlaceFor(const Tile& tile) {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
    const u32 place = TakePlace(Places(tile.arguments), GEMMSMITH_RANKS(tile.arguments), u32(ClusterCount()),
                                blockIdx.x / kClusterSize);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(PlaceWord(tile)), "r"(place) : "memory");
  }
  // Behind the meeting. The first CTA has a tile to multiply before it ends, by when all have read what it wrote.
  static GEMMSMITH_DEVICE int PlaceOfCluster(const Tile& tile) {
    const u32 place = LoadWordFromCluster(SharedAddressOf(0, PlaceWord(tile)));
    if constexpr (kClusterSize > 1) MeetClusterWithoutMemory();
    return int(place);
  }

  static GEMMSMITH_DEVICE int FirstOf(const Tile& tile) {
    if constexpr (kIsPlaced)
      return PlaceOfCluster(tile);
    else
      return int(blockIdx.x) / kClusterSize;
  }

  using Place = typename Tile::PlaceInC;
  GEMMSMITH_DEVICE Place PlaceOfIndex(int index) const {
    int row, column;
    order.Find(index, row, column);
    return {(row * Config::kClusterM + member_m) * kTileM, (column * Config::kClusterN + member_n) * kTileN};
  }
  GEMMSMITH_DEVICE Place PlaceOf(int turn) const { return PlaceOfIndex(first + turn * stride); }

  // Of a step of a turn. L2 still holds what came last of the rows or columns that a tile shares with the one before: back
  // and forth, that comes first.
  static GEMMSMITH_DEVICE int KOf(int turn, int step, int steps) {
    return (Config::kTurnsBack && turn % 2 == 1 ? steps - 1 - step : step) * kStepK;
  }

  // Where the ring stands after so many steps, counted over all tiles.
  struct RingPlace {
    int stage;
    u32 parity;
    GEMMSMITH_DEVICE explicit RingPlace(int step) : stage(step % kStages), parity(u32(step / kStages) & 1) {}
    GEMMSMITH_DEVICE void Next() {
      if (++stage == kStages) stage = 0, parity ^= 1;
    }
    GEMMSMITH_DEVICE RingPlace Before() const {
      RingPlace before = *this;
      if (before.stage-- == 0) before.stage = kStages - 1, before.parity ^= 1;
      return before;
    }
  };
  GEMMSMITH_DEVICE bool WillBeRefilled(int step) const { return step + kStages < ring_steps; }

  GEMMSMITH_DEVICE void Produce() const {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
    RingPlace ring(0);
    int step = 0;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
      const Place place = PlaceOf(turn);
#pragma unroll 1
      for (int i = 0; i < steps; ++i, ++step, ring.Next()) {
        if (step >= kStages) WaitFor(Empty(ring.stage), ring.parity ^ 1);
        Tile::Fill(KOf(turn, i, steps), place.row, place.column, ring.stage);
      }
    }
    if constexpr (kSharesRest) ProduceRest(step, ring);
    if constexpr (kIsPlaced)
      if (RankInCluster() == 0) LeavePlaces(Places(arguments), u32(stride));
  }

  // ---- what whole turns leave over ----

  // One thread finds out what this CTA has and writes it down for all: found by each it would cost registers, of which
  // wide tiles have none to spare. Words: how many steps of the ring, how many slots the sums of a tile come in, and how
  // far these are apart; then of each part, until one without steps, where its tile begins, its steps, its slot, and
  // whether sums are taken.
  enum RestIndex { kRingSteps, kGivers, kSlotDistance, kRestParts };
  enum PartIndex { kRow, kColumn, kBegin, kEnd, kSlot, kTakes, kPartWords };
  static_assert(Tile::kRestWords + 4 * (kRestParts + (Rest::kMostParts + 1) * kPartWords) <= Tile::kStagesStart);
  GEMMSMITH_DEVICE int RestWord(int index) const { return RestWord(*this, index); }
  static GEMMSMITH_DEVICE int RestWord(const Tile& tile, int index) {
    int word;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(word) : "r"(tile.shared + Tile::kRestWords + 4 * index) : "memory");
    return word;
  }
  GEMMSMITH_DEVICE void SetRestWord(int index, int word) const {
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(shared + Tile::kRestWords + 4 * index), "r"(word) : "memory");
  }
  GEMMSMITH_DEVICE int PartWord(int part, PartIndex word) const { return RestWord(kRestParts + part * kPartWords + word); }
  GEMMSMITH_DEVICE int StepsOfPart(int part) const { return PartWord(part, kEnd) - PartWord(part, kBegin); }
  GEMMSMITH_DEVICE Place PlaceOfPart(int part) const { return {PartWord(part, kRow), PartWord(part, kColumn)}; }

  GEMMSMITH_DEVICE void WriteRest() const {
    const Rest rest(order.count(), steps, kStepK, stride);
    int word = kRestParts, ring = 0;
#pragma unroll 1
    for (int number = 0;; ++number, word += kPartWords) {
      const RestPart part(rest, first, number);
      const bool is_there = part.IsThere(rest);
      SetRestWord(word + kBegin, is_there ? part.begin : 0);
      SetRestWord(word + kEnd, is_there ? part.end : 0);
      if (!is_there) break;
      const Place place = PlaceOfIndex(turns * stride + part.tile);
      SetRestWord(word + kRow, place.row);
      SetRestWord(word + kColumn, place.column);
      SetRestWord(word + kSlot, part.slot);
      SetRestWord(word + kTakes, part.takes ? 1 : 0);
      ring += part.count() + (part.takes ? rest.Givers() * Parts::kChunks : 0);
    }
    SetRestWord(kRingSteps, ring);
    SetRestWord(kGivers, rest.Givers());
    SetRestWord(kSlotDistance, rest.tiles);
  }
  GEMMSMITH_DEVICE char* PartsMemory() const {
    return static_cast<char*>(arguments.gemm.workspace) + (kIsPlaced ? kPlacesBytes : 0);
  }

  GEMMSMITH_DEVICE void ProduceRest(int step, RingPlace ring) const {
    const auto await_stage = [&] {
      if (step >= kStages) WaitFor(Empty(ring.stage), ring.parity ^ 1);
    };
#pragma unroll 1
    for (int part = 0; StepsOfPart(part) > 0; ++part) {
      const Place place = PlaceOfPart(part);
      const int end = PartWord(part, kEnd);
#pragma unroll 1
      for (int i = PartWord(part, kBegin); i < end; ++i, ++step, ring.Next()) {
        await_stage();
        Tile::Fill(i * kStepK, place.row, place.column, ring.stage);
      }
      int slot = PartWord(part, kSlot);
#pragma unroll 1
      for (int left = PartWord(part, kTakes) * RestWord(kGivers); left > 0; --left, slot += RestWord(kSlotDistance)) {
        Parts::AwaitSums(PartsMemory(), slot);
#pragma unroll 1
        for (int chunk = 0; chunk < Parts::kChunks; ++chunk, ++step, ring.Next()) {
          await_stage();
          Parts::Bring(PartsMemory(), slot, chunk, Stage(ring.stage), Full(ring.stage));
        }
      }
    }
  }

  GEMMSMITH_DEVICE void TakeSums(int step, int slot, Accumulators& accumulators) const {
    RingPlace ring(step);
#pragma unroll 1
    for (int left = RestWord(kGivers); left > 0; --left, slot += RestWord(kSlotDistance)) {
      float* from = Parts::FirstQuad(PartsMemory(), slot);
#pragma unroll
      for (int chunk = 0; chunk < Parts::kChunks; ++chunk, ++step, ring.Next()) {
        WaitFor(Full(ring.stage), ring.parity);
        Parts::Take(from, chunk, Stage(ring.stage), accumulators);
        if (WillBeRefilled(step)) Release(ring.stage);
      }
    }
  }

  // A CTA that takes sums has no further part, and lets the next launch start before it waits for them; the others do when
  // all is given. (Asked for behind the last instructions of either, 128x256 with four stages has a register too few.)
  GEMMSMITH_DEVICE void ConsumeRest(int warp, int teammate, bool is_storer, u32& uses) const {
    int step = turns * steps;
#pragma unroll 1
    for (int part = 0; StepsOfPart(part) > 0; ++part) {
      const int count = StepsOfPart(part);
      Accumulators accumulators;
      RingPlace ring(step);
      MultiplySteps(0, count, step, ring, teammate, {}, accumulators);
      Tile::Settle(accumulators);
      ReleaseAfter(count - 1, step, ring.Before(), {});
      step += count;
      const int slot = PartWord(part, kSlot);
      if (PartWord(part, kTakes) == 0) {
        Parts::Give(PartsMemory(), slot, accumulators);
        continue;
      }
      if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
      TakeSums(step, slot, accumulators);
      StoreTileOf(PlaceOfPart(part), warp, teammate, is_storer, uses, accumulators);
    }
    if (Config::kTrigger == Trigger::kLate) LetNextLaunchStart();
  }

  // ---- unaided: copies by the consumers ----

  // Where the copies of a turn belong, and those of the next one, which begin while this one is multiplied: a tile has no
  // fewer steps than the ring has stages.
  struct Copies {
    int turn;
    Place here, next;
  };
  static GEMMSMITH_DEVICE bool OrdersCopies(int warp) { return kUnaided && warp == kOrderingWarp; }

  GEMMSMITH_DEVICE void FillRing(const Place& place) const {
    if (Config::kTrigger != Trigger::kNone) WaitForLaunchBefore();
    if (Config::kTrigger == Trigger::kSoon) LetNextLaunchStart();
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) Tile::Fill(stage * kStepK, place.row, place.column, stage);
  }

  // The stage of a step of this turn, as soon as all have released it.
  GEMMSMITH_DEVICE void Refill(int step_of_turn, const RingPlace& ring, const Copies& copies) const {
    if (OrdersCopies(threadIdx.x / 32) && ElectLane()) {
      WaitFor(Empty(ring.stage), ring.parity);
      const int step = step_of_turn + kStages;
      const bool is_here = step < steps;
      const int k = is_here ? KOf(copies.turn, step, steps) : KOf(copies.turn + 1, step - steps, steps);
      Tile::Fill(k, is_here ? copies.here.row : copies.next.row, is_here ? copies.here.column : copies.next.column,
                 ring.stage);
    }
    __syncwarp();
  }

  // ---- multiplication ----

  GEMMSMITH_DEVICE void ReleaseAfter(int step_of_turn, int first_step, const RingPlace& ring, const Copies& copies) const {
    if (!WillBeRefilled(first_step + step_of_turn)) return;
    Release(ring.stage);
    if constexpr (kUnaided) Refill(step_of_turn, ring, copies);
  }

  // One group of instructions stays under way, so a stage is released one step late, and the last one not at all.
  GEMMSMITH_DEVICE void MultiplySteps(int begin, int end, int first_step, RingPlace& ring, int teammate,
                                      const Copies& copies, Accumulators& accumulators) const {
    RingPlace before = ring;
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      WaitFor(Full(ring.stage), ring.parity);
      FenceWgmma();
      Tile::MultiplyStage(ring.stage, teammate, i == 0, accumulators);
      CommitWgmma();
      WaitWgmma<1>();
      if (i > begin) ReleaseAfter(i - 1, first_step, before, copies);
      before = ring;
      ring.Next();
    }
  }

  GEMMSMITH_DEVICE void Multiply(int turn, int teammate, Accumulators& accumulators) const {
    const int first_step = turn * steps, alone = Tile::StepsBeforeTurn(teammate, steps);
    RingPlace ring(first_step);
    Copies copies{};
    if constexpr (kUnaided) copies = {turn, PlaceOf(turn), PlaceOf(turn + 1)};
    MultiplySteps(0, alone, first_step, ring, teammate, copies, accumulators);
    if (alone < steps) {  // a turn may be long in coming
      WaitWgmma<0>();
      ReleaseAfter(alone - 1, first_step, ring.Before(), copies);
      Tile::AwaitTurn(teammate);
      MultiplySteps(alone, steps, first_step, ring, teammate, copies, accumulators);
    }
    Tile::PassTurn(teammate);
    // The other team's instructions may queue up behind these. Without this order a team that waits a phase ahead of the
    // ring would pass on the parity of the phase before.
    if (kPingPong && turn + 1 < turns) ArriveAt<256>(kTurnBarrier + (turn + 1) % kTeams);
    if (Config::kTrigger == Trigger::kLate && !kSharesRest && turn + kTeams >= turns) LetNextLaunchStart();
    Tile::Settle(accumulators);
    ReleaseAfter(steps - 1, first_step, ring.Before(), copies);
  }

  // A warpgroup's 64 rows of the sums at a time, or some panels of them after the others. `is_storer`: one thread of it,
  // the same one every time, because waiting for the copies it ordered is its business alone.
  template <int kFirstPanel = 0>
  GEMMSMITH_DEVICE void StoreBlockInBoxes(const Place& boxes, int warp, u32 staging, bool is_storer,
                                          const float (&sums)[Tile::kSums]) const {
    constexpr int kEnd = Config::kSwapped ? Tile::kPanels : Min(kFirstPanel + Config::kStagedPanels, Tile::kPanels);
    if (is_storer) WaitForStoresBut<Config::kStagedBlocks - 1>();
    MeetThreads<128>(kStoreBarrier + warp / 4);
    Tile::template StageBoxes<kFirstPanel, kEnd>(sums, warp % 4 * 16, staging);
    MeetThreads<128>(kStoreBarrier + warp / 4);
    if constexpr (!Config::kStoreByCopyEngine) {
      Tile::StoreBoxesAsRows(boxes.row, boxes.column, staging);
    } else if (warp % 4 == 0 && ElectLane()) {
      Tile::template StoreBoxes<kFirstPanel, kEnd>(boxes.row, boxes.column, staging);
      CommitStores();
    }
    if constexpr (kEnd < Tile::kPanels) StoreBlockInBoxes<kEnd>(boxes, warp, staging, is_storer, sums);
  }

  GEMMSMITH_DEVICE void StoreTileInBoxes(const Place& place, int warp, int teammate, bool is_storer,
                                         const Sums& sums) const {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int staged = warp / 4 * Config::kStagedBlocks + block % Config::kStagedBlocks;
      StoreBlockInBoxes(Tile::PlaceOfBlock(place, teammate * kRowBlocks + block), warp,
                        Stage(kStages) + staged * 4 * Tile::kStagedRowsBytes, is_storer, sums[block]);
    }
  }

  // ---- memory for one row block, which the warpgroups that share a tile stage in one after the other ----

  // This leaves room for another stage of 128 x 256 or 192 x 192. TMA must have read the memory before the next
  // warpgroup stages in it. A warpgroup that waited for that could not multiply, so a warp of its own waits.
  GEMMSMITH_DEVICE u32 MayStage(int warpgroup) const { return shared + Tile::kStagingBarriers + 8 * warpgroup; }

  // `uses`: how often this warpgroup has staged. Widened behind the wait, which is a loop: before it, f16 sums would take
  // the registers of f32.
  GEMMSMITH_DEVICE void StageTileForStorer(int warp, u32& uses, const Accumulators& accumulators) const {
    const int warpgroup = warp / 4;
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block, ++uses) {
      // The first of all finds the memory unused.
      if (warpgroup > 0)
        WaitFor(MayStage(warpgroup), uses & 1);
      else if (uses > 0)
        WaitFor(MayStage(warpgroup), (uses - 1) & 1);
      float sums[Tile::kSums];
      Widen(accumulators[block], sums);
      Tile::StageBoxes(sums, warp % 4 * 16, Stage(kStages));
      ArriveAt<160>(kStoreBarrier + warpgroup);
    }
  }

  // A warp, for all warpgroups. The last one of all is followed by nobody.
  GEMMSMITH_DEVICE void StoreStaged() const {
    constexpr int kBlocks = kWarpgroups * kRowBlocks;
    // Behind the whole ones the tile whose sums this CTA takes, if any: its first part.
    const bool stores_part = kSharesRest && StepsOfPart(0) > 0 && PartWord(0, kTakes) != 0;
    const int tiles = turns + (stores_part ? 1 : 0);
#pragma unroll 1
    for (int i = 0; i < tiles; ++i) {
      const Place place = i < turns ? PlaceOf(i) : PlaceOfPart(0);
#pragma unroll 1
      for (int block = 0; block < kBlocks; ++block) {
        const bool ends_tile = block + 1 == kBlocks;
        MeetThreads<160>(kStoreBarrier + block / kRowBlocks);
        if (ElectLane()) {
          const Place boxes = Tile::PlaceOfBlock(place, block);
          Tile::StoreBoxes(boxes.row, boxes.column, Stage(kStages));
          CommitStores();
          WaitForStoresBut<0>();
          if (!ends_tile || i + 1 < tiles) Arrive(MayStage(ends_tile ? 0 : (block + 1) / kRowBlocks));
        }
        __syncwarp();
      }
    }
  }

  GEMMSMITH_DEVICE void StoreTileInRows(const Place& place, int warp, int teammate, const Sums& sums) const {
#pragma unroll
    for (int block = 0; block < kRowBlocks; ++block) {
      const int row = place.row + (teammate * kRowBlocks + block) * 64 + warp % 4 * 16;
      const int staged = warp * Config::kStagedBlocks + block % Config::kStagedBlocks;
      __syncwarp();
      Tile::StoreRows(row, place.column, sums[block], Stage(kStages) + staged * Tile::kStagedRowsBytes);
    }
  }

  GEMMSMITH_DEVICE void StoreTile(const Place& place, int warp, int teammate, bool is_storer,
                                  const Accumulators& accumulators) const {
    Sums sums;
    Tile::WidenAll(accumulators, sums);
    if constexpr (Config::kStoreByCopyEngine || Config::kSwapped)
      StoreTileInBoxes(place, warp, teammate, is_storer, sums);
    else
      StoreTileInRows(place, warp, teammate, sums);
  }

  GEMMSMITH_DEVICE void StoreTileOf(const Place& place, int warp, int teammate, bool is_storer, u32& uses,
                                    const Accumulators& accumulators) const {
    if constexpr (kSharesStaging)
      StageTileForStorer(warp, uses, accumulators);
    else
      StoreTile(place, warp, teammate, is_storer, accumulators);
  }

  GEMMSMITH_DEVICE void Consume(int warp) const {
    const bool is_storer = Config::kStoreByCopyEngine && !kSharesStaging && warp % 4 == 0 && ElectLane();
    const int warpgroup = warp / 4, team = kPingPong ? warpgroup : 0, teammate = kPingPong ? 0 : warpgroup;
    u32 uses = 0;
    if (OrdersCopies(warp)) {
      if (ElectLane()) FillRing(PlaceOf(0));
      __syncwarp();
    }
#pragma unroll 1
    for (int turn = team; turn < turns; turn += kTeams) {
      Accumulators accumulators;
      if (kPingPong && turn > 0) MeetThreads<256>(kTurnBarrier + team);
      Multiply(turn, teammate, accumulators);
      StoreTileOf(PlaceOf(turn), warp, teammate, is_storer, uses, accumulators);
    }
    if constexpr (kSharesRest) ConsumeRest(warp, teammate, is_storer, uses);
    if (is_storer) WaitForStoresBut<0>();
    if constexpr (kIsPlaced)
      if (OrdersCopies(warp) && RankInCluster() == 0 && ElectLane()) LeavePlaces(Places(arguments), u32(stride));
  }

  // Barriers, for all of the CTA and its cluster.
  static GEMMSMITH_DEVICE void Begin(const Tile& tile, int warp) {
    const bool waits_for_nothing =
        !kUnaided && !kSharesRest && warp >= kConsumerWarps && !(kSharesStaging && warp == kStoringWarp);
    if (warp == kOrderingWarp && ElectLane()) {  // elected anew where it is needed, as in gemm_wgmma.cuh
      if (Config::kTrigger == Trigger::kEarly) LetNextLaunchStart();
      PrefetchMap(tile.arguments.a);
      PrefetchMap(tile.arguments.b);
      for (int i = 0; i < (kSharesStaging ? kWarpgroups : 0); ++i)
        InitBarrier(tile.shared + Tile::kStagingBarriers + 8 * i, 1);
      tile.InitBarriers(kStages);
      if constexpr (kIsPlaced)
        if (RankInCluster() == 0) TakePlaceFor(tile);
      if constexpr (kSharesRest) PersistentKernel(tile, FirstOf(tile)).WriteRest();
    }
    __syncwarp();
    if constexpr (kClusterSize > 1 && kIsPlaced)
      MeetCluster();
    else if constexpr (kClusterSize > 1)
      MeetClusterWithoutMemory();
    else if (waits_for_nothing)
      ArriveAt<kThreads>(kStartBarrier);  // the consumers wait for barriers and place, nobody for the consumers
    else
      MeetThreads<kThreads>(kStartBarrier);
  }

  GEMMSMITH_DEVICE void Work(int warp) const {
    if (!kUnaided && warp >= kConsumerWarps) {
      if constexpr (kMovesRegisters) GiveRegisters<Config::kProducerRegisters>();
      if (warp == kConsumerWarps && ElectLane()) Produce();
      if constexpr (kSharesStaging)
        if (warp == kStoringWarp) StoreStaged();
    } else {
      if constexpr (kMovesRegisters) TakeRegisters<Config::kConsumerRegisters>();
      Consume(warp);
    }
  }

  static GEMMSMITH_DEVICE void Run(const Arguments& arguments) {
    extern __shared__ __align__(1024) char memory[];
    // In a form that lets the compiler see that it is the same for the whole warp.
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    const Tile tile(arguments, SharedAddress(memory), RankInCluster() % Config::kClusterM,
                    RankInCluster() / Config::kClusterM);
    if constexpr (kIsPlaced || kSharesRest) {
      Begin(tile, warp);
      PersistentKernel(tile, FirstOf(tile), kSharesRest ? RestWord(tile, kRingSteps) : 0).Work(warp);
    } else {
      const PersistentKernel kernel(tile, FirstOf(tile));
      Begin(kernel, warp);
      kernel.Work(warp);
    }
  }
};

}  // namespace gemmsmith
