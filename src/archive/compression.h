// What is stored of bytes that are to be small (zstd).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gemmsmith {

std::string Compress(std::string_view bytes);
// Nothing unless they are one whole frame of `size` bytes, which has to be within the caller's limits: so much is
// allocated once the frame says the same.
std::optional<std::string> Decompress(std::string_view bytes, size_t size);

}  // namespace gemmsmith
