// Warp-level matrix instruction mma.sync.m16n8k16 (sm_80 and later).
//
// With lane = 4 * g + t, a lane holds
//   A: rows g and g + 8, k slots 2t, 2t+1 (registers 0, 1) and 2t+8, 2t+9 (registers 2, 3)
//   B: column g, k slots 2t, 2t+1 (register 0) and 2t+8, 2t+9 (register 1)
//   C: rows g (0, 1) and g + 8 (2, 3), columns 2t and 2t+1; in f16 these pairs
// The order of k does not change the sum. So any bijection of k onto slots serves, if A and B use the same one.
#pragma once

#include "types.cuh"

namespace gemmsmith {

template <class Type>
GEMMSMITH_DEVICE void Mma16816(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (IsSame<Type, F16>::value)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class Type>
GEMMSMITH_DEVICE void Mma16816(u32 (&c)[2], const u32 (&a)[4], const u32 (&b)[2]) {
  static_assert(IsSame<Type, F16>::value, "only products of f16 are added in f16");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(c[0]), "+r"(c[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace gemmsmith
