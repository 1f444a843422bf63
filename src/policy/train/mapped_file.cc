#include "policy/train/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"

namespace gemmsmith {

Result<MappedFile> MappedFile::Create(const std::filesystem::path& path, std::string_view content) {
  RETURN_IF_ERROR(WriteFileAtomic(path, content));
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return IoError(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  void* const memory = ::mmap(nullptr, content.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  ::close(file);
  if (memory == MAP_FAILED) return IoError(fmt::format("cannot map {}: {}", path.string(), std::strerror(error)));
  return MappedFile({static_cast<char*>(memory), content.size()});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Status MappedFile::Sync() {
  if (::msync(bytes_.data(), bytes_.size(), MS_SYNC) == 0) return OkStatus();
  return IoError(fmt::format("a checkpoint does not reach the disk: {}", std::strerror(errno)));
}

}  // namespace gemmsmith
