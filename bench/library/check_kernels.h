// The bench's own device code: deterministic contents of memory, and the product in f64 element by element.
#pragma once

#include <cstdint>
#include <string_view>

namespace gemmsmith {

// A matrix, or a batch of them, as it lies: lines of neighbouring elements.
struct CheckedMatrix {
  uint64_t first = 0;  // its address
  int64_t row_step = 0, column_step = 0, batch_step = 0;
  int32_t type = 0;  // gemmsmith_type
  int32_t unused = 0;
};

struct CheckArguments {
  CheckedMatrix a, b, c, d;
  uint64_t bias = 0;  // 0: none
  int64_t m = 0, n = 0, k = 0, batch = 0;
  int64_t samples = 0;  // 0: every element
  uint64_t seed = 0;
  float alpha = 1, beta = 0;
  int32_t bias_along_rows = 0, activation = 0;
  double share_of_sum = 0, share_of_result = 0;
  uint64_t report = 0;
};

// Memory that holds what Fill() wrote, but for the elements of one matrix.
struct UntouchedArguments {
  uint64_t memory = 0;
  int64_t words = 0;  // of 2 bytes
  uint64_t seed = 0;
  int64_t first_word = 0, word_count = 0;    // of an element: 1 or 2
  int64_t lines = 0, line = 0, leading = 0;  // in elements
  int64_t batch = 0, step = 0;
  uint64_t report = 0;
};

struct CheckReport {
  uint64_t wrong = 0, touched = 0;
  uint64_t one_wrong_complement = 0;  // of the first wrong element's number; 0: none
  double worst = 0;                   // error over what is allowed
};

inline constexpr std::string_view kCheckKernels = R"(
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned short u16;
struct Matrix { u64 first; i64 row_step, column_step, batch_step; int type, unused; };
struct Report { u64 wrong, touched, one_wrong_complement; double worst; };
struct Check {
  Matrix a, b, c, d; u64 bias; i64 m, n, k, batch, samples; u64 seed; float alpha, beta; int bias_along_rows, activation;
  double share_of_sum, share_of_result; u64 report;
};
struct Untouched {
  u64 memory; i64 words; u64 seed; i64 first_word, word_count, lines, line, leading, batch, step; u64 report;
};
__device__ u64 Mix(u64 x) {
  x ^= x >> 31; x *= 0x7fb5d329728ea185ull; x ^= x >> 27; x *= 0x81dadef4bc2dd44dull; return x ^ x >> 33;
}
// A number from -1 to 1 in f16 and in bf16: a sign, exponents of few steps and any fraction.
__device__ u16 WordAt(u64 seed, i64 word, int type) {
  const u64 bits = Mix(seed * 0x9e3779b97f4a7c15ull + u64(word));
  const unsigned step = unsigned(bits >> 20) & 3;
  if (type == 2) return u16((bits & 0x807f) | (123u + step) << 7);
  return u16((bits & 0x83ff) | (11u + step) << 10);
}
__device__ double Read(const Matrix& x, i64 row, i64 column, i64 batch) {
  const i64 at = batch * x.batch_step + row * x.row_step + column * x.column_step;
  if (x.type == 3) return reinterpret_cast<const float*>(x.first)[at];
  const u16 bits = reinterpret_cast<const u16*>(x.first)[at];
  if (x.type == 2) return __uint_as_float(unsigned(bits) << 16);
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
  return wide;
}
__device__ double Activated(double x, int activation) {
  if (activation == 1) return x > 0 ? x : 0;
  if (activation == 2) return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return x;
}
extern "C" __global__ void fill(u16* memory, i64 words, u64 seed, int type) {
  const i64 all = i64(gridDim.x) * blockDim.x;
  for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < words; i += all) memory[i] = WordAt(seed, i, type);
}
// f32 from -1 to 1.
extern "C" __global__ void fill_f32(float* memory, i64 count, u64 seed) {
  const i64 all = i64(gridDim.x) * blockDim.x;
  for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < count; i += all)
    memory[i] = float(int(Mix(seed + 77 * u64(i)) >> 40) - (1 << 23)) / float(1 << 23);
}
extern "C" __global__ void untouched(Untouched g) {
  const i64 all = i64(gridDim.x) * blockDim.x;
  for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < g.words; i += all) {
    i64 at = i - g.first_word;
    bool is_element = false;
    if (at >= 0) {
      at /= g.word_count;
      const i64 batch = g.batch > 1 ? at / g.step : 0, in = g.batch > 1 ? at % g.step : at;
      is_element = batch < g.batch && in / g.leading < g.lines && in % g.leading < g.line;
    }
    if (!is_element && reinterpret_cast<const u16*>(g.memory)[i] != WordAt(g.seed, i, 1))
      atomicAdd(&reinterpret_cast<Report*>(g.report)->touched, 1ull);
  }
}
// A warp an element.
extern "C" __global__ void check(Check g) {
  Report& report = *reinterpret_cast<Report*>(g.report);
  const i64 elements = g.m * g.n * g.batch, count = g.samples > 0 ? g.samples : elements;
  const i64 warps = i64(gridDim.x) * blockDim.x / 32;
  const int lane = threadIdx.x % 32;
  for (i64 i = (blockIdx.x * i64(blockDim.x) + threadIdx.x) / 32; i < count; i += warps) {
    const i64 e = g.samples > 0 ? i64(Mix(g.seed + u64(i)) % u64(elements)) : i;
    const i64 column = e % g.n, row = e / g.n % g.m, batch = e / g.n / g.m;
    double sum = 0, size = 0;
    for (i64 k = lane; k < g.k; k += 32) {
      const double product = Read(g.a, row, k, batch) * Read(g.b, k, column, batch);
      sum += product;
      size += abs(product);
    }
    for (int step = 16; step > 0; step /= 2) {
      sum += __shfl_xor_sync(~0u, sum, step);
      size += __shfl_xor_sync(~0u, size, step);
    }
    if (lane != 0) continue;
    sum *= g.alpha;
    size *= abs(g.alpha);
    if (g.beta != 0) {
      const double added = g.beta * Read(g.c, row, column, batch);
      sum += added;
      size += abs(added);
    }
    // Libraries may round what comes before a bias or an activation to the type of the result.
    double rounded = g.bias != 0 || g.activation == 2 ? abs(sum) : 0;
    if (g.bias != 0) {
      const Matrix bias{g.bias, 1, 1, 0, g.d.type, 0};
      const double added = Read(bias, g.bias_along_rows ? column : row, 0, 0);
      sum += added;
      size += abs(added);
      rounded += abs(sum);
    }
    const double wanted = Activated(sum, g.activation), got = Read(g.d, row, column, batch);
    double allowed = g.share_of_sum * size + g.share_of_result * (abs(wanted) + rounded) + 1e-7;
    if (g.activation == 2) allowed += 1e-3 * (1 + abs(sum));  // tanh of the hardware has 11 bits
    const double error = abs(got - wanted);
    if (!(error <= allowed)) {
      atomicAdd(&report.wrong, 1ull);
      atomicMax(&report.one_wrong_complement, ~u64(e));
    }
    if (error / allowed > report.worst) report.worst = error / allowed;  // a race loses nothing that is judged
  }
}
extern "C" __global__ void nothing(__grid_constant__ const Check g) {}
)";

}  // namespace gemmsmith
