// What the list of disturbances is hidden by until a key comes: the block cipher Speck64/128 over a counter, in what CUDA
// and C++ have in common. Whoever includes it has u32, u64 and a namespace. A cipher, because much of the list can be
// guessed: what a guess tells of the keystream must not tell the key.

#ifdef __CUDACC__
#define GEMMSMITH_KEYSTREAM __device__
#else
#define GEMMSMITH_KEYSTREAM inline
#endif

struct Key {
  u32 words[4];
};

// A key of zeros hides nothing, and costs nothing.
GEMMSMITH_KEYSTREAM bool IsOpen(const Key& key) {
  return (key.words[0] | key.words[1] | key.words[2] | key.words[3]) == 0;
}

GEMMSMITH_KEYSTREAM void SpeckRound(u32& high, u32& low, u32 key) {
  high = ((high >> 8 | high << 24) + low) ^ key;
  low = (low << 3 | low >> 29) ^ high;
}

constexpr int kSpeckRounds = 27;
struct RoundKeys {
  u32 words[kSpeckRounds];
};

GEMMSMITH_KEYSTREAM RoundKeys RoundKeysOf(const Key& key) {
  RoundKeys keys;
  u32 round_key = key.words[0], next = key.words[1], second = key.words[2], third = key.words[3];
  for (int round = 0; round < kSpeckRounds; ++round) {
    keys.words[round] = round_key;
    SpeckRound(next, round_key, u32(round));
    const u32 made = next;
    next = second;
    second = third;
    third = made;
  }
  return keys;
}

GEMMSMITH_KEYSTREAM u64 KeystreamAt(const RoundKeys& keys, u64 counter) {
  u32 high = u32(counter >> 32), low = u32(counter);
  for (int round = 0; round < kSpeckRounds; ++round) SpeckRound(high, low, keys.words[round]);
  return u64(high) << 32 | low;
}
