// Matrices as the judge's kernels see them. cmake/EmbedHarness.cmake puts this text into harness.cu. operands.h
// declares the same struct.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

enum ElementType { kF16 = 0, kBf16 = 1, kF32 = 2 };

// `lines` contiguous runs of `line_length` elements, `stride` elements apart; a line is a row or a column.
struct Matrix {
  void* data;
  i64 lines, line_length, stride;
  int lines_are_rows;
  int type;
};

__device__ float Widen(u16 bits, int type) {
  if (type == kBf16) return __uint_as_float(u32(bits) << 16);
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
