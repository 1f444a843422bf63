// Accumulators of matrix instructions: an f32 each, or pairs of f16 where the problem accumulates in f16. Epilogues and
// reductions take f32 only.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// Sum: float or F16.
template <class Sum, int kSums>
using AccumulatorsOf = typename Conditional<IsSame<Sum, F16>::value, u32[kSums / 2], float[kSums]>::Type;

template <int kSums>
GEMMSMITH_DEVICE void Widen(const float (&accumulators)[kSums], float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) sums[i] = accumulators[i];
}
template <int kPairs>
GEMMSMITH_DEVICE void Widen(const u32 (&accumulators)[kPairs], float (&sums)[2 * kPairs]) {
#pragma unroll
  for (int i = 0; i < kPairs; ++i)
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(sums[2 * i]), "=f"(sums[2 * i + 1])
        : "r"(accumulators[i]));
}

}  // namespace gemmsmith
