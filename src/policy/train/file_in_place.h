// A file that is overwritten in place. Written bytes belong to the system and survive the death of the process.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

class FileInPlace {
 public:
  // A new file in the place of what was there, on the disk when it returns.
  static Result<FileInPlace> Create(const std::filesystem::path& path, std::string_view content);
  static Result<FileInPlace> Open(const std::filesystem::path& path);
  FileInPlace(FileInPlace&& other) noexcept;
  FileInPlace& operator=(FileInPlace&&) = delete;
  ~FileInPlace();

  Status Write(size_t place, std::string_view bytes);
  // To the disk.
  Status Sync();

 private:
  FileInPlace(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status Failed(std::string_view what) const;

  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace gemmsmith
