// Registers of a wgmma kernel: how many a thread may have, and what it needs beside its sums.
#pragma once

#include <algorithm>

#include "program/axes.h"

namespace gemmsmith {

inline constexpr int kMaxRegisters = 255;
// As ptxas (CUDA 13.0) hands them out: to whole warpgroups, in multiples of 8.
inline int RegisterLimit(int threads) {
  return std::min(kMaxRegisters, 65536 / (CeilDivide(threads, 128) * 128) / 8 * 8);
}

// Addresses, descriptors, counters beside the sums; ptxas has the last word (compile/binary.h).
inline constexpr int kOtherRegisters = 40;
// The same where less is known to suffice: cooperative 256x208 with boxes and three stages compiles without local
// memory (102 plans), with two stages, swapped roles or a row-major B now and then with 8 to 24 bytes a thread, and
// 256x216 spills 1.3 KB (CUDA 13.0).
inline constexpr int kLeastOtherRegisters = 32, kStagesOfLean = 3;
// Beside the sums of those that order the copies, too: 256x208 and 192x240 with a row-major B in clusters spilled 8 to
// 24 bytes with 40 and 48 (11 of 73 plans at the limit); lean ones of 192x256 and 256x216 none (CUDA 13.0).
inline constexpr int kOtherRegistersUnaided = 56;
// The same beside those of one matrix instruction, which it must be compiled with, whatever setmaxnreg gives later:
// 240 columns in a CTA of 512 threads end in C7602 (CUDA 13.0).
inline constexpr int kOtherRegistersOfInstruction = 26;

}  // namespace gemmsmith
