// Which multiprocessors stand side by side, told from where the CTAs of clusters run: those of one cluster are in one GPC.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// Where each multiprocessor, by the number that it calls itself, stands in a row in which neighbours, those of one GPC,
// stand side by side. Zeros where nobody found out.
struct NeighbourRanks {
  static constexpr u32 kMost = 252;
  u32 multiprocessors;  // that have a rank
  unsigned char rank[kMost];
};

// Launches of clusters, one CTA a multiprocessor, in which each CTA notes where it is. Clusters of 6 and of 8 overlap.
struct WatchedLaunches {
  static constexpr u32 kCount = 8;
  u32 multiprocessor[kCount][NeighbourRanks::kMost];  // CTA by CTA
  static __host__ __device__ constexpr u32 ClusterSize(u32 launch) { return 8 - launch % 4 * 2; }
};

// Who was in one cluster, and who was in one with them, become one group; groups stand one behind the other.
inline __host__ __device__ void RankNeighbours(const WatchedLaunches& watched, u32 multiprocessors,
                                               NeighbourRanks& ranks) {
  u32 group[NeighbourRanks::kMost];
  for (u32 id = 0; id < NeighbourRanks::kMost; ++id) group[id] = id;
  const u32 known = multiprocessors < NeighbourRanks::kMost ? multiprocessors : NeighbourRanks::kMost;
  for (u32 launch = 0; launch < WatchedLaunches::kCount; ++launch) {
    const u32 size = WatchedLaunches::ClusterSize(launch);
    for (u32 i = 0; i < known / size * size; ++i) {
      const u32 first = watched.multiprocessor[launch][i / size * size], id = watched.multiprocessor[launch][i];
      if (first >= known || id >= known || group[first] == group[id]) continue;
      const u32 joining = group[id];
      for (u32 other = 0; other < known; ++other)
        if (group[other] == joining) group[other] = group[first];
    }
  }
  u32 next = 0;
  for (u32 one = 0; one < known; ++one)
    for (u32 id = 0; id < known; ++id)
      if (group[id] == one) ranks.rank[id] = static_cast<unsigned char>(next++);
  ranks.multiprocessors = known;
}

}  // namespace gemmsmith
