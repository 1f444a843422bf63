// The safetensors format: a length, a JSON header, then the numbers of all tensors one behind the other, in half or in
// single precision.
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

enum class NumberType : uint8_t { kF16, kF32 };

std::string EncodeSafeTensors(const SafeTensors& file, NumberType type);
// F16 and F32. Never reads out of bounds or allocates more than twice the bytes there are, whatever they say; refuses
// what is truncated, overlaps, leaves gaps or contradicts itself in one line.
Result<SafeTensors> DecodeSafeTensors(std::string_view bytes);

}  // namespace gemmsmith
