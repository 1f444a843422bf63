// Clusters of CTAs: their barrier, and loads from each other's shared memory.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

// Every thread of the cluster that has not ended arrives; what was written to shared memory before is visible behind.
GEMMSMITH_DEVICE void MeetCluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same without memory: what is ordered is only that all have come this far. A release costs a fence of the whole GPU
// (MEMBAR.ALL.GPU, CUDA 13.0). Barriers in shared memory that PublishBarriers() made known are seen behind all the same.
GEMMSMITH_DEVICE void MeetClusterWithoutMemory() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The address, valid throughout the cluster, of the same place in the shared memory of CTA `rank`.
GEMMSMITH_DEVICE u32 SharedAddressOf(int rank, u32 address) {
  u32 mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

GEMMSMITH_DEVICE u32 LoadWordFromCluster(u32 address) {
  u32 word;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}

GEMMSMITH_DEVICE void LoadFromCluster(float (&to)[4], u32 address) {
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address)
               : "memory");
}

}  // namespace gemmsmith
