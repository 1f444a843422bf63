// SHA-1, for the opening handshake of a WebSocket alone: it protects nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gemmsmith {

std::array<uint8_t, 20> Sha1(std::string_view bytes);

}  // namespace gemmsmith
