// Clusters of CTAs: their barrier, and access to each other's shared memory.
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
GEMMSMITH_DEVICE void ArriveAtCluster() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
GEMMSMITH_DEVICE void WaitForCluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
GEMMSMITH_DEVICE void MeetClusterWithoutMemory() {
  ArriveAtCluster();
  WaitForCluster();
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

// Which CTA of its cluster this is.
GEMMSMITH_DEVICE u32 ThisRankInCluster() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// From registers into the shared memory of a CTA of the cluster, whose barrier there counts the bytes in; both addresses
// are as SharedAddressOf() gives them. Nothing is waited for: the sender may end before they have come.
GEMMSMITH_DEVICE void SendInCluster(u32 to, const float (&values)[4], u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(to),
               "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3]), "r"(barrier)
               : "memory");
}
GEMMSMITH_DEVICE void SendInCluster(u32 to, const float (&values)[2], u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1,%2}, [%3];" ::"r"(to),
               "f"(values[0]), "f"(values[1]), "r"(barrier)
               : "memory");
}

}  // namespace gemmsmith
