// The inputs of the ring, and the weights and checksums of its check, as functions of a key and a place. CUDA and C++
// share this text; it follows input_values.cuh.

#ifdef __CUDACC__
GEMMSMITH_VALUE float FastLog2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
GEMMSMITH_VALUE float FastRoot(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
GEMMSMITH_VALUE float FastCosine(float x) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
GEMMSMITH_VALUE float FastSine(float x) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
GEMMSMITH_VALUE u32 BitsOf(float x) { return __float_as_uint(x); }
GEMMSMITH_VALUE float FloatOf(u32 bits) { return __uint_as_float(bits); }
#else
GEMMSMITH_VALUE float FastLog2(float x) { return __builtin_log2f(x); }
GEMMSMITH_VALUE float FastRoot(float x) { return __builtin_sqrtf(x); }
GEMMSMITH_VALUE float FastCosine(float x) { return __builtin_cosf(x); }
GEMMSMITH_VALUE float FastSine(float x) { return __builtin_sinf(x); }
GEMMSMITH_VALUE u32 BitsOf(float x) { return __builtin_bit_cast(u32, x); }
GEMMSMITH_VALUE float FloatOf(u32 bits) { return __builtin_bit_cast(float, bits); }
#endif

GEMMSMITH_VALUE u64 RingKeyOf(u64 key, i64 set) { return Mix(key + u64(set + 1) * 0x9e3779b97f4a7c15ull); }

// Two multiplications of 32 bits: a 64-bit hash would cost more than reading the element.
GEMMSMITH_VALUE u32 RingHash(u64 key, u32 place) {
  u32 z = place + u32(key);
  z = (z ^ (z >> 16)) * 0x7feb352du + u32(key >> 32);
  z = (z ^ (z >> 15)) * 0x846ca68bu;
  return z ^ (z >> 16);
}

struct RingChecksumKey {
  u32 words[4];
  u64 place;
};

// The share in a checksum of the 16 bytes at a place: NH, folded, times a hash of the place. docs/measuring.md says how
// probable it is that a change goes unseen. Without the fold a change of high bits alone would go unseen more often.
GEMMSMITH_VALUE u64 RingChecksumOf(const u32 (&key)[4], const u32 (&words)[4], u32 hash) {
  const u64 product = u64(words[0] + key[0]) * (words[1] + key[1]) + u64(words[2] + key[2]) * (words[3] + key[3]);
  return (product ^ (product >> 32)) * hash;
}

struct NormalPair {
  float even, odd;
};

// Two standard normal numbers, Box and Muller's. Every operation is a single one: no contraction can change a bit, so
// that all kernels make the same.
GEMMSMITH_VALUE NormalPair NormalsAt(u64 key, u32 place) {
  const u32 bits = RingHash(key, place);
  const float share = float((bits >> 12) + 1) * 0x1p-20f;                       // (0, 1]
  const float angle = (float(bits & 0xfff) + 0.5f) * (6.28318531f * 0x1p-12f);  // (0, 2 pi)
  const float square = -1.38629436f * FastLog2(share);                          // -2 ln
  const float radius = FastRoot(square > 0 ? square : 0.0f);
  return {radius * FastCosine(angle), radius * FastSine(angle)};
}

// A weight of the check: either sign, a size in [0.75, 1.25).
GEMMSMITH_VALUE float RingWeight(u64 key, u32 place) {
  const u32 bits = RingHash(key, place);
  const float size = 0.75f + float(bits >> 9) * 0x1p-24f;
  return (bits & 1) != 0 ? size : -size;
}
constexpr float kRingWeightSquare = 1.0208333f;  // its mean

// 2^floor(log2 |x|); 0 of 0, infinity of what is no finite number.
GEMMSMITH_VALUE float PowerBelow(float x) { return FloatOf(BitsOf(x) & 0x7f800000u); }

// Whether a weighted sum of C differs from what it must be by no more than rounding explains. `squares` adds
// PowerBelow() squared over the `count` elements of the sum.
GEMMSMITH_VALUE bool RingSumPasses(float difference, float squares, float count, float roundoff, float accumulated,
                                   float deviations) {
  const float variance = roundoff * roundoff * squares + count * accumulated * accumulated;
  const float size = difference < 0 ? -difference : difference;
  return variance < 1e30f && size * size <= deviations * deviations * kRingWeightSquare * variance;
}
