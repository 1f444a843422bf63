// Texts that were seen before, or nearly: MinHash signatures of runs of five tokens, found by bands (LSH). Comments and
// white space do not count.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gemmsmith {

// 112 hashes in 14 bands of 8: of two texts as like as kNearlyTheSame 92 in 100 pairs share a band, of texts half as
// like 1 in 100.
using TextSignature = std::array<uint32_t, 112>;
TextSignature SignatureOf(std::string_view text);
// The share of runs of tokens that two texts have in common (Jaccard), estimated.
double Likeness(const TextSignature& a, const TextSignature& b);

inline constexpr double kNearlyTheSame = 0.8;

class NearDuplicates {
 public:
  // The number of the first text that is nearly the same; nullopt for a new one, which is kept with the next number.
  std::optional<size_t> FindOrAdd(const TextSignature& signature);

 private:
  std::vector<TextSignature> kept_;
  std::unordered_multimap<uint64_t, uint32_t> bands_;
};

}  // namespace gemmsmith
