#include "serve/sha1.h"

#include <bit>
#include <string>

namespace gemmsmith {
namespace {

constexpr size_t kBlockBytes = 64, kLengthBytes = 8;

using Digest = std::array<uint32_t, 5>;

uint32_t BigEndian(const char* bytes) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | uint8_t(bytes[i]);
  return word;
}

// A one, zeros, and the length in bits, up to a multiple of a block.
std::string Padded(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % kBlockBytes != kBlockBytes - kLengthBytes) padded += '\0';
  const uint64_t bits = uint64_t(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += char(bits >> shift & 0xff);
  return padded;
}

std::array<uint32_t, 80> Schedule(const char* block) {
  std::array<uint32_t, 80> words;
  for (size_t i = 0; i < 16; ++i) words[i] = BigEndian(block + 4 * i);
  for (size_t i = 16; i < 80; ++i) words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  return words;
}

// The function and the constant of a round.
uint32_t Mixed(size_t round, uint32_t b, uint32_t c, uint32_t d) {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

void AddBlock(Digest& digest, const char* block) {
  const std::array<uint32_t, 80> words = Schedule(block);
  auto [a, b, c, d, e] = digest;
  for (size_t round = 0; round < 80; ++round) {
    const uint32_t next = std::rotl(a, 5) + Mixed(round, b, c, d) + e + words[round];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  digest[0] += a, digest[1] += b, digest[2] += c, digest[3] += d, digest[4] += e;
}

}  // namespace

std::array<uint8_t, 20> Sha1(std::string_view bytes) {
  Digest digest = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string padded = Padded(bytes);
  for (size_t at = 0; at < padded.size(); at += kBlockBytes) AddBlock(digest, padded.data() + at);
  std::array<uint8_t, 20> result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = uint8_t(digest[i / 4] >> (24 - 8 * (i % 4)));
  return result;
}

}  // namespace gemmsmith
