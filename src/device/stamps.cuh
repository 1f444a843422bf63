// Time stamps of a CTA, in builds for latency measurements: src/evaluate/latency_gpu_test.cc defines GEMMSMITH_STAMPS
// before the kernel's text. In other builds Stamp() compiles to nothing.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// In the order in which a CTA reaches them. Not every kernel has all.
enum class Moment {
  kStarted,
  kReady,       // barriers and addresses are ready, the launch before has ended
  kOrdered,     // the first copies are ordered
  kLoaded,      // the first stage is full
  kMultiplied,  // the last matrix instruction has been issued, or has ended
  kSent,        // the sums are sent to the other splits
  kMet,         // the totals have arrived
  kStored,      // the stores of C are issued
};
inline constexpr int kMoments = 8;

#ifdef GEMMSMITH_STAMPS
inline constexpr bool kTakesStamps = true;
#else
inline constexpr bool kTakesStamps = false;
#endif

// One thread of a CTA stamps each moment. GEMMSMITH_STAMPS is a byte offset in the workspace. From there each CTA has
// two words a moment: the device's clock in nanoseconds, the multiprocessor's in cycles.
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
