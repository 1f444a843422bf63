// Random numbers that are the same on every machine, compiler and library for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace gemmsmith {

// xoshiro256** seeded through splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // Uniform in [0, bound), bound >= 1, without modulo bias.
  uint64_t Below(uint64_t bound);
  // Uniform in [0, 1).
  double Uniform();
  double Normal();
  // An index, as likely as its share of the weights; at least one of them, none below 0.
  size_t Choose(std::span<const double> weights);

  // An independent stream named by a purpose, so that adding a draw in one place changes nothing elsewhere.
  Random Fork(std::string_view purpose) const;

  template <class Container>
  void Shuffle(Container& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

 private:
  uint64_t state_[4];
};

}  // namespace gemmsmith
