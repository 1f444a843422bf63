// Moments in the life of a CTA, for a build that is made to be looked at (src/evaluate/latency_gpu_test.cc puts
// GEMMSMITH_STAMPS before the kernel's text). In any other build Stamp() is nothing and leaves no code.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// In the order in which a CTA passes them; not every kernel has all.
enum class Moment {
  kStarted,
  kReady,       // barriers and addresses stand, the launch before has ended
  kOrdered,     // the first loads are on their way
  kLoaded,      // the first stage has come
  kMultiplied,  // the last matrix instruction has been issued, or has ended
  kSent,        // the sums are on their way to the other splits
  kMet,         // the totals are here
  kStored,      // C is on its way
};
inline constexpr int kMoments = 8;

#ifdef GEMMSMITH_STAMPS
inline constexpr bool kTakesStamps = true;
#else
inline constexpr bool kTakesStamps = false;
#endif

// By one thread of a CTA for each moment. GEMMSMITH_STAMPS: the byte of the workspace from which on each CTA has two words
// a moment, the device's clock in nanoseconds and its multiprocessor's in cycles.
GEMMSMITH_DEVICE void Stamp(const GemmArguments& arguments, Moment moment, bool is_chosen) {
#ifdef GEMMSMITH_STAMPS
  if (!is_chosen) return;
  const u64 cta = (u64(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  char* to = static_cast<char*>(arguments.workspace) + GEMMSMITH_STAMPS + (cta * kMoments + int(moment)) * 16;
  u64 ns, cycles;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  asm volatile("st.global.v2.u64 [%0], {%1,%2};" ::"l"(to), "l"(ns), "l"(cycles) : "memory");
#endif
}

}  // namespace gemmsmith
