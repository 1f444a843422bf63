// Warpgroup-level matrix instruction wgmma.m64nNk16, both operands in shared memory (sm_90a).
//
// With warp w of the warpgroup and lane = 4 * g + t, a thread holds these sums for every 8 columns j:
//   sums[4j], sums[4j + 1]      row 16w + g,     columns 8j + 2t and 8j + 2t + 1
//   sums[4j + 2], sums[4j + 3]  row 16w + g + 8, the same columns
// An f32 sum has a register of its own; f16 sums share one in these pairs.
#pragma once

#include "types.cuh"

namespace gemmsmith {

// ---- descriptor of an operand in shared memory ----

// 64 bits: address, distance between panels (read only where panels lie side by side in m or n), distance between
// groups of 8 lines, swizzle. Addresses and distances are in units of 16 bytes.
template <int kLineBytes>
GEMMSMITH_DEVICE u64 OperandDescriptor(u32 address, int panel_bytes) {
  static_assert(kLineBytes == 128 || kLineBytes == 64 || kLineBytes == 32, "the swizzles that panels have");
  constexpr u64 kSwizzle = kLineBytes == 128 ? 1 : kLineBytes == 64 ? 2 : 3;
  return u64((address & 0x3ffff) >> 4) | u64(panel_bytes >> 4) << 16 | u64(8 * kLineBytes >> 4) << 32 | kSwizzle << 62;
}
// The descriptor of the same operand, `bytes` further on.
GEMMSMITH_DEVICE u64 Advance(u64 descriptor, int bytes) { return descriptor + u64(bytes >> 4); }

// ---- order ----

// Before the first instruction of a group: orders earlier accesses to the registers of the sums and to shared memory.
GEMMSMITH_DEVICE void FenceWgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GEMMSMITH_DEVICE void CommitWgmma() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most kPending groups are in flight.
template <int kPending>
GEMMSMITH_DEVICE void WaitWgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// Keeps the compiler from moving reads of the sums before the wait.
template <int kCount>
GEMMSMITH_DEVICE void SettleSums(float (&sums)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
template <int kCount>
GEMMSMITH_DEVICE void SettleSums(u32 (&pairs)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(pairs[i])::"memory");
}

// ---- the instruction ----

// sums = a * b + (add ? sums : 0). Sum: float, or F16 where Type is F16. kColumns: 8 ... 256 by 8. kAcrossA, kAcrossB:
// the operand's panels hold lines across k (of rows of a, of columns of b) instead of lines of k.
template <class Type, class Sum, bool kAcrossA, bool kAcrossB, int kColumns>
struct Wgmma;

// The text names each register by its number: "%0,%1,...". GEMMSMITH_10(t) is %t0 ... %t9.
#define GEMMSMITH_4(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3"
#define GEMMSMITH_8(t) GEMMSMITH_4(t) ",%" #t "4,%" #t "5,%" #t "6,%" #t "7"
#define GEMMSMITH_10(t) GEMMSMITH_8(t) ",%" #t "8,%" #t "9"
#define GEMMSMITH_2(t) "%" #t "0,%" #t "1"
#define GEMMSMITH_6(t) GEMMSMITH_4(t) ",%" #t "4,%" #t "5"
#define GEMMSMITH_FIRST_10 GEMMSMITH_10()
#define GEMMSMITH_FIRST_20 GEMMSMITH_FIRST_10 "," GEMMSMITH_10(1)
#define GEMMSMITH_FIRST_30 GEMMSMITH_FIRST_20 "," GEMMSMITH_10(2)
#define GEMMSMITH_FIRST_40 GEMMSMITH_FIRST_30 "," GEMMSMITH_10(3)
#define GEMMSMITH_FIRST_50 GEMMSMITH_FIRST_40 "," GEMMSMITH_10(4)
#define GEMMSMITH_FIRST_60 GEMMSMITH_FIRST_50 "," GEMMSMITH_10(5)
#define GEMMSMITH_FIRST_70 GEMMSMITH_FIRST_60 "," GEMMSMITH_10(6)
#define GEMMSMITH_FIRST_80 GEMMSMITH_FIRST_70 "," GEMMSMITH_10(7)
#define GEMMSMITH_FIRST_90 GEMMSMITH_FIRST_80 "," GEMMSMITH_10(8)
#define GEMMSMITH_FIRST_100 GEMMSMITH_FIRST_90 "," GEMMSMITH_10(9)
#define GEMMSMITH_FIRST_110 GEMMSMITH_FIRST_100 "," GEMMSMITH_10(10)
#define GEMMSMITH_FIRST_120 GEMMSMITH_FIRST_110 "," GEMMSMITH_10(11)
#define GEMMSMITH_SUMS_2(SUM, i) SUM(sums[i]), SUM(sums[i + 1])
#define GEMMSMITH_SUMS_4(SUM, i) GEMMSMITH_SUMS_2(SUM, i), GEMMSMITH_SUMS_2(SUM, i + 2)
#define GEMMSMITH_SUMS_8(SUM, i) GEMMSMITH_SUMS_4(SUM, i), GEMMSMITH_SUMS_4(SUM, i + 4)
#define GEMMSMITH_SUMS_16(SUM, i) GEMMSMITH_SUMS_8(SUM, i), GEMMSMITH_SUMS_8(SUM, i + 8)
#define GEMMSMITH_SUMS_32(SUM, i) GEMMSMITH_SUMS_16(SUM, i), GEMMSMITH_SUMS_16(SUM, i + 16)
#define GEMMSMITH_SUMS_64(SUM, i) GEMMSMITH_SUMS_32(SUM, i), GEMMSMITH_SUMS_32(SUM, i + 32)
// clang-format off
#define GEMMSMITH_WGMMA_TEXT(N, TYPES, REGISTERS, A, B, ADD, ACROSS_A, ACROSS_B)                                       \
  "{ .reg .pred p; setp.ne.b32 p, %" #ADD ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16." TYPES                     \
  " {" REGISTERS "}, %" #A ", %" #B ", p, 1, 1, %" #ACROSS_A ", %" #ACROSS_B "; }"
#define GEMMSMITH_WGMMA_TO_F32(N, WITH_F16, A, B, ADD, ACROSS_A, ACROSS_B, REGISTERS, ...)                             \
  template <class Type, bool kAcrossA, bool kAcrossB>                                                                  \
  struct Wgmma<Type, float, kAcrossA, kAcrossB, N> {                                                                   \
    static GEMMSMITH_DEVICE void MultiplyAdd(float (&sums)[N / 2], u64 a, u64 b, int add) {                            \
      if constexpr (IsSame<Type, F16>::value)                                                                          \
        asm volatile(GEMMSMITH_WGMMA_TEXT(N, "f32.f16.f16", REGISTERS, A, B, ADD, ACROSS_A, ACROSS_B)                  \
                     : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(int(kAcrossA)), "n"(int(kAcrossB)));                \
      else                                                                                                             \
        asm volatile(GEMMSMITH_WGMMA_TEXT(N, "f32.bf16.bf16", REGISTERS, A, B, ADD, ACROSS_A, ACROSS_B)                \
                     : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(int(kAcrossA)), "n"(int(kAcrossB)));                \
    }                                                                                                                  \
  };
#define GEMMSMITH_WGMMA_TO_F16(WITH_F32, N, A, B, ADD, ACROSS_A, ACROSS_B, REGISTERS, ...)                             \
  template <bool kAcrossA, bool kAcrossB>                                                                              \
  struct Wgmma<F16, F16, kAcrossA, kAcrossB, N> {                                                                      \
    static GEMMSMITH_DEVICE void MultiplyAdd(u32 (&sums)[N / 4], u64 a, u64 b, int add) {                              \
      asm volatile(GEMMSMITH_WGMMA_TEXT(N, "f16.f16.f16", REGISTERS, A, B, ADD, ACROSS_A, ACROSS_B)                    \
                   : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(int(kAcrossA)), "n"(int(kAcrossB)));                  \
    }                                                                                                                  \
  };
// A row for each number of registers that sums may take: the width with f32 sums, the width with f16 sums, the numbers of
// the operands behind the sums, the registers' text, and the sums.
#define GEMMSMITH_EACH_OF_BOTH(WGMMA, SUM) \
  WGMMA(8, 16, 4, 5, 6, 7, 8, GEMMSMITH_4(), GEMMSMITH_SUMS_4(SUM, 0)) \
  WGMMA(16, 32, 8, 9, 10, 11, 12, GEMMSMITH_8(), GEMMSMITH_SUMS_8(SUM, 0)) \
  WGMMA(24, 48, 12, 13, 14, 15, 16, GEMMSMITH_FIRST_10 "," GEMMSMITH_2(1), GEMMSMITH_SUMS_8(SUM, 0), GEMMSMITH_SUMS_4(SUM, 8)) \
  WGMMA(32, 64, 16, 17, 18, 19, 20, GEMMSMITH_FIRST_10 "," GEMMSMITH_6(1), GEMMSMITH_SUMS_16(SUM, 0)) \
  WGMMA(40, 80, 20, 21, 22, 23, 24, GEMMSMITH_FIRST_20, GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_4(SUM, 16)) \
  WGMMA(48, 96, 24, 25, 26, 27, 28, GEMMSMITH_FIRST_20 "," GEMMSMITH_4(2), GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_8(SUM, 16)) \
  WGMMA(56, 112, 28, 29, 30, 31, 32, GEMMSMITH_FIRST_20 "," GEMMSMITH_8(2), GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_8(SUM, 16), GEMMSMITH_SUMS_4(SUM, 24)) \
  WGMMA(64, 128, 32, 33, 34, 35, 36, GEMMSMITH_FIRST_30 "," GEMMSMITH_2(3), GEMMSMITH_SUMS_32(SUM, 0)) \
  WGMMA(72, 144, 36, 37, 38, 39, 40, GEMMSMITH_FIRST_30 "," GEMMSMITH_6(3), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_4(SUM, 32)) \
  WGMMA(80, 160, 40, 41, 42, 43, 44, GEMMSMITH_FIRST_40, GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_8(SUM, 32)) \
  WGMMA(88, 176, 44, 45, 46, 47, 48, GEMMSMITH_FIRST_40 "," GEMMSMITH_4(4), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_8(SUM, 32), GEMMSMITH_SUMS_4(SUM, 40)) \
  WGMMA(96, 192, 48, 49, 50, 51, 52, GEMMSMITH_FIRST_40 "," GEMMSMITH_8(4), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32)) \
  WGMMA(104, 208, 52, 53, 54, 55, 56, GEMMSMITH_FIRST_50 "," GEMMSMITH_2(5), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_4(SUM, 48)) \
  WGMMA(112, 224, 56, 57, 58, 59, 60, GEMMSMITH_FIRST_50 "," GEMMSMITH_6(5), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_8(SUM, 48)) \
  WGMMA(120, 240, 60, 61, 62, 63, 64, GEMMSMITH_FIRST_60, GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_8(SUM, 48), GEMMSMITH_SUMS_4(SUM, 56)) \
  WGMMA(128, 256, 64, 65, 66, 67, 68, GEMMSMITH_FIRST_60 "," GEMMSMITH_4(6), GEMMSMITH_SUMS_64(SUM, 0))
#define GEMMSMITH_EACH_OF_F32_ALONE(WGMMA, SUM) \
  WGMMA(136, , 68, 69, 70, 71, 72, GEMMSMITH_FIRST_60 "," GEMMSMITH_8(6), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_4(SUM, 64)) \
  WGMMA(144, , 72, 73, 74, 75, 76, GEMMSMITH_FIRST_70 "," GEMMSMITH_2(7), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_8(SUM, 64)) \
  WGMMA(152, , 76, 77, 78, 79, 80, GEMMSMITH_FIRST_70 "," GEMMSMITH_6(7), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_8(SUM, 64), GEMMSMITH_SUMS_4(SUM, 72)) \
  WGMMA(160, , 80, 81, 82, 83, 84, GEMMSMITH_FIRST_80, GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_16(SUM, 64)) \
  WGMMA(168, , 84, 85, 86, 87, 88, GEMMSMITH_FIRST_80 "," GEMMSMITH_4(8), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_16(SUM, 64), GEMMSMITH_SUMS_4(SUM, 80)) \
  WGMMA(176, , 88, 89, 90, 91, 92, GEMMSMITH_FIRST_80 "," GEMMSMITH_8(8), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_16(SUM, 64), GEMMSMITH_SUMS_8(SUM, 80)) \
  WGMMA(184, , 92, 93, 94, 95, 96, GEMMSMITH_FIRST_90 "," GEMMSMITH_2(9), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_16(SUM, 64), GEMMSMITH_SUMS_8(SUM, 80), GEMMSMITH_SUMS_4(SUM, 88)) \
  WGMMA(192, , 96, 97, 98, 99, 100, GEMMSMITH_FIRST_90 "," GEMMSMITH_6(9), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64)) \
  WGMMA(200, , 100, 101, 102, 103, 104, GEMMSMITH_FIRST_100, GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_4(SUM, 96)) \
  WGMMA(208, , 104, 105, 106, 107, 108, GEMMSMITH_FIRST_100 "," GEMMSMITH_4(10), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_8(SUM, 96)) \
  WGMMA(216, , 108, 109, 110, 111, 112, GEMMSMITH_FIRST_100 "," GEMMSMITH_8(10), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_8(SUM, 96), GEMMSMITH_SUMS_4(SUM, 104)) \
  WGMMA(224, , 112, 113, 114, 115, 116, GEMMSMITH_FIRST_110 "," GEMMSMITH_2(11), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_16(SUM, 96)) \
  WGMMA(232, , 116, 117, 118, 119, 120, GEMMSMITH_FIRST_110 "," GEMMSMITH_6(11), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_16(SUM, 96), GEMMSMITH_SUMS_4(SUM, 112)) \
  WGMMA(240, , 120, 121, 122, 123, 124, GEMMSMITH_FIRST_120, GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_16(SUM, 96), GEMMSMITH_SUMS_8(SUM, 112)) \
  WGMMA(248, , 124, 125, 126, 127, 128, GEMMSMITH_FIRST_120 "," GEMMSMITH_4(12), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_32(SUM, 64), GEMMSMITH_SUMS_16(SUM, 96), GEMMSMITH_SUMS_8(SUM, 112), GEMMSMITH_SUMS_4(SUM, 120)) \
  WGMMA(256, , 128, 129, 130, 131, 132, GEMMSMITH_FIRST_120 "," GEMMSMITH_8(12), GEMMSMITH_SUMS_64(SUM, 0), GEMMSMITH_SUMS_64(SUM, 64))
#define GEMMSMITH_EACH_OF_F16_ALONE(WGMMA, SUM) \
  WGMMA(, 8, 2, 3, 4, 5, 6, GEMMSMITH_2(), GEMMSMITH_SUMS_2(SUM, 0)) \
  WGMMA(, 24, 6, 7, 8, 9, 10, GEMMSMITH_6(), GEMMSMITH_SUMS_4(SUM, 0), GEMMSMITH_SUMS_2(SUM, 4)) \
  WGMMA(, 40, 10, 11, 12, 13, 14, GEMMSMITH_FIRST_10, GEMMSMITH_SUMS_8(SUM, 0), GEMMSMITH_SUMS_2(SUM, 8)) \
  WGMMA(, 56, 14, 15, 16, 17, 18, GEMMSMITH_FIRST_10 "," GEMMSMITH_4(1), GEMMSMITH_SUMS_8(SUM, 0), GEMMSMITH_SUMS_4(SUM, 8), GEMMSMITH_SUMS_2(SUM, 12)) \
  WGMMA(, 72, 18, 19, 20, 21, 22, GEMMSMITH_FIRST_10 "," GEMMSMITH_8(1), GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_2(SUM, 16)) \
  WGMMA(, 88, 22, 23, 24, 25, 26, GEMMSMITH_FIRST_20 "," GEMMSMITH_2(2), GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_4(SUM, 16), GEMMSMITH_SUMS_2(SUM, 20)) \
  WGMMA(, 104, 26, 27, 28, 29, 30, GEMMSMITH_FIRST_20 "," GEMMSMITH_6(2), GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_8(SUM, 16), GEMMSMITH_SUMS_2(SUM, 24)) \
  WGMMA(, 120, 30, 31, 32, 33, 34, GEMMSMITH_FIRST_30, GEMMSMITH_SUMS_16(SUM, 0), GEMMSMITH_SUMS_8(SUM, 16), GEMMSMITH_SUMS_4(SUM, 24), GEMMSMITH_SUMS_2(SUM, 28)) \
  WGMMA(, 136, 34, 35, 36, 37, 38, GEMMSMITH_FIRST_30 "," GEMMSMITH_4(3), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_2(SUM, 32)) \
  WGMMA(, 152, 38, 39, 40, 41, 42, GEMMSMITH_FIRST_30 "," GEMMSMITH_8(3), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_4(SUM, 32), GEMMSMITH_SUMS_2(SUM, 36)) \
  WGMMA(, 168, 42, 43, 44, 45, 46, GEMMSMITH_FIRST_40 "," GEMMSMITH_2(4), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_8(SUM, 32), GEMMSMITH_SUMS_2(SUM, 40)) \
  WGMMA(, 184, 46, 47, 48, 49, 50, GEMMSMITH_FIRST_40 "," GEMMSMITH_6(4), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_8(SUM, 32), GEMMSMITH_SUMS_4(SUM, 40), GEMMSMITH_SUMS_2(SUM, 44)) \
  WGMMA(, 200, 50, 51, 52, 53, 54, GEMMSMITH_FIRST_50, GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_2(SUM, 48)) \
  WGMMA(, 216, 54, 55, 56, 57, 58, GEMMSMITH_FIRST_50 "," GEMMSMITH_4(5), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_4(SUM, 48), GEMMSMITH_SUMS_2(SUM, 52)) \
  WGMMA(, 232, 58, 59, 60, 61, 62, GEMMSMITH_FIRST_50 "," GEMMSMITH_8(5), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_8(SUM, 48), GEMMSMITH_SUMS_2(SUM, 56)) \
  WGMMA(, 248, 62, 63, 64, 65, 66, GEMMSMITH_FIRST_60 "," GEMMSMITH_2(6), GEMMSMITH_SUMS_32(SUM, 0), GEMMSMITH_SUMS_16(SUM, 32), GEMMSMITH_SUMS_8(SUM, 48), GEMMSMITH_SUMS_4(SUM, 56), GEMMSMITH_SUMS_2(SUM, 60))
#define GEMMSMITH_FLOAT(sum) "+f"(sum)
#define GEMMSMITH_PAIR(sum) "+r"(sum)
GEMMSMITH_EACH_OF_BOTH(GEMMSMITH_WGMMA_TO_F32, GEMMSMITH_FLOAT)
GEMMSMITH_EACH_OF_F32_ALONE(GEMMSMITH_WGMMA_TO_F32, GEMMSMITH_FLOAT)
GEMMSMITH_EACH_OF_BOTH(GEMMSMITH_WGMMA_TO_F16, GEMMSMITH_PAIR)
GEMMSMITH_EACH_OF_F16_ALONE(GEMMSMITH_WGMMA_TO_F16, GEMMSMITH_PAIR)
// clang-format on
#undef GEMMSMITH_2
#undef GEMMSMITH_4
#undef GEMMSMITH_6
#undef GEMMSMITH_8
#undef GEMMSMITH_10
#undef GEMMSMITH_FIRST_10
#undef GEMMSMITH_FIRST_20
#undef GEMMSMITH_FIRST_30
#undef GEMMSMITH_FIRST_40
#undef GEMMSMITH_FIRST_50
#undef GEMMSMITH_FIRST_60
#undef GEMMSMITH_FIRST_70
#undef GEMMSMITH_FIRST_80
#undef GEMMSMITH_FIRST_90
#undef GEMMSMITH_FIRST_100
#undef GEMMSMITH_FIRST_110
#undef GEMMSMITH_FIRST_120
#undef GEMMSMITH_SUMS_2
#undef GEMMSMITH_SUMS_4
#undef GEMMSMITH_SUMS_8
#undef GEMMSMITH_SUMS_16
#undef GEMMSMITH_SUMS_32
#undef GEMMSMITH_SUMS_64
#undef GEMMSMITH_WGMMA_TEXT
#undef GEMMSMITH_WGMMA_TO_F32
#undef GEMMSMITH_WGMMA_TO_F16
#undef GEMMSMITH_EACH_OF_BOTH
#undef GEMMSMITH_EACH_OF_F32_ALONE
#undef GEMMSMITH_EACH_OF_F16_ALONE
#undef GEMMSMITH_FLOAT
#undef GEMMSMITH_PAIR

}  // namespace gemmsmith
