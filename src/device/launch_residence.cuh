// The host's side of kernels whose CTAs wait for each other. Compiled by nvcc only.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// cudaErrorCooperativeLaunchTooLarge where the device that is current now cannot hold the whole grid at once: CTAs would
// wait for such that cannot start.
template <class Arguments>
cudaError_t CheckResidence(void (*kernel)(Arguments), dim3 grid, int threads, int smem_bytes) {
  int device = 0, multiprocessors = 0, ctas = 0;
  cudaError_t asked = cudaGetDevice(&device);
  if (asked == cudaSuccess) asked = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (asked == cudaSuccess) asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, smem_bytes);
  if (asked != cudaSuccess) return asked;
  const u64 wanted = u64(grid.x) * grid.y * grid.z;
  return wanted <= u64(multiprocessors) * u64(ctas) ? cudaSuccess : cudaErrorCooperativeLaunchTooLarge;
}

}  // namespace gemmsmith
