#include <fcntl.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "corpus/collect/archive_kinds.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr size_t kTarBlock = 512;
constexpr uint64_t kLongestTarName = 1 << 20;

// Bytes of a file, unpacked where it is gzipped.
class GzipFile {
 public:
  explicit GzipFile(const fs::path& path) : file_(gzopen(path.c_str(), "rbe")) {
    if (file_ != nullptr) gzbuffer(file_, 1 << 18);
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile() {
    if (file_ != nullptr) gzclose_r(file_);
  }
  bool is_open() const { return file_ != nullptr; }

  // Fewer bytes where the file ends, or its packing is damaged.
  std::string Read(uint64_t count) {
    std::string bytes(count, '\0');
    bytes.resize(size_t(std::max(0, gzread(file_, bytes.data(), unsigned(count)))));
    return bytes;
  }
  bool Skip(uint64_t count) {
    char buffer[1 << 14];
    for (; count > 0; count -= std::min<uint64_t>(count, sizeof buffer)) {
      const int wanted = int(std::min<uint64_t>(count, sizeof buffer));
      if (gzread(file_, buffer, unsigned(wanted)) != wanted) return false;
    }
    return true;
  }
  // Whether what is left, up to the sum at the end, is sound.
  bool HasSoundEnd() {
    while (Read(1 << 18).size() > 0) continue;
    int error = Z_OK;
    gzerror(file_, &error);
    return error == Z_OK || error == Z_STREAM_END;
  }

 private:
  const gzFile file_;
};

struct TarEntry {
  std::string name;
  uint64_t size = 0;
  char type = '0';
};

std::string_view FieldOf(std::string_view header, size_t begin, size_t size) {
  const std::string_view field = header.substr(begin, size);
  return field.substr(0, field.find('\0'));
}

// Octal digits, or from a set top bit on a binary number of eight bytes.
std::optional<uint64_t> NumberIn(std::string_view field) {
  uint64_t value = 0;
  if (!field.empty() && (field[0] & 0x80) != 0) {
    for (const char c : field.substr(field.size() - 8)) value = value << 8 | uint8_t(c);
    return value;
  }
  for (const char c : field) {
    if (c == ' ' || c == '\0') continue;
    if (c < '0' || c > '7') return std::nullopt;
    value = value << 3 | uint64_t(c - '0');
  }
  return value;
}

bool HasItsSum(std::string_view header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < header.size(); ++i) sum += i >= 148 && i < 156 ? ' ' : uint8_t(header[i]);
  return NumberIn(header.substr(148, 8)) == sum;
}

std::optional<TarEntry> ParseTarHeader(std::string_view header) {
  const std::optional<uint64_t> size = NumberIn(header.substr(124, 12));
  if (!HasItsSum(header) || !size || *size > uint64_t{1} << 40) return std::nullopt;
  TarEntry entry{.name = std::string(FieldOf(header, 0, 100)), .size = *size, .type = header[156]};
  const std::string_view prefix = FieldOf(header, 345, 155);
  if (header.substr(257, 5) == "ustar" && header[262] == '\0' && !prefix.empty())
    entry.name = fmt::format("{}/{}", prefix, entry.name);
  return entry;
}

// The records "LENGTH KEY=VALUE\n" of a header that says more about the next file.
void TakePaxRecords(std::string_view records, std::optional<std::string>& name, std::optional<uint64_t>& size) {
  while (!records.empty()) {
    const size_t space = records.find(' ');
    const std::optional<long long> length = ParseInteger(records.substr(0, space));
    if (!length || *length <= (long long)space + 1 || size_t(*length) > records.size()) return;
    const std::string_view record = records.substr(space + 1, size_t(*length) - space - 2);
    if (record.starts_with("path=")) name = std::string(record.substr(5));
    if (const auto told = record.starts_with("size=") ? ParseInteger(record.substr(5)) : std::nullopt;
        told && *told >= 0)
      size = uint64_t(*told);
    records.remove_prefix(size_t(*length));
  }
}

class TarReader {
 public:
  TarReader(const fs::path& path, const ArchiveVisitor& visitor) : file_(path), visitor_(visitor) {}

  Status Run() {
    if (!file_.is_open()) return IoError(std::generic_category().message(errno));
    for (;;) {
      if (visitor_.stop && visitor_.stop()) return Interrupted("stopped");
      const std::string header = file_.Read(kTarBlock);
      if (header.size() < kTarBlock) return CutOff();
      if (header.find_first_not_of('\0') == std::string::npos) return file_.HasSoundEnd() ? OkStatus() : CutOff();
      std::optional<TarEntry> entry = ParseTarHeader(header);
      if (!entry) return DataLoss(fmt::format("{}: load it again", files_ == 0 ? "no tar" : "a damaged tar"));
      RETURN_IF_ERROR(TakeEntry(*std::move(entry)));
    }
  }

 private:
  Status CutOff() const { return DataLoss(fmt::format("cut off after {}: load it again", Plural(files_, "file"))); }

  static uint64_t Padding(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

  Status TakeEntry(TarEntry entry) {
    if (entry.type == 'L' || entry.type == 'x') return TakeLongName(entry);
    if (next_size_) entry.size = *next_size_;
    if (next_name_) entry.name = *std::move(next_name_);
    next_name_.reset(), next_size_.reset();
    const bool is_file = entry.type == '0' || entry.type == '\0' || entry.type == '7';
    if (!is_file || !visitor_.wants(entry.name, entry.size)) {
      if (!file_.Skip(entry.size + Padding(entry.size))) return CutOff();
      files_ += is_file ? 1 : 0;
      return OkStatus();
    }
    std::string content = file_.Read(entry.size);
    if (content.size() != entry.size || !file_.Skip(Padding(entry.size))) return CutOff();
    ++files_;
    return visitor_.read(entry.name, std::move(content));
  }

  Status TakeLongName(const TarEntry& entry) {
    if (entry.size > kLongestTarName) return DataLoss("a damaged tar: load it again");
    const std::string text = file_.Read(entry.size);
    if (text.size() != entry.size || !file_.Skip(Padding(entry.size))) return CutOff();
    if (entry.type == 'L')
      next_name_ = text.c_str();
    else
      TakePaxRecords(text, next_name_, next_size_);
    return OkStatus();
  }

  GzipFile file_;
  const ArchiveVisitor& visitor_;
  std::optional<std::string> next_name_;
  std::optional<uint64_t> next_size_;
  int64_t files_ = 0;
};

}  // namespace

Status ReadTar(const fs::path& path, const ArchiveVisitor& visitor) { return TarReader(path, visitor).Run(); }

}  // namespace gemmsmith
