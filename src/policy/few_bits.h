// Matrices in few bits a number. Neighbours share a scale, and a number is a whole multiple of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gemmsmith {

inline constexpr size_t kNeighbours = 64;
inline constexpr int kFewestBits = 2, kMostBits = 8;

struct FewBits {
  std::vector<uint8_t> multiples;  // `bits` each, the lowest first, one behind the other
  std::vector<float> scales;       // of half precision
};

// `values` are as many as whole groups of neighbours have. Scales are those of the least squared error.
FewBits InFewBits(std::span<const float> values, int bits);
// nullopt: sizes that do not fit each other.
std::optional<std::vector<float>> FromFewBits(const FewBits& few, int bits);

}  // namespace gemmsmith
