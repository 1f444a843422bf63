// Single instructions: loads and stores of a given width, conversions, reductions in L2, named barriers, register
// counts, programmatic dependent launch.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// kCount 16-bit elements, packed two to a register (kCount 1: the low half). kReadOnly takes the read-only path, for
// memory that nothing writes during this launch. Under programmatic dependent launch the launch before may still write
// it.
template <int kCount, bool kReadOnly>
GEMMSMITH_DEVICE void Load(u32 (&to)[(kCount + 1) / 2], const u16* from) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4 || kCount == 8, "one access holds 1, 2, 4 or 8 elements");
  if constexpr (kCount == 8) {
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "l"(from));
    else
      asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "l"(from)
                   : "memory");
  } else if constexpr (kCount == 4) {
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.v2.u32 {%0,%1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(from));
    else
      asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(from) : "memory");
  } else if constexpr (kCount == 2) {
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(to[0]) : "l"(from));
    else
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(to[0]) : "l"(from) : "memory");
  } else {
    u16 element;
    if constexpr (kReadOnly)
      asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(element) : "l"(from));
    else
      asm volatile("ld.global.u16 %0, [%1];" : "=h"(element) : "l"(from) : "memory");
    to[0] = element;
  }
}

template <int kCount>
GEMMSMITH_DEVICE void Store(u16* to, const u32 (&from)[(kCount + 1) / 2]) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4 || kCount == 8, "one access holds 1, 2, 4 or 8 elements");
  if constexpr (kCount == 8) {
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]),
                 "r"(from[3])
                 : "memory");
  } else if constexpr (kCount == 4) {
    asm volatile("st.global.v2.u32 [%0], {%1,%2};" ::"l"(to), "r"(from[0]), "r"(from[1]) : "memory");
  } else if constexpr (kCount == 2) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(from[0]) : "memory");
  } else {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(to), "h"(u16(from[0])) : "memory");
  }
}

// Two floats to one register of two 16-bit values, `low` in the low half, rounded to nearest even.
template <class Type>
GEMMSMITH_DEVICE u32 Pack(float low, float high) {
  u32 packed;
  if constexpr (IsSame<Type, F16>::value)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// Makes the compiler compute the value here, before a barrier that follows, not at its use.
GEMMSMITH_DEVICE void Prepare(int& value) { asm volatile("" : "+r"(value)); }

// The low halves, or the high halves, of two registers.
GEMMSMITH_DEVICE u32 LowHalves(u32 first, u32 second) { return __byte_perm(first, second, 0x5410); }
GEMMSMITH_DEVICE u32 HighHalves(u32 first, u32 second) { return __byte_perm(first, second, 0x7632); }

// Adds kCount neighbouring floats in L2 and returns nothing. `to` is aligned to the access.
template <int kCount>
GEMMSMITH_DEVICE void AddInL2(float* to, const float (&values)[kCount]) {
  static_assert(kCount % 2 == 0, "pairs");
#if __CUDA_ARCH__ >= 900
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to + i), "f"(values[i]),
                   "f"(values[i + 1]), "f"(values[i + 2]), "f"(values[i + 3])
                   : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1,%2};" ::"l"(to + i), "f"(values[i]), "f"(values[i + 1])
                   : "memory");
  }
#else
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(to + i), "f"(values[i]) : "memory");
#endif
}

// Loads floats that other CTAs wrote, past L1.
template <int kCount>
GEMMSMITH_DEVICE void LoadFromL2(float (&to)[kCount], const float* from) {
  static_assert(kCount % 2 == 0, "pairs");
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(to[i]), "=f"(to[i + 1]), "=f"(to[i + 2]), "=f"(to[i + 3])
                   : "l"(from + i)
                   : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      asm volatile("ld.global.cg.v2.f32 {%0,%1}, [%2];" : "=f"(to[i]), "=f"(to[i + 1]) : "l"(from + i) : "memory");
  }
}

template <int kCount>
GEMMSMITH_DEVICE void StoreToL2(float* to, const float (&from)[kCount]) {
  static_assert(kCount % 2 == 0, "pairs");
  if constexpr (kCount % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      asm volatile("st.global.cg.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to + i), "f"(from[i]), "f"(from[i + 1]),
                   "f"(from[i + 2]), "f"(from[i + 3])
                   : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i += 2)
      asm volatile("st.global.cg.v2.f32 [%0], {%1,%2};" ::"l"(to + i), "f"(from[i]), "f"(from[i + 1]) : "memory");
  }
}

// Floats that CTAs exchange while both run. Each of the four is whole, but they may arrive one by one.
GEMMSMITH_DEVICE void StoreRelaxed(float* to, const float (&from)[4]) {
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(from[0]), "f"(from[1]), "f"(from[2]),
               "f"(from[3])
               : "memory");
}
GEMMSMITH_DEVICE void LoadRelaxed(float (&to)[4], const float* from) {
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from)
               : "memory");
}

// About 50 ns without a memory access.
GEMMSMITH_DEVICE void Pause() { asm volatile("nanosleep.u32 50;" ::: "memory"); }

// Counts an arrival and returns the count before it. A later arriver sees all writes of this thread, and of all threads
// that met it at a barrier before.
GEMMSMITH_DEVICE u32 CountArrival(u32* counter) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

GEMMSMITH_DEVICE u32 SharedAddress(const void* pointer) { return u32(__cvta_generic_to_shared(pointer)); }

// True in one lane of a converged warp, the same one every time. A test of threadIdx.x instead makes ptxas put a loop
// around each TMA operation.
GEMMSMITH_DEVICE bool ElectLane() {
  u32 elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected;
}

// Barrier of the first kThreads threads that come to it; barrier 0 is __syncthreads().
template <int kThreads>
GEMMSMITH_DEVICE void MeetThreads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

// Arrives at a barrier without waiting.
template <int kThreads>
GEMMSMITH_DEVICE void ArriveAt(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

// ---- registers: all threads of a warpgroup change the count that the kernel was compiled for ----

template <int kRegisters>
GEMMSMITH_DEVICE void GiveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
GEMMSMITH_DEVICE void TakeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---- programmatic dependent launch: no effect in a launch without that attribute ----

// Returns when the launch before has ended and its writes are visible. A kernel touches no global memory before this,
// workspace and C included.
GEMMSMITH_DEVICE void WaitForLaunchBefore() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The same, after `computed`, which is never 0. ptxas (CUDA 13.0) otherwise moves address arithmetic behind the wait,
// where it costs time.
GEMMSMITH_DEVICE void WaitForLaunchBefore(u64 computed) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; setp.ne.u64 p, %0, 0; @p griddepcontrol.wait; }" ::"l"(computed) : "memory");
#endif
}
// Lets CTAs of the next launch take resources that this one leaves free.
GEMMSMITH_DEVICE void LetNextLaunchStart() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace gemmsmith
