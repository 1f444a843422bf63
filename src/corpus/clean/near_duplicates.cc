#include "corpus/clean/near_duplicates.h"

#include <algorithm>
#include <limits>

#include "base/cpp_tokens.h"
#include "base/hash.h"
#include "base/random.h"

namespace gemmsmith {

namespace {

constexpr size_t kShingle = 5;  // tokens
constexpr size_t kBandRows = 8;
constexpr size_t kHashes = std::tuple_size_v<TextSignature>;
// A band that so many texts share tells nothing more.
constexpr size_t kMostOfABand = 64;

// One random function for each place of a signature: x -> (a x + b) / 2^32.
struct HashFunctions {
  std::array<uint64_t, kHashes> factors, offsets;
  HashFunctions() {
    Random random(0x6d696e68617368);
    for (uint64_t& factor : factors) factor = random.Next() | 1;
    for (uint64_t& offset : offsets) offset = random.Next();
  }
};

uint64_t BandKey(const TextSignature& signature, size_t band) {
  const std::string_view rows(reinterpret_cast<const char*>(&signature[band * kBandRows]),
                              kBandRows * sizeof signature[0]);
  return HashBytes(rows).low * kHashes + band;
}

}  // namespace

TextSignature SignatureOf(std::string_view text) {
  static const HashFunctions functions;
  TextSignature signature;
  signature.fill(std::numeric_limits<uint32_t>::max());
  std::vector<uint64_t> words;
  for (const CppToken& token : CppTokens(text)) words.push_back(HashBytes(token.text).low);
  const size_t shingles = words.size() < kShingle ? 1 : words.size() + 1 - kShingle;
  words.resize(std::max(words.size(), kShingle));
  for (size_t i = 0; i < shingles; ++i) {
    const std::string_view bytes(reinterpret_cast<const char*>(&words[i]), kShingle * sizeof words[0]);
    const uint64_t shingle = HashBytes(bytes).low;
    for (size_t k = 0; k < kHashes; ++k)
      signature[k] = std::min(signature[k], uint32_t((shingle * functions.factors[k] + functions.offsets[k]) >> 32));
  }
  return signature;
}

double Likeness(const TextSignature& a, const TextSignature& b) {
  size_t equal = 0;
  for (size_t k = 0; k < kHashes; ++k) equal += a[k] == b[k] ? 1 : 0;
  return double(equal) / double(kHashes);
}

std::optional<size_t> NearDuplicates::FindOrAdd(const TextSignature& signature) {
  std::optional<size_t> first;
  for (size_t band = 0; band < kHashes / kBandRows; ++band) {
    const auto [begin, end] = bands_.equal_range(BandKey(signature, band));
    for (auto found = begin; found != end; ++found)
      if ((!first || found->second < *first) && Likeness(kept_[found->second], signature) >= kNearlyTheSame)
        first = found->second;
  }
  if (first) return first;
  for (size_t band = 0; band < kHashes / kBandRows; ++band)
    if (const uint64_t key = BandKey(signature, band); bands_.count(key) < kMostOfABand)
      bands_.emplace(key, uint32_t(kept_.size()));
  kept_.push_back(signature);
  return std::nullopt;
}

}  // namespace gemmsmith
