// Compression of records and traces (zstd).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gemmsmith {

std::string Compress(std::string_view bytes);
// Returns nullopt unless the bytes are one whole frame of `size` bytes. The caller checks `size` against its limits: so
// much is allocated once the frame says the same.
std::optional<std::string> Decompress(std::string_view bytes, size_t size);

}  // namespace gemmsmith
