// Files and folders. Nothing here ever leaves a half-written file behind under its final name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// Whether something is there; an error where that cannot be told, as in a folder that is closed to us.
Result<bool> Exists(const std::filesystem::path& path);
// Refuses a file larger than a gibibyte, or one that never ends.
Result<std::string> ReadFile(const std::filesystem::path& path);
// Temporary file in the same folder, fsync, rename. Creates missing folders.
Status WriteFileAtomic(const std::filesystem::path& path, std::string_view content);

// A new private folder, removed with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Create(std::string_view prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Exclusive advisory lock on a file; other processes wait or are told who holds it.
class FileLock {
 public:
  // Returns at once; nullopt-like Unavailable when another process holds it (the message names its pid and command).
  static Result<FileLock> TryAcquire(const std::filesystem::path& path);
  // Waits for it.
  static Result<FileLock> Acquire(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

// Where the user's caches, archive and results live: $GEMMSMITH_HOME, else $XDG_DATA_HOME/gemmsmith, else
// ~/.local/share/gemmsmith.
std::filesystem::path HomeFolder();

}  // namespace gemmsmith
