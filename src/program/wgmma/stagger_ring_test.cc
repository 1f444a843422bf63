// A model of the barriers of a staggered epilogue: no legal plan hangs, mixes tiles or overwrites rows of C.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "program/wgmma/example_plans.h"

namespace gemmsmith {
namespace {

// The waits of src/device/gemm_persistent.cuh: a producer fills a ring for warpgroups that share tiles and end them one
// after the other. With one tile, those of gemm_wgmma.cuh.
class StaggeredRing {
 public:
  struct Settings {
    int warpgroups, stages, steps, stagger_steps, tiles;
    int shared_blocks = 0;  // of 64 rows, a warpgroup, that share the memory for one; 0: each has its own
  };
  explicit StaggeredRing(const Settings& settings) : settings_(settings), warpgroups_(size_t(settings.warpgroups)) {}

  // The favourite always moves first where it can, the others by chance. The last two favourites are the producer and
  // the storer. Returns what went wrong, or "" where all come to the end.
  std::string Run(int favourite, Random& random) {
    const int actors = settings_.warpgroups + 2;
    while (wrong_.empty() && !IsDone()) {
      bool moved = Move(favourite);
      const int first = int(random.Below(uint64_t(actors)));
      for (int i = 0; i < actors && !moved; ++i) moved = Move((first + i) % actors);
      if (!moved) return "stuck";
    }
    return wrong_;
  }

 private:
  struct Warpgroup {
    int issued = 0, released = 0;  // steps, over all tiles
    int arrived = 0;               // at the barrier before its last steps
    bool may_end = false;
    int to_stage = 0, staged = 0;  // blocks: of the tile that it has multiplied, and of all so far
    int allowed = 0;               // phases of its barrier before staging that are complete
    bool waits_for_storer = false;
  };

  int AllSteps() const { return settings_.steps * settings_.tiles; }
  int BlocksOfATile() const { return settings_.warpgroups * settings_.shared_blocks; }
  int AllBlocks() const { return BlocksOfATile() * settings_.tiles; }
  size_t OwnerOf(int block) const { return size_t(block % BlocksOfATile() / settings_.shared_blocks); }

  bool IsDone() const {
    return std::all_of(warpgroups_.begin(), warpgroups_.end(),
                       [&](const Warpgroup& w) { return w.issued == AllSteps() && w.to_stage == 0; }) &&
           stored_ == AllBlocks();
  }
  bool Move(int actor) {
    if (actor == settings_.warpgroups) return Fill();
    if (actor > settings_.warpgroups) return Store();
    return warpgroups_[size_t(actor)].to_stage > 0 ? Stage(size_t(actor)) : Multiply(size_t(actor));
  }

  // A barrier in shared memory tells the parity of a phase and no more.
  static bool IsComplete(int complete_phases, int phase) { return complete_phases % 2 != phase % 2; }

  bool Stage(size_t number) {
    Warpgroup& mine = warpgroups_[number];
    if (number > 0 && !IsComplete(mine.allowed, mine.staged)) return false;
    if (number == 0 && mine.staged > 0 && !IsComplete(mine.allowed, mine.staged - 1)) return false;
    if (is_occupied_) wrong_ = "staged over rows that are not stored";
    if (std::exchange(mine.waits_for_storer, true)) wrong_ = "came to the storer's barrier twice";
    is_occupied_ = true;
    ++mine.staged;
    --mine.to_stage;
    return true;
  }

  bool Store() {
    if (stored_ == AllBlocks() || !std::exchange(warpgroups_[OwnerOf(stored_)].waits_for_storer, false)) return false;
    is_occupied_ = false;
    if (++stored_ < AllBlocks()) ++warpgroups_[OwnerOf(stored_)].allowed;
    return true;
  }

  bool Fill() {
    const auto has_released = [&](const Warpgroup& w) { return w.released > filled_ - settings_.stages; };
    if (filled_ == AllSteps() || !std::all_of(warpgroups_.begin(), warpgroups_.end(), has_released)) return false;
    ++filled_;
    return true;
  }

  bool Multiply(size_t number) {
    Warpgroup& mine = warpgroups_[number];
    if (mine.issued == AllSteps()) return false;
    const int steps_left = settings_.steps - mine.issued % settings_.steps;
    if (number > 0 && steps_left == settings_.stagger_steps && !mine.may_end) {
      if (std::exchange(mine.released, mine.issued) < mine.issued) return true;
      if (mine.arrived == 0) return false;
      mine.arrived = 0, mine.may_end = true;
    }
    if (mine.issued == filled_) return false;
    mine.released = mine.issued;  // one step late
    ++mine.issued;
    if (steps_left == 1) EndTile(number);
    return true;
  }

  void EndTile(size_t number) {
    Warpgroup& mine = warpgroups_[number];
    mine.released = mine.issued, mine.may_end = false;
    mine.to_stage = settings_.shared_blocks;
    const bool has_next = settings_.stagger_steps > 0 && number + 1 < warpgroups_.size();
    if (has_next && ++warpgroups_[number + 1].arrived == 2) wrong_ = "came to the next one's barrier twice";
  }

  const Settings settings_;
  std::vector<Warpgroup> warpgroups_;
  int filled_ = 0, stored_ = 0;
  bool is_occupied_ = false;  // the shared memory, by rows that are not stored yet
  std::string wrong_;
};

std::string TroubleIn(const StaggeredRing::Settings& settings) {
  Random random(7);
  for (int favourite = 0; favourite <= settings.warpgroups + 1; ++favourite)
    for (int i = 0; i < 8; ++i)
      if (const std::string wrong = StaggeredRing(settings).Run(favourite, random); !wrong.empty()) return wrong;
  return "";
}

void PlayThrough(const WgmmaPlan& plan, const Gemm& gemm) {
  EXPECT_GT(plan.FewestSteps(gemm.shape), plan.StaggerSteps()) << "the kernel has a loop before the stagger";
  for (const int steps : {plan.Steps(gemm.shape), plan.FewestSteps(gemm.shape)})
    for (const int tiles : plan.is_persistent() ? std::vector{1, 2, 5} : std::vector{1})
      EXPECT_EQ(TroubleIn({plan.warpgroups, plan.stages, steps, plan.StaggerSteps(), tiles}), "") << Print(gemm);
}

// Plays every legal plan of a schedule through. Returns their number.
int PlayedThrough(std::string_view schedule) {
  int legal = 0;
  for (const int warpgroups : {2, 3})
    for (const int step_k : {64, 128, 256})
      for (const int stages : {2, 3, 4, 5, 6, 7, 8, 10, 12})
        for (const int split : {1, 3})
          for (int k = 64; k <= 1024; k += 64) {
            const std::string words = fmt::format(
                "finish=in_turn schedule={} warpgroups={} tile_m={} tile_n=32 step_k={} stages={} split={} store=tma",
                schedule, warpgroups, 64 * warpgroups, step_k, stages, split);
            const Gemm gemm{{192 * 24, 2048, k}};
            if (!IsLegal(Wgmma(words), gemm, H200())) continue;
            SCOPED_TRACE(words);
            ++legal;
            PlayThrough(Typed(words), gemm);
          }
  return legal;
}

TEST(StaggeredRing, NeverHangsNorMixesTilesWhereThePlanIsLegal) {
  EXPECT_GT(PlayedThrough("one"), 100);
  EXPECT_GT(PlayedThrough("cooperative"), 100);
}

TEST(StaggeredRing, NeverHangsNorOverwritesWhereStagingIsShared) {
  for (const int warpgroups : {2, 3})
    for (const int blocks : {1, 2, 3})
      for (const int stages : {2, 3, 4, 5})
        for (const int steps : {stages, stages + 1, 9})
          for (const int tiles : {1, 2, 5})
            EXPECT_EQ(TroubleIn({warpgroups, stages, steps, std::min(3, stages - 1), tiles, blocks}), "")
                << warpgroups << " " << blocks << " " << stages << " " << steps << " " << tiles;
}

TEST(StaggeredRing, HangsOrMixesTilesWhereThePlanIsNotLegal) {
  EXPECT_EQ(TroubleIn({2, 4, 12, 4, 3}), "");
  EXPECT_EQ(TroubleIn({2, 4, 12, 5, 3}), "stuck") << "a stagger longer than the ring";
  EXPECT_EQ(TroubleIn({2, 6, 3, 2, 5}), "came to the next one's barrier twice")
      << "a ring that holds the next tile too";
}

}  // namespace
}  // namespace gemmsmith
