// The kernels before a batch on the ring.

struct RingRange {
  char* begin;
  i64 bytes;
};
constexpr int kRingArrays = 5;

struct RingPoisonArguments {
  RingOperand operand;
  u32 bits;
  RingRange arrays[kRingArrays];  // whose lines lose the priority in L2 that a call gave them
};

extern "C" __global__ void harness_ring_poison(const RingPoisonArguments arguments) {
  FillUnits(arguments.operand.matrix, i64(blockIdx.y) * arguments.operand.step, u16(arguments.bits));
  constexpr i64 kLine = 128;
  const i64 rank = i64(blockIdx.y) * Step() + First(), ranks = i64(gridDim.y) * Step();
  for (const RingRange& array : arguments.arrays)
    for (i64 at = rank * kLine; at < array.bytes; at += ranks * kLine)
      asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(array.begin + at) : "memory");
}

// As many bytes of shared memory as a multiprocessor has.
struct RingClearArguments {
  u32 bytes, pattern;
};

extern "C" __global__ void harness_ring_clear(const RingClearArguments arguments) {
  extern __shared__ u32 ring_words[];
  volatile u32* const words = ring_words;
  for (u32 i = threadIdx.x; i < arguments.bytes / 4; i += blockDim.x) words[i] = arguments.pattern;
}
