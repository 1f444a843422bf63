// The safetensors format: a length, a JSON header, then the numbers of all tensors one behind the other. Written in
// half precision, read in half or single.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;  // row-major
};

struct SafeTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

inline constexpr uint64_t kMaxSafeTensorsHeader = 1 << 20, kMaxSafeTensorsBytes = 256 << 20;

// As F16.
std::string EncodeSafeTensors(const SafeTensors& file);
// F16 and F32. Never reads out of bounds or allocates more than twice the bytes there are, whatever they say; refuses
// what is truncated, overlaps, leaves gaps or contradicts itself in one line.
Result<SafeTensors> DecodeSafeTensors(std::string_view bytes);

}  // namespace gemmsmith
