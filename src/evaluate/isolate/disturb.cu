// What happens between the calls of a batch that must not be skipped, merged or answered from memory: a few elements of A
// and B change, a few elements of C are poisoned, and those that the call before should have written are set aside. Runs in the
// guest; the judge keeps the steps to itself and computes what was to come out. disturbance.h declares the same structs.

#include "evaluate/verify/elements.cuh"

constexpr int kPlaces = 8;

struct Place {
  i64 a_patch, b_patch;  // of the elements that change, in the sample's row of A and column of B; -1: none
  i64 sample;            // of the element of C
  int row, column, a_depth, b_depth;
  u32 a_bits, b_bits;    // what they become
};

struct State {
  u32 next, steps;
  u16 a_originals[kPlaces], b_originals[kPlaces];
};

struct DisturbArguments {
  u16 *a, *b, *c;
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
    if (place.a_patch >= 0) arguments.a[place.a_patch] = state->a_originals[thread];
    if (place.b_patch >= 0) arguments.b[place.b_patch] = state->b_originals[thread];
  }
  __syncthreads();
  if (step < state->steps) {
    const Place& place = arguments.places[step * kPlaces + thread];
    if (place.a_patch >= 0) {
      state->a_originals[thread] = arguments.a[place.a_patch];
      arguments.a[place.a_patch] = u16(place.a_bits);
    }
    if (place.b_patch >= 0) {
      state->b_originals[thread] = arguments.b[place.b_patch];
      arguments.b[place.b_patch] = u16(place.b_bits);
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

// What a step has added to an element of B in this column.
__device__ double ChangeOfB(const ExpectArguments& arguments, const Place* step, i64 depth, int column) {
  for (int i = 0; i < kPlaces; ++i)
    if (step[i].b_patch >= 0 && step[i].b_depth == depth && step[i].column == column)
      return Widen(u16(step[i].b_bits), arguments.b.type) - Element(arguments.b, depth, column);
  return 0;
}

// A warp a sample: the inner product of a row of A and a column of B as they were in that step.
extern "C" __global__ void disturb_expect(const ExpectArguments arguments) {
  const u32 lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (u32 at = (blockIdx.x * blockDim.x + threadIdx.x) / 32; at < arguments.steps * kPlaces; at += warps) {
    const Place* const step = arguments.places + at / kPlaces * kPlaces;
    const Place& sample = arguments.places[at];
    double sum = 0;
    for (i64 k = lane; k < arguments.k; k += 32)
      sum += Element(arguments.a, sample.row, k) * Element(arguments.b, k, sample.column);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane != 0) continue;
    for (int i = 0; i < kPlaces; ++i) {
      const Place& place = step[i];
      if (place.b_patch >= 0 && place.column == sample.column)
        sum += Element(arguments.a, sample.row, place.b_depth) *
               ChangeOfB(arguments, step, place.b_depth, sample.column);
      if (place.a_patch < 0 || place.row != sample.row) continue;
      const double change = Widen(u16(place.a_bits), arguments.a.type) - Element(arguments.a, place.row, place.a_depth);
      sum += change * (Element(arguments.b, place.a_depth, sample.column) +
                       ChangeOfB(arguments, step, place.a_depth, sample.column));
    }
    arguments.answers[at] = {Widen(arguments.samples[at], arguments.a.type), float(sum)};
  }
}
