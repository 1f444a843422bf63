// The host's side of a persistent `wgmma` kernel in a standalone file: geometry and launch. Compiled by nvcc only.
#pragma once

#include "gemm_persistent.cuh"
#include "launch_tile.cuh"

namespace gemmsmith {

cudaError_t FindRanks(cudaStream_t stream);  // of launch_neighbours.cuh, where the kernel is placed

// Packed A, B and C. cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(typename PersistentKernel<Config>::Arguments), const void* a, const void* b,
                       void* c, int m, int n, int k, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  using Kernel = PersistentKernel<Config>;
  // A warpgroup could come to the end of the next tile before another one's turn at this one, and without a producer the
  // ring is filled for one tile.
  if ((Config::kTurnSteps > 0 || Kernel::kUnaided) && CeilDivide(k, Config::kStepK) < Config::kStages) return cudaErrorInvalidValue;
  typename Kernel::Arguments arguments{};
  const cudaError_t filled = FillArguments<Config>(arguments, a, b, c, m, n, k, workspace);
  if (filled != cudaSuccess) return filled;
  if constexpr (Kernel::kIsPlaced) {
    if (workspace_bytes < kPlacesBytes) return cudaErrorInvalidValue;
    const cudaError_t found = FindRanks(stream);
    if (found != cudaSuccess) return found;
  }
  cudaError_t asked = AllowAllSmem(kernel);
  if (asked != cudaSuccess) return asked;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Kernel::kClusterSize, 1, 1};
  // CTAs that wait for each other, which have no clusters, start all together.
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim =
      TilesAlong(m, Config::kTileM, Config::kClusterM) * TilesAlong(n, Config::kTileN, Config::kClusterN);
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = Kernel::kStagesStart + Config::kStages * Kernel::kStageBytes + Kernel::kStagingBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  // As many as the device that is current now holds at once.
  int clusters = 0;
  asked = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  if (asked != cudaSuccess) return asked;
  if (clusters == 0) return cudaErrorInvalidConfiguration;
  const unsigned tiles = config.gridDim.x / Kernel::kClusterSize, resident = unsigned(clusters);  // in clusters
  if (Config::kSharesRest) {
    const size_t bytes = (Kernel::kIsPlaced ? kPlacesBytes : 0) + kGiverWordsBytes + resident * Kernel::Parts::kSlotBytes;
    const Rest rest(int(tiles), CeilDivide(k, Config::kStepK), Config::kStepK, int(resident));
    const bool is_sharable = rest.tiles == 0 || rest.IsSharable();
    if (!is_sharable || resident > unsigned(kMostSharers) || workspace_bytes < bytes) return cudaErrorInvalidValue;
    config.gridDim.x = resident;
    config.attrs = &cooperative;
  } else if (tiles > resident) {
    const unsigned turns = CeilDivide(tiles, resident);
    config.gridDim.x = (Config::kEvenTurns ? CeilDivide(tiles, turns) : resident) * Kernel::kClusterSize;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gemmsmith
