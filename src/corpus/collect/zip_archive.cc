#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include "base/bytes.h"
#include "base/text.h"
#include "corpus/collect/archive_kinds.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kEndMark = 0x06054b50, kFolderMark = 0x02014b50, kFileMark = 0x04034b50;
constexpr size_t kEndBytes = 22, kFolderBytes = 46, kFileBytes = 30, kLongestNote = 65535;
constexpr uint64_t kLargestFolder = 256 << 20;
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
constexpr uint32_t kLinkMode = 0120000, kModeMask = 0170000;

struct ZipEntry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0, packed = 0, size = 0, mode = 0, offset = 0;
};

class ZipFile {
 public:
  explicit ZipFile(const fs::path& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;
  ~ZipFile() {
    if (fd_ >= 0) close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  uint64_t size() const { return uint64_t(std::max<off_t>(lseek(fd_, 0, SEEK_END), 0)); }
  // nullopt where the file ends before, or cannot be read.
  std::optional<std::string> Read(uint64_t offset, uint64_t count) const {
    if (offset > size() || count > size() - offset) return std::nullopt;
    std::string bytes(count, '\0');
    for (uint64_t done = 0; done < count;) {
      const ssize_t got = pread(fd_, bytes.data() + done, count - done, off_t(offset + done));
      if (got <= 0) return std::nullopt;
      done += uint64_t(got);
    }
    return bytes;
  }

 private:
  const int fd_;
};

// The list of files, which stands at the end.
Result<std::string> ReadFolder(const ZipFile& file) {
  const uint64_t tail_bytes = std::min<uint64_t>(file.size(), kEndBytes + kLongestNote);
  const std::optional<std::string> tail = file.Read(file.size() - tail_bytes, tail_bytes);
  const size_t end = tail ? tail->rfind(std::string_view("PK\x05\x06", 4)) : std::string::npos;
  if (end == std::string::npos || tail->size() - end < kEndBytes)
    return DataLoss("no zip, or one without its end: load it again");
  ByteReader reader(std::string_view(*tail).substr(end + 12));
  const uint32_t bytes = reader.Get<uint32_t>(), offset = reader.Get<uint32_t>();
  if (offset == UINT32_MAX) return DataLoss("a zip of more than 4 GiB is not read: unpack it and name the folder");
  std::optional<std::string> folder = bytes <= kLargestFolder ? file.Read(offset, bytes) : std::nullopt;
  if (!folder) return DataLoss("the zip's list of files is damaged: load it again");
  return *std::move(folder);
}

std::optional<ZipEntry> TakeEntry(ByteReader& reader) {
  ZipEntry entry;
  if (reader.Get<uint32_t>() != kFolderMark) return std::nullopt;
  reader.Take(4);
  entry.flags = reader.Get<uint16_t>(), entry.method = reader.Get<uint16_t>();
  reader.Take(4);
  entry.crc = reader.Get<uint32_t>(), entry.packed = reader.Get<uint32_t>(), entry.size = reader.Get<uint32_t>();
  const uint16_t name = reader.Get<uint16_t>(), extra = reader.Get<uint16_t>(), note = reader.Get<uint16_t>();
  reader.Take(4);
  entry.mode = reader.Get<uint32_t>() >> 16, entry.offset = reader.Get<uint32_t>();
  entry.name = std::string(reader.Take(name));
  reader.Take(size_t(extra) + note);
  if (reader.failed()) return std::nullopt;
  return entry;
}

// nullopt unless the bytes are one deflated stream of exactly `size` bytes.
std::optional<std::string> Inflate(std::string packed, uint32_t size) {
  std::string content(size_t(size) + 1, '\0');  // room for one more, which would show
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(packed.data()), stream.avail_in = uInt(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data()), stream.avail_out = uInt(content.size());
  const bool is_whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!is_whole) return std::nullopt;
  content.pop_back();
  return content;
}

std::optional<std::string> ContentOf(const ZipFile& file, const ZipEntry& entry) {
  constexpr uint64_t kMostGrowth = 1 << 16;  // by packing
  if (entry.packed > entry.size + kMostGrowth) return std::nullopt;
  const std::optional<std::string> header = file.Read(entry.offset, kFileBytes);
  if (!header) return std::nullopt;
  ByteReader reader(*header);
  if (reader.Get<uint32_t>() != kFileMark) return std::nullopt;
  reader.Take(22);
  const uint16_t name = reader.Get<uint16_t>(), extra = reader.Get<uint16_t>();
  std::optional<std::string> content = file.Read(uint64_t(entry.offset) + kFileBytes + name + extra, entry.packed);
  if (content && entry.method == kDeflated) content = Inflate(*std::move(content), entry.size);
  if (!content || content->size() != entry.size) return std::nullopt;
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(content->data()), uInt(content->size()));
  return crc == entry.crc ? std::move(content) : std::nullopt;
}

bool IsPlainFile(const ZipEntry& entry) {
  return !entry.name.ends_with('/') && (entry.mode & kModeMask) != kLinkMode && !(entry.flags & kEncrypted) &&
         (entry.method == kStored || entry.method == kDeflated);
}

}  // namespace

Status ReadZip(const fs::path& path, const ArchiveVisitor& visitor) {
  const ZipFile file(path);
  if (!file.is_open()) return IoError(std::generic_category().message(errno));
  ASSIGN_OR_RETURN(const std::string folder, ReadFolder(file));
  Status damage;
  for (ByteReader reader(folder); reader.remaining() > 0;) {
    if (visitor.stop && visitor.stop()) return Interrupted("stopped");
    const std::optional<ZipEntry> entry = TakeEntry(reader);
    if (!entry) return DataLoss("the zip's list of files is damaged: load it again");
    if (!IsPlainFile(*entry) || !visitor.wants(entry->name, entry->size)) continue;
    std::optional<std::string> content = ContentOf(file, *entry);
    if (content)
      RETURN_IF_ERROR(visitor.read(entry->name, *std::move(content)));
    else if (damage.ok())
      damage = DataLoss(fmt::format("{} in it is damaged: load it again", WithoutControls(entry->name)));
  }
  return damage;
}

}  // namespace gemmsmith
