// The safetensors format: a length, a JSON header, then the numbers of all tensors one behind the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

enum class NumberType : uint8_t { kF16, kF32, kU8 };

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;  // row-major
  NumberType type = NumberType::kF16;
};

struct SafeTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

inline constexpr uint64_t kMaxSafeTensorsHeader = 1 << 20, kMaxSafeTensorsBytes = 256 << 20;

std::string EncodeSafeTensors(const SafeTensors& file);
// F16, F32 and U8. Never reads out of bounds or allocates more than four times the bytes there are, whatever they say;
// refuses what is truncated, overlaps, leaves gaps or contradicts itself in one line.
Result<SafeTensors> DecodeSafeTensors(std::string_view bytes);

}  // namespace gemmsmith
