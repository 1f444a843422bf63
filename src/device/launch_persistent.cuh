// Host side of a persistent `wgmma` kernel in a standalone file: geometry and launch. Compiled by nvcc only.
#pragma once

#include "gemm_persistent.cuh"
#include "launch_tile.cuh"

namespace gemmsmith {

// For packed A, B and C. Returns cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(typename PersistentKernel<Config>::Arguments), const void* a, const void* b,
                       void* c, int m, int n, int k, void* workspace, size_t, cudaStream_t stream) {
  using Kernel = PersistentKernel<Config>;
  using Tile = typename Kernel::Tile;
  // With fewer steps than stages one warpgroup could reach the end of the next tile before another one ends this tile.
  if (Tile::kStaggerSteps > 0 && CeilDivide(k, Config::kStepK) < Config::kStages) return cudaErrorInvalidValue;
  typename Kernel::Arguments arguments{};
  const cudaError_t filled = FillArguments<Config>(arguments, a, b, c, m, n, k, workspace);
  if (filled != cudaSuccess) return filled;
  cudaError_t asked = AllowAllSmem(kernel);
  if (asked != cudaSuccess) return asked;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Tile::kClusterSize, 1, 1};
  cudaLaunchConfig_t config{};
  const int tiles = TilesAlong(m, Config::kTileM, Config::kClusterM) *
                    TilesAlong(n, Config::kTileN, Config::kClusterN) / Tile::kClusterSize;  // in clusters
  config.gridDim = unsigned(tiles) * Tile::kClusterSize;
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes =
      WgmmaSmemBytes(Config::kStages * Tile::kStageBytes, Kernel::kStagingBytes, Kernel::kStagingBytes);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  // The current device decides how many clusters are resident.
  int resident = 0;
  asked = cudaOccupancyMaxActiveClusters(&resident, kernel, &config);
  if (asked != cudaSuccess) return asked;
  if (resident == 0) return cudaErrorInvalidConfiguration;
  config.gridDim.x = unsigned(PersistentClusters(tiles, resident, Config::kEvenWaves)) * Tile::kClusterSize;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gemmsmith
