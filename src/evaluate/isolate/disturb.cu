// What happens between the calls of a batch that must not be skipped, merged or answered from memory: a few elements of A
// change, a few elements of C are poisoned, and those that the call before should have written are set aside. Runs in the
// guest; the judge keeps the steps to itself and computes what was to come out. disturbance.h declares the same structs.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr int kPlaces = 8;

struct Place {
  i64 patch;   // of the element of A that changes; -1: none
  i64 sample;  // of the element of C, in the same row
  int row, depth, column;
  u32 bits;    // that A gets
};

struct State {
  u32 next, steps;
  u16 originals[kPlaces];
};

struct DisturbArguments {
  u16 *a, *c;
  State* state;
  const Place* places;  // kPlaces a step
  u16* samples;         // as many
  u32 poison;
};

// One block of kPlaces threads. Before the first step, between any two and after the last one.
extern "C" __global__ void disturb(const DisturbArguments arguments) {
  State* const state = arguments.state;
  const int thread = threadIdx.x;
  const u32 step = state->next;
  __syncthreads();
  if (step > state->steps) return;
  if (step > 0) {
    const u32 before = (step - 1) * kPlaces + thread;
    const Place& place = arguments.places[before];
    arguments.samples[before] = arguments.c[place.sample];
    if (place.patch >= 0) arguments.a[place.patch] = state->originals[thread];
  }
  __syncthreads();
  if (step < state->steps) {
    const Place& place = arguments.places[step * kPlaces + thread];
    if (place.patch >= 0) {
      state->originals[thread] = arguments.a[place.patch];
      arguments.a[place.patch] = u16(place.bits);
    }
    arguments.c[place.sample] = u16(arguments.poison);
  }
  if (thread == 0) state->next = step + 1;
}

struct SpinArguments {
  i64 cycles;
};

extern "C" __global__ void disturb_spin(const SpinArguments arguments) {
  const i64 start = clock64();
  while (clock64() - start < arguments.cycles) {
  }
}

// ---- the judge's

enum ElementType { kF16 = 0, kBf16 = 1, kF32 = 2 };

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

__device__ double Element(const Matrix& matrix, i64 row, i64 column) {
  const i64 offset = matrix.lines_are_rows ? row * matrix.stride + column : column * matrix.stride + row;
  return Widen(static_cast<const u16*>(matrix.data)[offset], matrix.type);
}

struct Answer {
  float got, expected;
};

struct ExpectArguments {
  Matrix a, b;
  i64 k;
  const Place* places;
  const u16* samples;
  Answer* answers;
  u32 steps, unused;
};

// A warp a sample: the inner product of a row of A, as it was in that step, and a column of B.
extern "C" __global__ void disturb_expect(const ExpectArguments arguments) {
  const u32 lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (u32 at = (blockIdx.x * blockDim.x + threadIdx.x) / 32; at < arguments.steps * kPlaces; at += warps) {
    const Place& place = arguments.places[at];
    double sum = 0;
    for (i64 k = lane; k < arguments.k; k += 32)
      sum += Element(arguments.a, place.row, k) * Element(arguments.b, k, place.column);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane != 0) continue;
    for (int i = 0; i < kPlaces; ++i) {
      const Place& patch = arguments.places[at / kPlaces * kPlaces + i];
      if (patch.patch < 0 || patch.row != place.row) continue;
      const double change = Widen(u16(patch.bits), arguments.a.type) - Element(arguments.a, patch.row, patch.depth);
      sum += change * Element(arguments.b, patch.depth, place.column);
    }
    arguments.answers[at] = {Widen(arguments.samples[at], arguments.a.type), float(sum)};
  }
}
