#include "archive/compression.h"

#include <zstd.h>

#include "base/check.h"

namespace gemmsmith {

namespace {

// Records are written once and kept: 19 takes 1.2 s a megabyte of them where 12 takes 0.1 s, for 3 % fewer bytes.
constexpr int kLevel = 19;

}  // namespace

std::string Compress(std::string_view bytes) {
  std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(compressed.data(), compressed.size(), bytes.data(), bytes.size(), kLevel);
  GEMMSMITH_CHECK(!ZSTD_isError(size), "{}", ZSTD_getErrorName(size));
  compressed.resize(size);
  return compressed;
}

std::optional<std::string> Decompress(std::string_view bytes, size_t size) {
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) return std::nullopt;
  std::string content(size, '\0');
  const size_t written = ZSTD_decompress(content.data(), content.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(written) || written != size) return std::nullopt;
  return content;
}

}  // namespace gemmsmith
