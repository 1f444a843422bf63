#include "evaluate/isolate/frame.h"

#include <xxhash.h>

#include <cerrno>
#include <system_error>

#include "base/bytes.h"
#include "base/descriptors.h"

namespace gemmsmith {

namespace {

constexpr uint32_t kMagic = 0x4b57'5347;  // "GSWK" in memory
constexpr uint16_t kVersion = 1;

uint64_t Checksum(std::string_view header, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(header.data(), header.size()));
}

// Whole buffers; NotFound when the stream ends before the first byte.
Status ReadWhole(int fd, size_t count, std::string& bytes) {
  const ssize_t have = ReadUpTo(fd, count, bytes);
  if (have < 0) return IoError(fmt::format("cannot read a frame: {}", std::generic_category().message(errno)));
  if (have == 0 && count > 0) return NotFound("the stream has ended");
  if (size_t(have) < count) return DataLoss(fmt::format("the stream ended after {} of {} bytes", have, count));
  return OkStatus();
}

}  // namespace

std::string EncodeFrame(FrameType type, std::string_view payload) {
  GEMMSMITH_CHECK(payload.size() <= kMaxPayloadBytes, "a frame of {} bytes", payload.size());
  ByteWriter header;
  header.Put(kMagic);
  header.Put(kVersion);
  header.Put(type);
  header.Put(uint64_t(payload.size()));
  std::string bytes = std::move(header).Take();
  ByteWriter checksum;
  checksum.Put(Checksum(bytes, payload));
  bytes.append(payload);
  bytes.append(std::move(checksum).Take());
  return bytes;
}

Result<FrameHeader> DecodeFrameHeader(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Get<uint32_t>() != kMagic || reader.failed()) return DataLoss("these bytes are not a frame");
  if (const auto version = reader.Get<uint16_t>(); version != kVersion)
    return DataLoss(fmt::format("a frame of version {}, this program speaks {}", version, kVersion));
  const auto type = reader.Get<uint16_t>();
  FrameHeader header{FrameType(type), reader.Get<uint64_t>()};
  if (reader.failed() || reader.remaining() != 0) return DataLoss("a truncated frame header");
  if (type < uint16_t(FrameType::kHello) || type > uint16_t(kLastFrameType))
    return DataLoss(fmt::format("a frame of unknown type {}", type));
  if (header.payload_bytes > kMaxPayloadBytes)
    return DataLoss(fmt::format("a frame of {} bytes is over the limit", header.payload_bytes));
  return header;
}

Result<Frame> DecodeFrameBody(std::string_view header_bytes, std::string_view body) {
  ASSIGN_OR_RETURN(const FrameHeader header, DecodeFrameHeader(header_bytes));
  if (body.size() != header.payload_bytes + kFrameChecksumBytes) return DataLoss("a truncated frame");
  const std::string_view payload = body.substr(0, header.payload_bytes);
  ByteReader checksum(body.substr(header.payload_bytes));
  if (checksum.Get<uint64_t>() != Checksum(header_bytes, payload)) return DataLoss("a frame with a wrong checksum");
  return Frame{header.type, std::string(payload)};
}

Status WriteFrame(int fd, FrameType type, std::string_view payload) {
  if (!WriteAll(fd, EncodeFrame(type, payload)))
    return IoError(fmt::format("cannot write a frame: {}", std::generic_category().message(errno)));
  return OkStatus();
}

Result<Frame> ReadFrame(int fd) {
  std::string header, body;
  RETURN_IF_ERROR(ReadWhole(fd, kFrameHeaderBytes, header));
  ASSIGN_OR_RETURN(const FrameHeader decoded, DecodeFrameHeader(header));
  const Status read = ReadWhole(fd, decoded.payload_bytes + kFrameChecksumBytes, body);
  if (read.code() == StatusCode::kNotFound) return DataLoss("the stream ended after a frame's header");
  RETURN_IF_ERROR(read);
  return DecodeFrameBody(header, body);
}

}  // namespace gemmsmith
