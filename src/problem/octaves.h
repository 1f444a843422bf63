// How far shapes are apart.
#pragma once

#include <cmath>
#include <cstdlib>

#include "problem/gemm.h"

namespace gemmsmith {

// Doublings of m, n and k together.
inline double OctavesBetween(const Shape& first, const Shape& second) {
  const auto octaves = [](int x, int y) { return std::abs(std::log2(double(x) / y)); };
  return octaves(first.m, second.m) + octaves(first.n, second.n) + octaves(first.k, second.k);
}

}  // namespace gemmsmith
