// The neighbours of device/neighbour_ranks.cuh, compiled for the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#define __device__
#define __host__
#define __forceinline__ inline
#include "device/neighbour_ranks.cuh"
#undef __device__
#undef __host__
#undef __forceinline__

namespace gemmsmith {
namespace {

// Each launch as if it had been of these clusters; CTAs beyond them noted nothing.
NeighbourRanks RanksFrom(const std::vector<std::vector<u32>>& clusters, u32 multiprocessors) {
  WatchedLaunches watched;
  for (u32 launch = 0; launch < WatchedLaunches::kCount; ++launch) {
    std::fill(std::begin(watched.multiprocessor[launch]), std::end(watched.multiprocessor[launch]), ~0u);
    const u32 size = WatchedLaunches::ClusterSize(launch);
    for (u32 i = 0; i < clusters.size() && (i + 1) * size <= NeighbourRanks::kMost; ++i)
      std::copy_n(clusters[i].begin(), std::min(size_t(size), clusters[i].size()),
                  watched.multiprocessor[launch] + i * size);
  }
  NeighbourRanks ranks{};
  RankNeighbours(watched, multiprocessors, ranks);
  return ranks;
}

std::vector<int> FirstOf(const NeighbourRanks& ranks, int count) { return {ranks.rank, ranks.rank + count}; }

TEST(NeighbourRanks, WhoSharedAClusterStandsSideBySide) {
  const NeighbourRanks ranks = RanksFrom({{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}}, 12);
  EXPECT_EQ(ranks.multiprocessors, 12u);
  EXPECT_EQ(FirstOf(ranks, 12), (std::vector<int>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}));
}

TEST(NeighbourRanks, ClustersThatOverlapAreOneGroup) {
  const NeighbourRanks ranks = RanksFrom({{4, 5}, {0, 1}, {5, 0}}, 6);
  EXPECT_EQ(FirstOf(ranks, 6), (std::vector<int>{2, 3, 0, 1, 4, 5}));
}

TEST(NeighbourRanks, WithoutClustersEveryoneKeepsTheOwnPlace) {
  const NeighbourRanks ranks = RanksFrom({}, 132);
  for (int id = 0; id < 132; ++id) EXPECT_EQ(ranks.rank[id], id);
}

TEST(NeighbourRanks, AreAPermutationWhateverWasNoted) {
  for (const u32 count : {1u, 8u, 132u, 252u, 1000u}) {
    const NeighbourRanks ranks = RanksFrom({{7, 300, 9}, {400, 2}, {2, 7}, {}}, count);
    const int known = int(ranks.multiprocessors);
    EXPECT_EQ(known, int(std::min(count, NeighbourRanks::kMost)));
    const std::vector<int> placed = FirstOf(ranks, known);
    EXPECT_EQ(int(std::set<int>(placed.begin(), placed.end()).size()), known) << count;
    EXPECT_LT(*std::max_element(placed.begin(), placed.end()), known) << count;
  }
}

}  // namespace
}  // namespace gemmsmith
