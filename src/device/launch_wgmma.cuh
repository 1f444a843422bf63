// Host side of a `wgmma` kernel with one tile a CTA in a standalone file: geometry and launch. Compiled by nvcc only.
#pragma once

#include "gemm_wgmma.cuh"
#include "launch_tile.cuh"

namespace gemmsmith {

// For packed A, B and C. Returns cudaErrorInvalidValue for a problem that the kernel was not made for.
template <class Config>
cudaError_t LaunchGemm(void (*kernel)(typename WgmmaKernel<Config>::Arguments), const void* a, const void* b, void* c,
                       int m, int n, int k, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  using Kernel = WgmmaKernel<Config>;
  using Tile = typename Kernel::Tile;
  using Epilogue = typename Kernel::Epilogue;
  typename Kernel::Arguments arguments{};
  const cudaError_t filled = FillArguments<Config>(arguments, a, b, c, m, n, k, workspace);
  if (filled != cudaSuccess) return filled;

  constexpr bool kSplitsAreCluster = Config::kReduction == SplitReduction::kCluster;
  constexpr bool kSplitsExchange = Config::kReduction == SplitReduction::kExchange;
  constexpr unsigned kCtasM = Config::kClusterM * Config::kGroupM, kCtasN = Config::kClusterN * Config::kGroupN;
  constexpr unsigned kSplitsOfCluster = kSplitsAreCluster ? Config::kSplit : 1;
  const unsigned tiles_m = TilesAlong(m, Config::kTileM, kCtasM), tiles_n = TilesAlong(n, Config::kTileN, kCtasN);
  constexpr int kSlots = SplitSlots(Config::kReduction, Config::kSplit);
  if (kSlots > 0 && workspace_bytes < SplitWorkspaceBytes(size_t(tiles_m) * tiles_n,
                                                          size_t(kSlots) * Config::kTileM * Config::kTileN))
    return cudaErrorInvalidValue;

  const int steps = CeilDivide(k, Config::kStepK), steps_of_split = CeilDivide(steps, Config::kSplit);
  if (steps < Config::kSplit || (!Kernel::kIsRing && steps_of_split > kMostStages)) return cudaErrorInvalidValue;
  if (steps / Config::kSplit < Tile::kStaggerSteps) return cudaErrorInvalidValue;
  constexpr int kBesideStages = StagingBesideStages(Epilogue::kStagingBytes, Config::kStagingInStages,
                                                    Epilogue::kStaggersStaging, Config::kWarpgroups);
  const long long stages_bytes = (long long)(Kernel::kIsRing ? Config::kStages : steps_of_split) * Tile::kStageBytes;
  const long long smem_bytes = WgmmaSmemBytes(stages_bytes, kBesideStages, Epilogue::kStagingBytes);
  if (smem_bytes > kHopperSmemBytes) return cudaErrorInvalidValue;
  const cudaError_t prepared = AllowAllSmem(kernel);
  if (prepared != cudaSuccess) return prepared;

  cudaLaunchConfig_t config{};
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kCtasM, kCtasN, kSplitsOfCluster};
  config.gridDim = dim3(tiles_m, tiles_n, Config::kSplit);
  if (Config::kRaster == kAlongN) {
    config.gridDim = dim3(tiles_n, tiles_m, Config::kSplit);
    cluster.val.clusterDim = {kCtasN, kCtasM, kSplitsOfCluster};
  } else if (Config::kRaster != kAlongM) {
    config.gridDim = dim3(tiles_m * tiles_n, 1, Config::kSplit);
    cluster.val.clusterDim = {kCtasM * kCtasN, 1, kSplitsOfCluster};
  }
  config.blockDim = Kernel::kThreads;
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  // CTAs that wait for each other start all together, or the launch fails with cudaErrorCooperativeLaunchTooLarge.
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchAttribute attributes[2];
  config.attrs = attributes;
  if (Tile::kClusterSize > 1 || kSplitsAreCluster) attributes[config.numAttrs++] = cluster;
  if (kSplitsExchange) attributes[config.numAttrs++] = cooperative;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace gemmsmith
