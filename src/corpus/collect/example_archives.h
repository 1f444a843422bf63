// Archives for tests, sound and hostile.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace gemmsmith {

using ExampleFiles = std::vector<std::pair<std::string, std::string>>;  // names and contents

// zlib's `window_bits` say what stands around: nothing, or gzip's header and end.
inline std::string Deflated(std::string content, int window_bits = -MAX_WBITS) {
  std::string packed(compressBound(uLong(content.size())) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(content.data()), stream.avail_in = uInt(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data()), stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Every second file is deflated, the others are stored.
inline std::string ExampleZip(const ExampleFiles& files) {
  ByteWriter zip, folder;
  const auto raw = [](ByteWriter& writer, std::string_view bytes) {
    for (const char c : bytes) writer.Put(c);
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const auto& [name, content] = files[i];
    const std::string packed = i % 2 == 1 ? Deflated(content) : content;
    const uint32_t offset = uint32_t(zip.size());
    const auto put_sizes = [&](ByteWriter& writer) {
      writer.Put(uint16_t(0)), writer.Put(uint16_t(i % 2 == 1 ? 8 : 0)), writer.Put(uint32_t(0));
      writer.Put(uint32_t(crc32(0, reinterpret_cast<const Bytef*>(content.data()), uInt(content.size()))));
      writer.Put(uint32_t(packed.size())), writer.Put(uint32_t(content.size()));
      writer.Put(uint16_t(name.size())), writer.Put(uint16_t(0));
    };
    zip.Put(uint32_t(0x04034b50)), zip.Put(uint16_t(20)), put_sizes(zip), raw(zip, name), raw(zip, packed);
    folder.Put(uint32_t(0x02014b50)), folder.Put(uint16_t(0x0314)), folder.Put(uint16_t(20)), put_sizes(folder);
    folder.Put(uint16_t(0)), folder.Put(uint32_t(0)), folder.Put(uint32_t(0100644u << 16)), folder.Put(offset);
    raw(folder, name);
  }
  const uint32_t begin = uint32_t(zip.size()), bytes = uint32_t(folder.size());
  raw(zip, std::move(folder).Take());
  zip.Put(uint32_t(0x06054b50)), zip.Put(uint32_t(0)), zip.Put(uint16_t(files.size())), zip.Put(uint16_t(files.size()));
  zip.Put(bytes), zip.Put(begin), zip.Put(uint16_t(0));
  return std::move(zip).Take();
}

inline std::string TarHeader(const std::string& name, size_t size, char type) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  const auto octal = [](size_t value) {
    char digits[12];
    snprintf(digits, sizeof digits, "%011zo", value);
    return std::string(digits);
  };
  put(0, name.substr(0, 100)), put(124, octal(size)), put(257, "ustar"), put(263, "00"), put(148, "        ");
  header[156] = type;
  size_t sum = 0;
  for (const char c : header) sum += uint8_t(c);
  put(148, octal(sum).substr(5) + '\0');
  return header;
}

inline std::string TarBlocks(const std::string& name, const std::string& content, char type) {
  return TarHeader(name, content.size(), type) + content + std::string((512 - content.size() % 512) % 512, '\0');
}

// Names of more than 100 bytes stand in a file before, as GNU's tar has it.
inline std::string ExampleTar(const ExampleFiles& files) {
  std::string tar;
  for (const auto& [name, content] : files) {
    if (name.size() > 100) tar += TarBlocks("././@LongLink", name + '\0', 'L');
    tar += TarBlocks(name, content, '0');
  }
  return tar + std::string(1024, '\0');
}

inline std::string Gzipped(const std::string& content) { return Deflated(content, MAX_WBITS + 16); }

}  // namespace gemmsmith
