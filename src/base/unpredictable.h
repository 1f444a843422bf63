// A seed that nobody can know beforehand: for what a candidate must not guess.
#pragma once

#include <cstdint>
#include <random>

namespace gemmsmith {

inline uint64_t UnpredictableSeed() {
  std::random_device device;
  return uint64_t(device()) << 32 | device();
}

}  // namespace gemmsmith
