// The client's side of a WebSocket's frames, for tests: however wrong they are told to be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gemmsmith {

// `first` is the first byte: 0x81 is a whole text. With `length_bytes` of 2 or 8 the length is written longer than it
// need be.
inline std::string MaskedFrame(uint8_t first, std::string_view payload, int length_bytes = 0) {
  if (length_bytes == 0) length_bytes = payload.size() < 126 ? 0 : payload.size() < 65536 ? 2 : 8;
  const uint8_t length = length_bytes == 0 ? uint8_t(payload.size()) : length_bytes == 2 ? 126 : 127;
  std::string frame = {char(first), char(0x80 | length)};
  for (int shift = 8 * (length_bytes - 1); shift >= 0; shift -= 8) frame += char(uint64_t(payload.size()) >> shift);
  const std::string_view mask = "m\x01\xffk";
  frame += mask;
  for (size_t i = 0; i < payload.size(); ++i) frame += char(payload[i] ^ mask[i % 4]);
  return frame;
}

}  // namespace gemmsmith
