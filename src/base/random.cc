#include "base/random.h"

#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "base/check.h"
#include "base/hash.h"

namespace gemmsmith {
namespace {

uint64_t SplitMix(uint64_t& state) {
  uint64_t mixed = (state += 0x9e3779b97f4a7c15u);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

// The natural logarithm of a normal number in (0, 1], by additions, multiplications and divisions only: std::log
// differs in the last bit between libraries, and a seed must mean the same everywhere.
double PortableLog(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // [0.5, 1)
  const double z = (fraction - 1) / (fraction + 1);  // log(fraction) = 2 atanh(z), |z| <= 1/3
  const double z2 = z * z;
  double series = 0;
  for (int term = 35; term >= 1; term -= 2) series = series * z2 + 1.0 / term;
  return 2 * z * series + exponent * 0.69314718055994530942;
}

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t bound) {
  GEMMSMITH_CHECK(bound >= 1, "nothing lies below 0");
  // The lowest 2^64 mod bound values are drawn again, so that what is left is a multiple of bound.
  const uint64_t redrawn = (0 - bound) % bound;
  uint64_t drawn = Next();
  while (drawn < redrawn) drawn = Next();
  return drawn % bound;
}

double Random::Uniform() { return double(Next() >> 11) * 0x1p-53; }

// Marsaglia's polar method; the second deviate is dropped, so that a draw leaves no hidden state.
double Random::Normal() {
  while (true) {
    const double x = 2 * Uniform() - 1;
    const double y = 2 * Uniform() - 1;
    const double radius = x * x + y * y;
    if (radius > 0 && radius < 1) return x * std::sqrt(-2 * PortableLog(radius) / radius);
  }
}

size_t Random::Choose(std::span<const double> weights) {
  double left = Uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  size_t chosen = 0;
  while (chosen + 1 < weights.size() && (left -= weights[chosen]) >= 0) ++chosen;
  return chosen;
}

Random Random::Fork(std::string_view purpose) const {
  std::string name(reinterpret_cast<const char*>(state_), sizeof state_);
  name.append(purpose);
  return Random(HashBytes(name).low);
}

}  // namespace gemmsmith
