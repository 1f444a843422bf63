// What happens between the calls of a batch that must not be skipped, merged or answered from memory: elements of A and B
// change, and a few of C that the call before should have written are set aside. In a small step eight elements of A and
// eight of B change, and C is left as it is; in a renewal about half of all elements of A and B, drawn at random, change
// their sign, and all of C is filled with poison, so that nothing of an earlier call is of any use. Runs in the guest, where
// the steps lie behind a keystream; the judge knows them and computes what was to come out. disturbance.h declares the same
// structs.

#include "evaluate/verify/elements.cuh"
#include "evaluate/isolate/keystream.cuh"

constexpr int kPlaces = 8;

struct Place {
  i64 a_patch, b_patch;  // of the elements that change, in the sample's row of A and column of B; -1: none
  i64 sample;            // of the element of C
  int row, column, a_depth, b_depth;
  u32 a_bits, b_bits;    // what they become
  // Of the step, the same in all its places: which signs stand turned while it lasts (0: none), and whether it is a
  // renewal. The signs of a small step are those of the step before. `disturb_renew` knows that these come last.
  u32 signs, is_renewal;
};

struct State {
  u32 next, steps;
  u16 a_originals[kPlaces], b_originals[kPlaces];
};

constexpr u32 kWordsOfAPlace = sizeof(Place) / sizeof(u64);

// As the guest finds it in its memory.
struct HiddenPlace {
  u64 words[kWordsOfAPlace];
};

__device__ u64 RevealedWord(const HiddenPlace* places, u32 at, u32 word, const RoundKeys& keys) {
  return places[at].words[word] ^ KeystreamAt(keys, u64(at) * kWordsOfAPlace + word);
}

__device__ Place Revealed(const HiddenPlace* places, u32 at, const Key& key) {
  union {
    HiddenPlace words;
    Place place;
  };
  const RoundKeys keys = RoundKeysOf(key);
#pragma unroll
  for (u32 i = 0; i < kWordsOfAPlace; ++i)
    words.words[i] = IsOpen(key) ? places[at].words[i] : RevealedWord(places, at, i, keys);
  return place;
}

struct DisturbArguments {
  u16 *a, *b;
  const u16* c;
  State* state;
  const HiddenPlace* places;  // kPlaces a step
  u16* samples;               // as many
  Key key;
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
    const Place place = Revealed(arguments.places, before, arguments.key);
    arguments.samples[before] = arguments.c[place.sample];
    if (place.a_patch >= 0) arguments.a[place.a_patch] = state->a_originals[thread];
    if (place.b_patch >= 0) arguments.b[place.b_patch] = state->b_originals[thread];
  }
  __syncthreads();
  if (step < state->steps) {
    const Place place = Revealed(arguments.places, step * kPlaces + thread, arguments.key);
    if (place.a_patch >= 0) {
      state->a_originals[thread] = arguments.a[place.a_patch];
      arguments.a[place.a_patch] = u16(place.a_bits);
    }
    if (place.b_patch >= 0) {
      state->b_originals[thread] = arguments.b[place.b_patch];
      arguments.b[place.b_patch] = u16(place.b_bits);
    }
  }
  if (thread == 0) state->next = step + 1;
}

// ---- renewals

constexpr u32 kSaltOfA = 0x2545f491, kSaltOfB = 0x9e6c63d1;

// Of eight elements that stand behind each other, a bit for each whose sign is turned.
__device__ u32 TurnedSigns(u32 signs, u32 salt, i64 eight) {
  if (signs == 0) return 0;
  u32 hash = u32(eight) * 0x9e3779b1u + (signs ^ salt) * 0x85ebca6bu;
  hash = (hash ^ hash >> 16) * 0x7feb352du;
  hash = (hash ^ hash >> 15) * 0x846ca68bu;
  return (hash ^ hash >> 16) & 255;
}

// The sign bits of elements 2 i and 2 i + 1.
__device__ u32 SignBits(u32 turned, int i) { return (turned >> (2 * i) & 1) << 15 | (turned >> (2 * i + 1) & 1) << 31; }

// Always both, also where nothing changes: what a compiler sees through it leaves out.
__device__ uint4 ReadEight(const u16* at) {
  uint4 all;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(all.x), "=r"(all.y), "=r"(all.z), "=r"(all.w) : "l"(at) : "memory");
  return all;
}
__device__ void WriteEight(u16* at, const uint4& all) {
  asm volatile("st.global.v4.u32 [%4], {%0,%1,%2,%3};"
               :: "r"(all.x), "r"(all.y), "r"(all.z), "r"(all.w), "l"(at) : "memory");
}

__device__ void TurnSigns(u16* elements, i64 count, u32 before, u32 now, u32 salt) {
  const i64 threads = i64(gridDim.x) * blockDim.x;
  for (i64 eight = i64(blockIdx.x) * blockDim.x + threadIdx.x; eight * 8 < count; eight += threads) {
    const u32 turned = TurnedSigns(before, salt, eight) ^ TurnedSigns(now, salt, eight);
    u16* const at = elements + eight * 8;
    if (eight * 8 + 8 <= count) {
      uint4 all = ReadEight(at);
      all.x ^= SignBits(turned, 0);
      all.y ^= SignBits(turned, 1);
      all.z ^= SignBits(turned, 2);
      all.w ^= SignBits(turned, 3);
      WriteEight(at, all);
    } else {
      for (i64 i = 0; eight * 8 + i < count; ++i) {
        volatile u16* const one = at + i;
        *one = u16(*one ^ (turned >> i & 1) << 15);
      }
    }
  }
}

// With poison, or with what they are already.
__device__ void Rewrite(u16* elements, i64 count, u32 poison, bool is_sham) {
  const u32 two = poison | poison << 16;
  const i64 threads = i64(gridDim.x) * blockDim.x;
  for (i64 eight = i64(blockIdx.x) * blockDim.x + threadIdx.x; eight * 8 < count; eight += threads) {
    u16* const at = elements + eight * 8;
    if (eight * 8 + 8 <= count) {
      uint4 all = ReadEight(at);
      if (!is_sham) all = make_uint4(two, two, two, two);
      WriteEight(at, all);
    } else {
      for (i64 i = 0; eight * 8 + i < count; ++i) {
        volatile u16* const one = at + i;
        const u16 is = *one;
        *one = is_sham ? is : u16(poison);
      }
    }
  }
}

struct RenewArguments {
  u16 *a, *b, *c;
  i64 a_count, b_count, c_count;
  const State* state;
  const HiddenPlace* places;
  // In sham every element is written as it is: the same traffic on the same lines, and nothing has changed.
  u32 poison, is_sham;
  Key key;
};

struct Signs {
  u32 signs, is_renewal;
};
__device__ Signs SignsOf(const RenewArguments& arguments, u32 step) {
  const u32 at = step * kPlaces, last = kWordsOfAPlace - 1;
  const u64 word = IsOpen(arguments.key) ? arguments.places[at].words[last]
                                         : RevealedWord(arguments.places, at, last, RoundKeysOf(arguments.key));
  return {u32(word), u32(word >> 32)};
}

// Behind every `disturb`, which has counted its step. Matrices are packed.
extern "C" __global__ void disturb_renew(const RenewArguments arguments) {
  const u32 step = arguments.state->next - 1;
  if (step >= arguments.state->steps) return;
  // The first lane of a warp reads this step, the second one the step before. Shared memory stays untouched in all of these
  // kernels: what a source has left there for its next call must lie there still, to be found wrong.
  const u32 lane = threadIdx.x % 32;
  Signs seen = {0, 0};
  if (lane < 2 && lane <= step) seen = SignsOf(arguments, step - lane);
  const u32 before = __shfl_sync(~0u, seen.signs, 1), now = __shfl_sync(~0u, seen.signs, 0);
  if (__shfl_sync(~0u, seen.is_renewal, 0) == 0) return;
  const bool is_sham = arguments.is_sham != 0;
  const u32 signs = is_sham ? before : now;
  TurnSigns(arguments.a, arguments.a_count, before, signs, kSaltOfA);
  TurnSigns(arguments.b, arguments.b_count, before, signs, kSaltOfB);
  Rewrite(arguments.c, arguments.c_count, arguments.poison, is_sham);
}

struct SpinArguments {
  i64 cycles;
};

extern "C" __global__ void disturb_spin(const SpinArguments arguments) {
  const i64 start = clock64();
  while (clock64() - start < arguments.cycles) {
  }
}

struct PauseArguments {
  i64 ns;
};

// By the clock of the wall: one of cycles would be longer where the GPU is slowed down by what runs between the pauses.
extern "C" __global__ void disturb_pause(const PauseArguments arguments) {
  u64 start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (i64(now - start) < arguments.ns);
}

// ---- the judge's

// As it is while these signs are turned.
__device__ double Element(const Matrix& matrix, i64 row, i64 column, u32 signs, u32 salt) {
  const i64 offset = matrix.lines_are_rows ? row * matrix.stride + column : column * matrix.stride + row;
  const double value = Widen(static_cast<const u16*>(matrix.data)[offset], matrix.type);
  return (TurnedSigns(signs, salt, offset / 8) >> (offset % 8) & 1) != 0 ? -value : value;
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

__device__ double ElementOfA(const ExpectArguments& arguments, const Place& sample, i64 depth) {
  return Element(arguments.a, sample.row, depth, sample.signs, kSaltOfA);
}
__device__ double ElementOfB(const ExpectArguments& arguments, const Place& sample, i64 depth) {
  return Element(arguments.b, depth, sample.column, sample.signs, kSaltOfB);
}

// What a step has added to an element of B in the sample's column.
__device__ double ChangeOfB(const ExpectArguments& arguments, const Place* step, const Place& sample, i64 depth) {
  for (int i = 0; i < kPlaces; ++i)
    if (step[i].b_patch >= 0 && step[i].b_depth == depth && step[i].column == sample.column)
      return Widen(u16(step[i].b_bits), arguments.b.type) - ElementOfB(arguments, sample, depth);
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
      sum += ElementOfA(arguments, sample, k) * ElementOfB(arguments, sample, k);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane != 0) continue;
    for (int i = 0; i < kPlaces; ++i) {
      const Place& place = step[i];
      if (place.b_patch >= 0 && place.column == sample.column)
        sum += ElementOfA(arguments, sample, place.b_depth) * ChangeOfB(arguments, step, sample, place.b_depth);
      if (place.a_patch < 0 || place.row != sample.row) continue;
      const double change = Widen(u16(place.a_bits), arguments.a.type) - ElementOfA(arguments, sample, place.a_depth);
      sum += change * (ElementOfB(arguments, sample, place.a_depth) +
                       ChangeOfB(arguments, step, sample, place.a_depth));
    }
    arguments.answers[at] = {Widen(arguments.samples[at], arguments.a.type), float(sum)};
  }
}
