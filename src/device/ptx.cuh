// Single instructions: loads and stores of a stated width, conversions, reductions in L2, barriers of some of a CTA's
// threads, chained launches.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// kCount 16-bit elements, packed two to a register (kCount 1: the low half). kReadOnly: through the read-only path, for
// memory that nobody writes while this launch lives; under programmatic launch the one before may still be writing it.
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

// The compiler makes the value here, before a barrier that follows, and not where it is used.
GEMMSMITH_DEVICE void Prepare(int& value) { asm volatile("" : "+r"(value)); }

// The low halves, or the high halves, of two registers.
GEMMSMITH_DEVICE u32 LowHalves(u32 first, u32 second) { return __byte_perm(first, second, 0x5410); }
GEMMSMITH_DEVICE u32 HighHalves(u32 first, u32 second) { return __byte_perm(first, second, 0x7632); }

// Adds kCount neighbouring floats in L2, without an answer. `to` is aligned to the whole access.
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

// Floats that other CTAs wrote, past the first-level cache.
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

// Floats that CTAs hand each other while both run; of four neighbours each is whole, though they may not come together.
GEMMSMITH_DEVICE void StoreShared(float* to, const float (&from)[4]) {
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(from[0]), "f"(from[1]), "f"(from[2]),
               "f"(from[3])
               : "memory");
}
GEMMSMITH_DEVICE void LoadShared(float (&to)[4], const float* from) {
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from)
               : "memory");
}

// Some 50 ns in which the thread asks for nothing.
GEMMSMITH_DEVICE void Pause() { asm volatile("nanosleep.u32 50;" ::: "memory"); }

// Counts an arrival; what this thread, and every thread that met it at a barrier, wrote before is visible to whoever
// counts later.
GEMMSMITH_DEVICE u32 CountArrival(u32* counter) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

GEMMSMITH_DEVICE u32 LoadAcquiring(const u32* from) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

GEMMSMITH_DEVICE u32 SharedAddress(const void* pointer) { return u32(__cvta_generic_to_shared(pointer)); }

// The same lane of a converged warp every time, in a form that lets the compiler issue single-thread instructions
// plainly (a test of threadIdx.x puts a loop around each TMA operation).
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

// Counts as having come to a barrier where others wait.
template <int kThreads>
GEMMSMITH_DEVICE void ArriveAt(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

// ---- registers of a warpgroup, all of whose threads call: from what the kernel was compiled for to this many ----

template <int kRegisters>
GEMMSMITH_DEVICE void GiveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
GEMMSMITH_DEVICE void TakeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Whether this launch has an odd number. PTX promises no more than a launch's number in its context; as seen, kernels that
// follow each other in a stream or in a graph, whichever they are, are numbered one by one (H100, CUDA 13.0).
GEMMSMITH_DEVICE bool IsOddLaunch() {
  u64 number;
  asm("mov.u64 %0, %%gridid;" : "=l"(number));
  return number % 2 == 1;
}

// ---- programmatic dependent launch: both do nothing in a launch without that attribute ----

// Returns when the launch before this one has ended and its writes are visible. Before it nothing that a launch may
// have written, workspace and C included, may be touched.
GEMMSMITH_DEVICE void WaitForLaunchBefore() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The same, and not before `made`, which is never 0, is there. What can be made ready costs nothing before the wait, but
// ptxas (CUDA 13.0) puts it behind where nothing holds it.
GEMMSMITH_DEVICE void WaitForLaunchBefore(u64 made) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; setp.ne.u64 p, %0, 0; @p griddepcontrol.wait; }" ::"l"(made) : "memory");
#endif
}
// From here on the CTAs of the next launch may take the place that this one leaves free.
GEMMSMITH_DEVICE void LetNextLaunchStart() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace gemmsmith
