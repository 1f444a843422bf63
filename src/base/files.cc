#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/descriptors.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// From errno, as the call that just failed left it.
Status Failure(std::string_view verb, const fs::path& path) {
  const int error = errno;
  std::string message = fmt::format("cannot {} {}: {}", verb, path.string(), std::generic_category().message(error));
  return error == ENOENT ? NotFound(std::move(message)) : IoError(std::move(message));
}

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

// Up to a buffer more than is allowed.
bool ReadAll(int fd, std::string& content) {
  char buffer[1 << 16];
  while (content.size() <= kMaxBytes) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    content.append(buffer, size_t(count));
  }
  return true;
}

// A name beside `path` that no other thread or process uses.
fs::path NameBeside(const fs::path& path) {
  static std::atomic<uint32_t> counter = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return path.parent_path() /
         fmt::format(".{}.{}.{:x}.{}", path.filename().string(), ::getpid(), now, counter.fetch_add(1));
}

Status WriteSynced(const fs::path& path, std::string_view content) {
  OpenFile file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (file.fd() < 0) return Failure("create", path);
  if (!WriteAll(file.fd(), content) || ::fsync(file.fd()) != 0 || ::close(file.Release()) != 0)
    return Failure("write", path);
  return OkStatus();
}

// A pipe, a terminal or a device has no content to keep whole.
Status WriteThrough(const fs::path& path, std::string_view content) {
  OpenFile file(path, O_WRONLY);
  if (file.fd() < 0) return Failure("open", path);
  if (!WriteAll(file.fd(), content)) return Failure("write", path);
  return OkStatus();
}

// "123 (gemmsmith optimize 64x64x64)": what a holder writes into its lock file for those who wait.
std::string ThisProcess() {
  std::string command;
  if (Result<std::string> words = ReadFile("/proc/self/cmdline"); words.ok()) command = *std::move(words);
  while (!command.empty() && command.back() == '\0') command.pop_back();
  for (char& c : command)
    if (c == '\0' || c == '\n') c = ' ';
  return fmt::format("{} ({})", ::getpid(), command);
}

}  // namespace

Result<bool> Exists(const fs::path& path) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) return IoError(fmt::format("cannot read {}: {}", path.string(), error.message()));
  return exists;
}

Result<std::string> ReadFile(const fs::path& path) {
  const auto too_large = [&] { return IoError(fmt::format("cannot read {}: larger than 1 GiB", path.string())); };
  OpenFile file(path, O_RDONLY);
  if (file.fd() < 0) return Failure("open", path);
  if (struct stat status; ::fstat(file.fd(), &status) == 0 && uint64_t(status.st_size) > kMaxBytes) return too_large();
  std::string content;
  if (!ReadAll(file.fd(), content)) return Failure("read", path);
  if (content.size() > kMaxBytes) return too_large();
  return content;
}

Status WriteFileAtomic(const fs::path& path, std::string_view content) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return InvalidArgument(fmt::format("cannot write {}: it is a folder", path.string()));
  if (fs::exists(status) && !fs::is_regular_file(status)) return WriteThrough(path, content);

  // Through a symbolic link, so that the link stays.
  fs::path target = fs::weakly_canonical(fs::absolute(path), error);
  if (error || target.empty()) target = fs::absolute(path);
  const fs::path folder = target.parent_path();
  fs::create_directories(folder, error);
  if (error) return IoError(fmt::format("cannot create folder {}: {}", folder.string(), error.message()));

  const fs::path temporary = NameBeside(target);
  Status written = WriteSynced(temporary, content);
  if (written.ok() && ::rename(temporary.c_str(), target.c_str()) != 0) written = Failure("replace", target);
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  // The rename itself must reach the disk too. Some file systems cannot sync a folder; nothing more can be done there.
  if (OpenFile opened(folder, O_RDONLY | O_DIRECTORY); opened.fd() >= 0) (void)::fsync(opened.fd());
  return OkStatus();
}

Result<TemporaryFolder> TemporaryFolder::Create(std::string_view prefix) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return IoError(fmt::format("no folder for temporary files ($TMPDIR): {}", error.message()));
  std::string name = (parent / fmt::format("{}.XXXXXX", prefix)).string();
  if (::mkdtemp(name.data()) == nullptr) return Failure("create temporary folder", name);
  return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

// The file stays when the lock goes: removing it would let two processes hold locks on two files of one name.
Result<int> Lock(const fs::path& path, bool wait) {
  std::error_code error;
  fs::create_directories(fs::absolute(path).parent_path(), error);
  // Where folders are shared, the kernel may refuse O_CREAT on a file that another user made (fs.protected_regular).
  OpenFile file(path, fs::exists(path, error) ? O_RDWR : O_RDWR | O_CREAT);
  if (file.fd() < 0) return Failure("open lock", path);
  if (::flock(file.fd(), LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) {
    if (errno == EINTR) return Interrupted(fmt::format("interrupted while waiting for lock {}", path.string()));
    if (errno != EWOULDBLOCK) return Failure("lock", path);
    std::string holder;
    if (!ReadAll(file.fd(), holder) || holder.empty()) holder = "unknown";
    while (holder.ends_with('\n')) holder.pop_back();
    return Unavailable(fmt::format("{} is held by process {}", path.string(), holder));
  }
  // Only information for others: the lock holds even where the disk is full.
  if (::ftruncate(file.fd(), 0) == 0) (void)WriteAll(file.fd(), ThisProcess() + "\n");
  return file.Release();
}

}  // namespace

Result<FileLock> FileLock::TryAcquire(const fs::path& path) {
  ASSIGN_OR_RETURN(const int fd, Lock(path, false));
  return FileLock(fd);
}

Result<FileLock> FileLock::Acquire(const fs::path& path) {
  ASSIGN_OR_RETURN(const int fd, Lock(path, true));
  return FileLock(fd);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

fs::path HomeFolder() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (fs::path chosen = variable("GEMMSMITH_HOME"); !chosen.empty()) return chosen;
  if (fs::path data = variable("XDG_DATA_HOME"); !data.empty()) return data / "gemmsmith";
  if (fs::path home = variable("HOME"); !home.empty()) return home / ".local/share/gemmsmith";
  return fs::path("/tmp") / fmt::format("gemmsmith-{}", ::getuid());
}

}  // namespace gemmsmith
