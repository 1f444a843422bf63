// The ranges of device/rest.cuh, compiled for the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "program/launch.h"

#define __device__
#define __host__
#define __forceinline__ inline
namespace device {
#include "device/rest.cuh"
}  // namespace device
#undef __device__
#undef __host__
#undef __forceinline__

namespace gemmsmith {
namespace {

using device::gemmsmith::Rest;
using device::gemmsmith::RestPart;

struct Sharing {
  int tiles, steps, sharers;
};
std::ostream& operator<<(std::ostream& out, const Sharing& sharing) {
  return out << sharing.tiles << " tiles of " << sharing.steps << " steps for " << sharing.sharers << " CTAs";
}

std::vector<RestPart> PartsOf(const Rest& rest, int sharer) {
  std::vector<RestPart> parts;
  for (int number = 0;; ++number) {
    const RestPart part(rest, sharer, number);
    if (!part.IsThere(rest)) return parts;
    parts.push_back(part);
  }
}

std::vector<Sharing> Sharings() {
  std::vector<Sharing> all;
  for (const int sharers : {114, 132, 144})
    for (const int steps : {1, 2, 3, 5, 9, 17, 32, 33, 64, 128, 192, 256, 1000})
      for (int tiles = 1; tiles < 3 * sharers; ++tiles) all.push_back({tiles, steps, sharers});
  return all;
}

struct Tile {
  std::map<int, int> parts;   // from which step to which
  std::map<int, int> givers;  // by slot, the first step that is given there
  std::optional<RestPart> taker;
};

// What everybody does, and whether it fits together: every step once; of each tile who has its first steps takes what
// the others give, in the order of k, each through a slot of its own; nobody has more to do than is said.
void Play(const Rest& rest, int most_steps) {
  std::vector<Tile> tiles{size_t(rest.tiles)};
  std::set<int> slots;
  int most = 0;
  for (int sharer = 0; sharer < rest.sharers; ++sharer) {
    const std::vector<RestPart> parts = PartsOf(rest, sharer);
    int steps = 0;
    for (const RestPart& part : parts) {
      ASSERT_LT(part.tile, rest.tiles);
      EXPECT_GE(part.count(), Rest::kLeastSteps);
      steps += part.count();
      Tile& tile = tiles[size_t(part.tile)];
      EXPECT_TRUE(tile.parts.emplace(part.begin, part.end).second);
      EXPECT_EQ(part.takes, part.begin == 0);
      if (part.takes) {
        EXPECT_EQ(parts.size(), 1u) << "who takes sums has nothing else to do";
        tile.taker = part;
      } else {
        EXPECT_TRUE(slots.insert(part.slot).second) << "a slot of its own";
        EXPECT_LT(part.slot, device::gemmsmith::kMostSharers);
        tile.givers.emplace(part.slot, part.begin);
      }
    }
    most = std::max(most, steps);
  }
  EXPECT_EQ(most, most_steps);
  for (const Tile& tile : tiles) {
    ASSERT_TRUE(tile.taker);
    int done = 0;
    for (const auto& [begin, end] : tile.parts) {
      EXPECT_EQ(begin, done);
      done = end;
    }
    EXPECT_EQ(done, rest.steps);
    EXPECT_EQ(int(tile.givers.size()), rest.Givers());
    int slot = tile.taker->slot, before = 0;
    for (const auto& [given, begin] : tile.givers) {
      EXPECT_EQ(given, slot);
      EXPECT_GT(begin, before);
      slot += rest.tiles, before = begin;
    }
  }
}

TEST(SharedRest, EveryStepIsDoneOnceAndItsSumsComeToWhoStoresTheTile) {
  int played = 0;
  for (const Sharing& sharing : Sharings())
    for (const int step_k : {64, 128, 256}) {
      SCOPED_TRACE(testing::Message() << sharing << " of " << step_k);
      const Rest rest(sharing.tiles, sharing.steps, step_k, sharing.sharers);
      const std::optional<int> told = SharedRestSteps(sharing.tiles, sharing.steps, step_k, sharing.sharers);
      ASSERT_EQ(rest.IsSharable(), told.has_value());
      if (!told) continue;
      ++played;
      EXPECT_LT(*told, sharing.steps);
      Play(rest, *told);
      if (HasFailure()) return;
    }
  EXPECT_GT(played, 12000);
}

// 56 of 132: two layers and the last seventh of three tiles each; 88: one, and the last third of two; 44: three layers.
// Equal shares would be 0.424, 0.667 and 0.333.
TEST(SharedRest, TakesLittleLongerThanEqualSharesWould) {
  EXPECT_EQ(SharedRestSteps(1376, 128, 64, 132), 58);
  EXPECT_EQ(SharedRestSteps(2 * 132 + 88, 256, 64, 132), 173);
  EXPECT_EQ(SharedRestSteps(132 + 44, 256, 64, 132), 88);
}

TEST(SharedRest, SomeTilesCannotBeShared) {
  EXPECT_FALSE(SharedRestSteps(132 * 3, 128, 64, 132)) << "none is left";
  EXPECT_FALSE(SharedRestSteps(26, 128, 64, 132)) << "five layers";
  EXPECT_FALSE(SharedRestSteps(130, 128, 64, 132)) << "two CTAs for the ends of 130 tiles";
  EXPECT_FALSE(SharedRestSteps(90, 12, 64, 132)) << "parts of too few steps";
  EXPECT_FALSE(SharedRestSteps(90, 64, 64, 148));
}

TEST(SharedRest, TheHostKnowsTheSameNumbers) {
  EXPECT_EQ(int(kMostSharers), device::gemmsmith::kMostSharers);
  EXPECT_EQ(SharedRestBytes(256 * 192),
            uint64_t(device::gemmsmith::kGiverWordsBytes) + kMostSharers * 256 * 192 * sizeof(float));
}

}  // namespace
}  // namespace gemmsmith
