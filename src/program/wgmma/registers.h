// Registers of a wgmma kernel: the limit of a thread, and what it needs beside its sums.
#pragma once

#include <algorithm>

#include "device/geometry.h"

namespace gemmsmith {

inline constexpr int kMaxRegisters = 255;
// ptxas (CUDA 13.0) allocates to whole warpgroups, in multiples of 8.
inline int RegisterLimit(int threads) {
  return std::min(kMaxRegisters, 65536 / (CeilDivide(threads, 128) * 128) / 8 * 8);
}

// Addresses, descriptors, counters beside the sums; ptxas has the last word (compile/binary.h).
inline constexpr int kOtherRegisters = 40;
// The same for lean kernels: cooperative 256x208 with boxes and three stages compiles without local memory (102 plans).
// Two stages, swapped roles or a row-major B spill 8 to 24 bytes a thread, and 256x216 spills 1.3 KB (CUDA 13.0).
inline constexpr int kLeastOtherRegisters = 32, kStagesOfLean = 3;
// The same where swapped roles read a column-major A in panels of 16 rows: with 40, tiles of 176 and of 240 rows
// spilled 8 bytes a thread (CUDA 13.0).
inline constexpr int kOtherRegistersOfNarrowA = 49;
// The same beside the sums of one instruction, which must be compiled whatever setmaxnreg gives later: 240 columns in a
// CTA of 512 threads end in C7602 (CUDA 13.0).
inline constexpr int kOtherRegistersOfInstruction = 26;

}  // namespace gemmsmith
