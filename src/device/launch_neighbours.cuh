// The host's side of neighbours.cuh in a standalone file: the current device finds out which of its multiprocessors stand
// side by side. Compiled by nvcc only.
#pragma once

#include "neighbour_ranks.cuh"

namespace gemmsmith {
static __device__ WatchedLaunches watched_launches;
static __device__ NeighbourRanks neighbour_ranks;
}  // namespace gemmsmith

#define GEMMSMITH_RANKS(arguments) gemmsmith::neighbour_ranks

#include "launch_tile.cuh"
#include "neighbours.cuh"

namespace gemmsmith {

// Once: a graph that captured these launches goes on to replay them.
static __global__ void WatchLaunch(unsigned launch) {
  if (neighbour_ranks.multiprocessors == 0) NoteMultiprocessor(watched_launches.multiprocessor[launch]);
}
static __global__ void RankWatched(unsigned multiprocessors) {
  if (neighbour_ranks.multiprocessors == 0) RankNeighbours(watched_launches, multiprocessors, neighbour_ranks);
}

// One of `ctas` CTAs in clusters of so many.
static cudaLaunchConfig_t LaunchOf(unsigned ctas, cudaLaunchAttribute& cluster, unsigned size, cudaStream_t stream) {
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {size, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = ctas / size * size;
  config.blockDim = 1;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return config;
}

// Static, as what it fills: each of several libraries in one process has its own.
static cudaError_t WatchLaunches(int device, cudaStream_t stream) {
  int multiprocessors = 0;
  cudaError_t asked = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (asked != cudaSuccess) return asked;
  asked = AllowAllSmem(WatchLaunch);
  if (asked != cudaSuccess) return asked;
  const unsigned watched = multiprocessors < int(NeighbourRanks::kMost) ? unsigned(multiprocessors) : NeighbourRanks::kMost;
  for (unsigned launch = 0; launch < WatchedLaunches::kCount; ++launch) {
    cudaLaunchAttribute cluster{};
    cudaLaunchConfig_t config = LaunchOf(watched, cluster, WatchedLaunches::ClusterSize(launch), stream);
    config.dynamicSmemBytes = kMaxSmemBytes;
    const cudaError_t launched = cudaLaunchKernelEx(&config, WatchLaunch, launch);
    if (launched != cudaSuccess) return launched;
  }
  cudaLaunchAttribute alone{};
  const cudaLaunchConfig_t config = LaunchOf(1, alone, 1, stream);
  return cudaLaunchKernelEx(&config, RankWatched, watched);
}

// Of the device that is current, on the stream of its first call, in some 2 ms; where that is captured, in the graph's
// first replay (a kernel must not ask whether it is captured: who does is taken for a cheat). Until then tiles go by the
// order of the launch.
static cudaError_t FindRanks(cudaStream_t stream) {
  constexpr int kDevices = 64;
  static bool has_watched[kDevices];  // twice does no harm
  int device = 0;
  cudaError_t asked = cudaGetDevice(&device);
  if (asked != cudaSuccess || has_watched[device % kDevices]) return asked;
  asked = WatchLaunches(device, stream);
  has_watched[device % kDevices] = asked == cudaSuccess;
  return asked;
}

}  // namespace gemmsmith
