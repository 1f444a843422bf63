// Content hashes for caches and records (XXH3, 128 bits).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gemmsmith {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  std::string Hex() const;  // 32 lower-case digits
  auto operator<=>(const Hash128&) const = default;
};

Hash128 HashBytes(std::string_view bytes);
inline Hash128 HashBytes(std::span<const uint8_t> bytes) {
  return HashBytes(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace gemmsmith
