#include "compile/fatbin.h"

#include <cstring>

namespace gemmsmith {

namespace {

using Bytes = std::span<const uint8_t>;

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t content_bytes;
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t attributes;
  uint32_t header_bytes;
  uint64_t content_bytes;
  uint64_t unused[3];
  uint64_t flags;
};
static_assert(sizeof(EntryHeader) == 48);

constexpr uint16_t kCubin = 2;
constexpr uint64_t kCompressed = 0x2000 | 0x8000;

Status DamagedFatbin(std::string_view what) {
  return DataLoss(fmt::format("damaged machine code container: {}", what));
}

// Cuts a header and what it announces off the front of the bytes.
template <class Header>
Result<Bytes> TakeContent(Bytes& bytes, Header& header) {
  if (bytes.size() < sizeof header) return DamagedFatbin("a header past its end");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.header_bytes < sizeof header || header.header_bytes > bytes.size())
    return DamagedFatbin("an impossible header");
  bytes = bytes.subspan(header.header_bytes);
  if (header.content_bytes > bytes.size()) return DamagedFatbin("content past its end");
  const Bytes content = bytes.first(header.content_bytes);
  bytes = bytes.subspan(header.content_bytes);
  return content;
}

Status TakeEntries(Bytes entries, std::vector<Bytes>& cubins) {
  while (!entries.empty()) {
    EntryHeader header{};
    ASSIGN_OR_RETURN(const Bytes content, TakeContent(entries, header));
    if (header.kind != kCubin) return DataLoss(fmt::format("an entry of kind {} beside the machine code", header.kind));
    if ((header.flags & kCompressed) != 0) return DataLoss("compressed machine code");
    cubins.push_back(content);
  }
  return OkStatus();
}

void SkipPadding(Bytes& bytes) {
  while (!bytes.empty() && bytes.front() == 0) bytes = bytes.subspan(1);
}

}  // namespace

Result<std::vector<Bytes>> CubinsOf(Bytes section) {
  std::vector<Bytes> cubins;
  for (SkipPadding(section); !section.empty(); SkipPadding(section)) {
    ContainerHeader header{};
    ASSIGN_OR_RETURN(const Bytes content, TakeContent(section, header));
    if (header.magic != kFatbinMagic || header.version != 1) return DamagedFatbin("not a container");
    RETURN_IF_ERROR(TakeEntries(content, cubins));
  }
  return cubins;
}

}  // namespace gemmsmith
