// For tests: kernels whose numbers are to be refused, and the same with an f32 accumulator, which are to pass. They
// work with whatever grid and block a plan gives them; the wgmma one needs 128 threads.
#pragma once

#include <fmt/format.h>

#include <string>

#include "program/source.h"

namespace gemmsmith {

inline constexpr const char* kKernelPreface = R"(
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
struct GemmArguments { const u16* a; const u16* b; u16* c; u32* workspace; int m, n, k, lda, ldb, ldc; };
__device__ u16 Narrow(float value) { u16 bits; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); return bits; }
__device__ float Wide(u16 bits) { float value; asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits)); return value; }
// Rows of A or of B (n x k): zero outside.
__device__ u16 At(const u16* from, int rows, int depth, int stride, int row, int k) {
  return row < rows && k < depth ? from[(long long)row * stride + k] : u16(0);
}
__device__ u32 PairAt(const u16* from, int rows, int depth, int stride, int row, int k) {
  return At(from, rows, depth, stride, row, k) | u32(At(from, rows, depth, stride, row, k + 1)) << 16;
}
__device__ void Put(const GemmArguments& g, int row, int column, u16 bits) {
  if (row < g.m && column < g.n) g.c[(long long)row * g.ldc + column] = bits;
}
// Four elements of a thread: [row][column], [row][column + 1], and both 8 rows on.
__device__ void PutHalves(const GemmArguments& g, int row, int column, const u32 (&d)[2]) {
  for (int i = 0; i < 2; ++i) {
    Put(g, row + 8 * i, column, u16(d[i]));
    Put(g, row + 8 * i, column + 1, u16(d[i] >> 16));
  }
}
__device__ void PutFloats(const GemmArguments& g, int row, int column, const float (&d)[4]) {
  for (int i = 0; i < 2; ++i) {
    Put(g, row + 8 * i, column, Narrow(d[2 * i]));
    Put(g, row + 8 * i, column + 1, Narrow(d[2 * i + 1]));
  }
}
__device__ int Block() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
__device__ int Blocks() { return gridDim.x * gridDim.y * gridDim.z; }
)";

// One warp a tile of 16 x 8, by mma.sync, in layout tn and f16.
inline Source MmaKernel(bool wide) {
  constexpr std::string_view kText = R"(
extern "C" __global__ void gemmsmith_gemm(const GemmArguments g) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32, tiles_n = (g.n + 7) / 8, tiles = (g.m + 15) / 16 * tiles_n;
  for (int tile = Block() * warps + threadIdx.x / 32; tile < tiles; tile += Blocks() * warps) {
    const int row = tile / tiles_n * 16 + lane / 4, column = tile % tiles_n * 8;
    ACCUMULATOR
    for (int k = 0; k < g.k; k += 16) {
      const int at = k + lane % 4 * 2;
      const u32 a0 = PairAt(g.a, g.m, g.k, g.lda, row, at), a1 = PairAt(g.a, g.m, g.k, g.lda, row + 8, at);
      const u32 a2 = PairAt(g.a, g.m, g.k, g.lda, row, at + 8), a3 = PairAt(g.a, g.m, g.k, g.lda, row + 8, at + 8);
      const u32 b0 = PairAt(g.b, g.n, g.k, g.ldb, column + lane / 4, at);
      const u32 b1 = PairAt(g.b, g.n, g.k, g.ldb, column + lane / 4, at + 8);
      MULTIPLY
    }
    PUT(g, row, column + lane % 4 * 2, d);
  }
})";
  constexpr std::string_view kNarrow = R"(asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
      "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));)";
  constexpr std::string_view kWide = R"(asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));)";
  std::string text = kKernelPreface + std::string(kText);
  const auto replace = [&](std::string_view mark, std::string_view with) {
    text.replace(text.find(mark), mark.size(), with);
  };
  replace("ACCUMULATOR", wide ? "float d[4] = {};" : "u32 d[2] = {};");
  replace("MULTIPLY", wide ? kWide : kNarrow);
  replace("PUT(g", wide ? "PutFloats(g" : "PutHalves(g");
  return {text, "gemmsmith_gemm"};
}

// 128 threads a tile of 64 x 8, by wgmma from shared memory without a swizzle, in layout tn and f16.
inline Source WgmmaKernel(bool wide) {
  constexpr std::string_view kText = R"(
// Pieces of 8 rows of 16 bytes; neighbours along K are 128 bytes apart, neighbours along the rows 256.
__device__ u64 DescriptorOf(const u16* tile) {
  const u64 address = u64(__cvta_generic_to_shared(tile));
  return (address & 0x3ffff) >> 4 | u64(128 >> 4) << 16 | u64(256 >> 4) << 32;
}
__device__ void Bring(u16* tile, int tile_rows, const u16* from, int rows, int depth, int stride, int row, int k) {
  for (int i = threadIdx.x; i < tile_rows * 16; i += 128) {
    const int r = i / 16, at = i % 16;
    tile[r / 8 * 128 + at / 8 * 64 + r % 8 * 8 + at % 8] = At(from, rows, depth, stride, row + r, k + at);
  }
}
extern "C" __global__ void __launch_bounds__(128) gemmsmith_gemm(const GemmArguments g) {
  __shared__ __align__(1024) u16 a_tile[64 * 16];
  __shared__ __align__(1024) u16 b_tile[8 * 16];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tiles_n = (g.n + 7) / 8, tiles = (g.m + 63) / 64 * tiles_n;
  for (int tile = Block(); tile < tiles; tile += Blocks()) {
    const int row = tile / tiles_n * 64, column = tile % tiles_n * 8;
    ACCUMULATOR
    for (int k = 0; k < g.k; k += 16) {
      __syncthreads();
      Bring(a_tile, 64, g.a, g.m, g.k, g.lda, row, k);
      Bring(b_tile, 8, g.b, g.n, g.k, g.ldb, column, k);
      asm volatile("fence.proxy.async;" ::: "memory");
      __syncthreads();
      const u64 a = DescriptorOf(a_tile), b = DescriptorOf(b_tile);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      MULTIPLY
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    PUT(g, row + warp * 16 + lane / 4, column + lane % 4 * 2, d);
  }
})";
  constexpr std::string_view kNarrow = R"(asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 "
      "{%0, %1}, %2, %3, 1, 1, 1, 0, 0;" : "+r"(d[0]), "+r"(d[1]) : "l"(a), "l"(b));)";
  constexpr std::string_view kWide = R"(asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));)";
  std::string text = kKernelPreface + std::string(kText);
  const auto replace = [&](std::string_view mark, std::string_view with) {
    text.replace(text.find(mark), mark.size(), with);
  };
  replace("ACCUMULATOR", wide ? "float d[4] = {};" : "u32 d[2] = {};");
  replace("MULTIPLY", wide ? kWide : kNarrow);
  replace("PUT(g", wide ? "PutFloats(g" : "PutHalves(g");
  return {text, "gemmsmith_gemm"};
}

// One thread an element, every sum rounded to f16; or the partial sums of blocks of K in f16 and their sum in f32; or
// all in f32.
enum class PlainSum { kNarrow, kNarrowBlocks, kWide };
inline Source PlainKernel(PlainSum sum, std::string_view before = "", std::string_view finish = "") {
  const char* const round = sum == PlainSum::kNarrow         ? "sum = Wide(Narrow(sum));"
                            : sum == PlainSum::kNarrowBlocks ? "if (k % 32 == 31) all += Wide(Narrow(sum)), sum = 0;"
                                                             : "";
  const std::string text = fmt::format(R"(
extern "C" __global__ void gemmsmith_gemm(const GemmArguments g) {{
  const long long step = (long long)Blocks() * blockDim.x, first = (long long)Block() * blockDim.x + threadIdx.x;
  {}
  for (long long i = first; i < (long long)g.m * g.n; i += step) {{
    const int row = int(i / g.n), column = int(i % g.n);
    float sum = 0, all = 0;
    for (int k = 0; k < g.k; ++k) {{
      sum += Wide(At(g.a, g.m, g.k, g.lda, row, k)) * Wide(At(g.b, g.n, g.k, g.ldb, column, k));
      {}
    }}
    u16 bits = Narrow(all + sum);
    {}
    Put(g, row, column, bits);
  }}
}})",
                                       before, round, finish);
  return {kKernelPreface + text, "gemmsmith_gemm"};
}

// Right, but for elements that are the upper or the lower neighbour of their sum in alternation.
inline Source FlippingKernel() {
  return PlainKernel(PlainSum::kWide,
                     "static unsigned calls; const bool odd = first == 0 && atomicAdd(&calls, 1u) % 2 == 1;",
                     "u16 nearer_zero;\n"
                     "asm(\"cvt.rz.f16.f32 %0, %1;\" : \"=h\"(nearer_zero) : \"f\"(sum));\n"
                     "if (odd && fabsf(sum) < 4 && Wide(nearer_zero) != sum)\n"
                     "  bits = bits == nearer_zero ? u16(bits + 1) : nearer_zero;");
}

// Right, but it reads behind the last element of B (64 columns) and does nothing with it.
inline Source CuriousKernel() {
  return PlainKernel(PlainSum::kWide,
                     "if (first == 0 && *(volatile const u16*)(g.b + 64ll * g.ldb) == 0x1234) return;");
}

}  // namespace gemmsmith
