// A file of one size that is written through memory: what a process wrote there is in the file when it is killed.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

class MappedFile {
 public:
  // A new file in the place of what was there, with its room on the disk.
  static Result<MappedFile> Create(const std::filesystem::path& path, std::string_view content);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<char> bytes() { return bytes_; }
  Status Sync();

 private:
  explicit MappedFile(std::span<char> bytes) : bytes_(bytes) {}
  std::span<char> bytes_;
};

}  // namespace gemmsmith
