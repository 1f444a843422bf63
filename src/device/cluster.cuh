// Clusters of CTAs: their barrier, and access to each other's shared memory.
#pragma once

#include "ptx.cuh"

namespace gemmsmith {

// Every thread of the cluster arrives. This orders no memory accesses: a release would cost a fence of the whole GPU
// (MEMBAR.ALL.GPU, CUDA 13.0). Barriers that PublishBarriers() published are visible after the wait all the same.
GEMMSMITH_DEVICE void ArriveAtCluster() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
GEMMSMITH_DEVICE void WaitForCluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
GEMMSMITH_DEVICE void MeetCluster() {
  ArriveAtCluster();
  WaitForCluster();
}

// The address, valid throughout the cluster, of the same offset in the shared memory of CTA `rank`.
GEMMSMITH_DEVICE u32 SharedAddressOf(int rank, u32 address) {
  u32 mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

GEMMSMITH_DEVICE u32 ThisRankInCluster() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

GEMMSMITH_DEVICE void LoadFromShared(float (&to)[4], u32 from) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from)
               : "memory");
}
GEMMSMITH_DEVICE void LoadFromShared(float (&to)[2], u32 from) {
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from) : "memory");
}

// Stores registers in the shared memory of another CTA, whose barrier counts the bytes. SharedAddressOf() gives both
// addresses. Does not wait: the sender may end before the bytes arrive.
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
