#include "policy/train/file_in_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"

namespace gemmsmith {

Result<FileInPlace> FileInPlace::Create(const std::filesystem::path& path, std::string_view content) {
  RETURN_IF_ERROR(WriteFileAtomic(path, content));
  return Open(path);
}

Result<FileInPlace> FileInPlace::Open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return IoError(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  return FileInPlace(path, descriptor);
}

FileInPlace::FileInPlace(FileInPlace&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FileInPlace::~FileInPlace() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status FileInPlace::Write(size_t place, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), off_t(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write");
    bytes.remove_prefix(size_t(written));
    place += size_t(written);
  }
  return OkStatus();
}

Status FileInPlace::Sync() { return ::fdatasync(descriptor_) == 0 ? OkStatus() : Failed("sync"); }

Status FileInPlace::Failed(std::string_view what) const {
  return IoError(fmt::format("cannot {} {}: {}", what, path_.string(), std::strerror(errno)));
}

}  // namespace gemmsmith
