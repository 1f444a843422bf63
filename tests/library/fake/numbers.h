// Numbers of the three types, read and written one by one.
#pragma once

#include <cstdint>
#include <cstring>

enum FakeType { kFakeF16 = 1, kFakeBf16 = 2, kFakeF32 = 3 };

inline float FakeRead(const void* data, int type, int64_t index) {
  if (type == kFakeF32) return static_cast<const float*>(data)[index];
  uint16_t bits16 = 0;
  std::memcpy(&bits16, static_cast<const char*>(data) + 2 * index, 2);
  if (type == kFakeBf16) {
    const uint32_t bits = uint32_t(bits16) << 16;
    float value = 0;
    return std::memcpy(&value, &bits, 4), value;
  }
  __extension__ _Float16 value = 0;
  return std::memcpy(&value, &bits16, 2), float(value);
}

inline void FakeWrite(void* data, int type, int64_t index, float value) {
  if (type == kFakeF32) {
    static_cast<float*>(data)[index] = value;
    return;
  }
  uint16_t bits16 = 0;
  if (type == kFakeBf16) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    bits16 = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  } else {
    __extension__ const _Float16 rounded = static_cast<_Float16>(value);
    std::memcpy(&bits16, &rounded, 2);
  }
  std::memcpy(static_cast<char*>(data) + 2 * index, &bits16, 2);
}
