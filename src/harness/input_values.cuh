// The inputs that are made to a pattern, as functions of seed, row and column, in text that CUDA and C++ share. The
// build puts it into harness.cu, and tests include it on the CPU. The including file has u64, i64 and a namespace.
// docs/measuring.md says what each pattern is for.

#ifdef __CUDACC__
#define GEMMSMITH_VALUE __device__
GEMMSMITH_VALUE float Infinity() { return __int_as_float(0x7f800000); }
GEMMSMITH_VALUE float NotANumber() { return __int_as_float(0x7fc00000); }
#else
#define GEMMSMITH_VALUE inline
GEMMSMITH_VALUE float Infinity() { return __builtin_huge_valf(); }
GEMMSMITH_VALUE float NotANumber() { return __builtin_nanf(""); }
#endif

GEMMSMITH_VALUE u64 Mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

GEMMSMITH_VALUE u64 HashAt(u64 seed, i64 i) { return Mix(Mix(seed) + u64(i + 1) * 0x9e3779b97f4a7c15ull); }

// -1, 0 or 1; 0 but for about `count` of the `depth` elements that it is asked for, and for at least half of them.
GEMMSMITH_VALUE float SparseSign(u64 hash, i64 depth, i64 count) {
  const u64 chosen = (hash >> 32) % u64(depth > 2 * count ? depth : 2 * count);
  return chosen >= u64(count) ? 0.0f : (hash & 1) != 0 ? 1.0f : -1.0f;
}

// ---- cancellation

// Half way between two powers of two. A sum of 3072 and small integers stays in [2048, 4096), whatever their signs; f16
// holds every other integer there. Exact in both types.
constexpr float kCancelling = 3072.0f;
constexpr int kCancellingOrders = 8;

// The sign with which a large term stands at this place of the row, or 0. In each row as many are added as taken away; in
// what order and how far apart, the row says, and every order comes with both signs.
GEMMSMITH_VALUE int CancellingSign(u64 seed, i64 row, i64 k, i64 depth) {
  const i64 quarter = depth / 4;
  if (quarter == 0) return 0;
  const u64 hash = HashAt(seed ^ 0xca9ce1ull, row);
  const i64 first = i64(hash % u64(quarter));
  const int sign = row / kCancellingOrders % 2 == 0 ? 1 : -1;
  i64 second = 0;
  switch (int(row % kCancellingOrders)) {
    case 0: second = depth - 1 - first % (quarter > 1 ? quarter / 2 : 1); break;        // early and late
    case 1: second = first + depth / 2; break;                                           // the halves of K
    case 2: second = first + 1 + i64((hash >> 32) % u64(depth - quarter)); break;        // anywhere
    case 3: second = first + (quarter < 16 ? quarter : 16); break;                       // neighbouring steps
    case 4: second = first + (depth / 2 < 64 ? depth / 2 : 64); break;                   // neighbouring blocks
    default: {                                                                           // two pairs, a quarter of K apart
      if (k < first || (k - first) % quarter != 0 || (k - first) / quarter > 3) return 0;
      constexpr int kSigns[3][4] = {{1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
      return sign * kSigns[row % kCancellingOrders - 5][(k - first) / quarter];
    }
  }
  return k == first ? sign : k == second ? -sign : 0;
}

// Small integers between large ones that cancel. Every exact partial sum, in whatever order, is an integer below 2^13.
GEMMSMITH_VALUE float CancellingA(u64 seed, i64 row, i64 k, i64 depth) {
  const int large = CancellingSign(seed, row, k, depth);
  return large != 0 ? float(large) * kCancelling : SparseSign(HashAt(seed, row * depth + k), depth, 24);
}

// The same along K, or nothing would cancel.
GEMMSMITH_VALUE float CancellingB(u64 seed, i64 column) { return (HashAt(seed, column) & 1) != 0 ? 1.0f : -1.0f; }

// ---- special values

// The element type's: 65504 and 2^-24, or 255 * 2^120 and 2^-133.
struct Extremes {
  float largest, smallest;
};

GEMMSMITH_VALUE Extremes ExtremesOf(bool is_bf16) {
  if (is_bf16) return {255 * 0x1p120f, 0x1p-133f};
  return {65504.0f, 0x1p-24f};
}

// Where all special columns of B have their value, so that rows of A can stay clear of it, or be sure to meet it.
GEMMSMITH_VALUE i64 SharedSpot(u64 seed, i64 depth) { return i64(HashAt(seed, -7) % u64(depth)); }

// Eight kinds of rows in turn. The others of a row with a largest value are zeros, so that its products stay exact.
GEMMSMITH_VALUE float SpecialA(u64 seed, i64 row, i64 k, i64 depth, u64 seed_of_b, bool is_bf16) {
  const Extremes extremes = ExtremesOf(is_bf16);
  const u64 hash = HashAt(seed ^ 0x57ec1a1ull, row);
  const i64 spot = i64(hash % u64(depth)), other = i64((hash >> 32) % u64(depth));
  const bool is_shared = k == SharedSpot(seed_of_b, depth);
  const float background = SparseSign(HashAt(seed, row * depth + k), depth, 32);
  switch (int(row % 8)) {
    case 1: return k == spot ? Infinity() : background;
    case 2: return 0;
    case 3: return k == spot && !is_shared ? extremes.largest : 0;
    case 4: return k == spot ? NotANumber() : background;
    case 5: return is_shared ? 0 : background * extremes.smallest;
    case 6: return k == spot ? -Infinity() : background;
    // Two of them: over the range of f16 where they do not cancel, as one f32 sum; no more than the largest bf16.
    case 7: return (k == spot || k == other) && !is_shared ? extremes.largest * (is_bf16 ? 0.5f : 1.0f) : 0;
    default: return is_shared ? ((hash & 1) != 0 ? 1.0f : -1.0f) : background;
  }
}

// Half of the columns hold -1, 0 and 1 as often, and of eight one has a NaN and two an infinity among these. One more has
// a largest value and nothing else, one a smallest.
GEMMSMITH_VALUE float SpecialB(u64 seed, i64 k, i64 column, i64 depth, bool is_bf16) {
  const bool is_shared = k == SharedSpot(seed, depth);
  switch (int(column % 8)) {
    case 1: return is_shared ? ExtremesOf(is_bf16).largest : 0;
    case 2: return is_shared ? ExtremesOf(is_bf16).smallest : 0;
    case 3: if (is_shared) return NotANumber(); break;
    case 5: if (is_shared) return Infinity(); break;
    case 7: if (is_shared) return -Infinity(); break;
    default: break;
  }
  return float(int(HashAt(seed, column * depth + k) % 3) - 1);
}
