#include "corpus/collect/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "corpus/collect/archive_files.h"
#include "corpus/collect/file_names.h"
#include "corpus/collect/license.h"
#include "corpus/collect/plain_text.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

bool IsCollected(std::string_view path) {
  return (IsCodeName(path) || IsPageName(path)) && !IsLicenseFileName(LastName(path));
}

// Whether a file says something about licences.
bool IsAboutLicenses(std::string_view path) {
  return path.ends_with(".dist-info/METADATA") || path.ends_with(".dist-info/RECORD") || LastName(path) == "PKG-INFO" ||
         IsLicenseFileName(LastName(path));
}

// nullopt where a file is too large, or cannot be read.
std::optional<std::string> SmallFile(const fs::path& path) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  if (error || bytes > kLargestSourceFile) return std::nullopt;
  Result<std::string> text = ReadFile(path);
  if (!text.ok()) return std::nullopt;
  return *std::move(text);
}

// Licences are read before the files themselves. METADATA and RECORD are kept until both are there.
class LicenseFinder {
 public:
  void Add(const std::string& path, std::string text) {
    if (path.ends_with(".dist-info/METADATA"))
      AddHalf(path, std::move(text), &Package::metadata);
    else if (path.ends_with(".dist-info/RECORD"))
      AddHalf(path, std::move(text), &Package::record);
    else if (LastName(path) == "PKG-INFO")
      map_.AddPackage(path, text, "");
    else
      map_.AddFile(path, text);
  }
  void AddRoot(std::string license) { map_.AddRoot(std::move(license)); }
  // One line on packages that are not known, if there are such.
  std::optional<std::string> problem() const {
    if (!is_full_) return std::nullopt;
    return fmt::format("over {} bytes of METADATA and RECORD without the other; some licences are not known",
                       CountText(int64_t(kMostWaitingBytes)));
  }
  LicenseMap Finish() { return std::move(map_); }

 private:
  static constexpr size_t kMostWaitingBytes = 16 << 20;
  struct Package {
    std::optional<std::string> metadata, record;
  };

  void AddHalf(const std::string& path, std::string text, std::optional<std::string> Package::*half) {
    const std::string folder = path.substr(0, path.rfind('/'));
    Package& package = waiting_[folder];
    waiting_bytes_ += text.size();
    package.*half = std::move(text);
    if (package.metadata && package.record) map_.AddPackage(folder + "/METADATA", *package.metadata, *package.record);
    is_full_ = is_full_ || waiting_bytes_ > kMostWaitingBytes;
    if ((!package.metadata || !package.record) && waiting_bytes_ <= kMostWaitingBytes) return;
    for (const std::optional<std::string>& text_of : {package.metadata, package.record})
      waiting_bytes_ -= text_of ? text_of->size() : 0;
    waiting_.erase(folder);
  }

  LicenseMap map_;
  std::map<std::string, Package> waiting_;  // by the package's folder
  size_t waiting_bytes_ = 0;
  bool is_full_ = false;
};

Status ReadOne(const SourceHooks& hooks, SourceFile file, std::string bytes) {
  std::optional<std::string> text = PlainText(std::move(bytes));
  if (!text) {
    hooks.left_out(fmt::format("{}/{}: no text", file.source, file.path));
    return OkStatus();
  }
  file.text = *std::move(text);
  if (std::optional<std::string> own = LicenseIn(file.text)) file.license = *std::move(own);
  return hooks.read(std::move(file));
}

std::string TooLarge(uint64_t bytes) {
  return fmt::format("{} bytes, and {} are the most; left out", CountText(int64_t(bytes)),
                     CountText(int64_t(kLargestSourceFile)));
}

class ArchiveSource {
 public:
  ArchiveSource(const fs::path& path, const SourceHooks& hooks)
      : path_(path), name_(path.filename().string()), hooks_(hooks) {}

  Status Run() {
    RETURN_IF_ERROR(FindLicenses());
    Status failure;  // of the reader, which is no damage
    const Status read = ReadArchive(
        path_,
        {.wants = [&](const std::string& name, uint64_t size) { return Wants(name, size); },
         .read = [&](const std::string& name, std::string content) { return failure = Read(name, std::move(content)); },
         .stop = hooks_.stop});
    RETURN_IF_ERROR(failure);
    if (read.code() == StatusCode::kInterrupted) return read;
    if (!read.ok()) hooks_.unread(fmt::format("{}: {}", path_.string(), read.message()));
    return OkStatus();
  }

 private:
  // Damage is told by the second reading.
  Status FindLicenses() {
    LicenseFinder finder;
    const Status read = ReadArchive(
        path_,
        {.wants = [](const std::string& name,
                     uint64_t size) { return IsSafePath(name) && IsAboutLicenses(name) && size <= kLargestSourceFile; },
         .read =
             [&](const std::string& name, std::string content) {
               finder.Add(name, std::move(content));
               return OkStatus();
             },
         .stop = hooks_.stop});
    if (read.code() == StatusCode::kInterrupted) return read;
    if (const std::optional<std::string> problem = finder.problem())
      hooks_.unread(fmt::format("{}: {}", path_.string(), *problem));
    licenses_ = finder.Finish();
    return OkStatus();
  }

  bool Wants(const std::string& name, uint64_t size) const {
    if (!IsCollected(name)) return false;
    if (!IsSafePath(name)) {
      hooks_.left_out(fmt::format("{}: '{}' leads out of the archive; left out", name_, WithoutControls(name)));
      return false;
    }
    if (size > kLargestSourceFile) hooks_.left_out(fmt::format("{}/{}: {}", name_, name, TooLarge(size)));
    return size <= kLargestSourceFile;
  }

  Status Read(const std::string& name, std::string content) const {
    return ReadOne(hooks_, {.source = name_, .path = name, .license = licenses_.Of(name), .text = {}},
                   std::move(content));
  }

  const fs::path path_;
  const std::string name_;
  const SourceHooks& hooks_;
  LicenseMap licenses_;
};

// Names in a folder, sorted. Hidden ones are left out.
Result<std::vector<std::string>> NamesInFolder(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (std::string name = entry->path().filename().string(); !name.starts_with('.')) names.push_back(std::move(name));
  if (error) return IoError(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(names);
  return names;
}

// A licence in a folder above the tree, up to the one that holds a repository.
std::optional<std::string> LicenseAbove(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder / ".git", error) && folder.has_relative_path()) {
    folder = folder.parent_path();
    for (const char* name : {"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"}) {
      if (!fs::is_regular_file(folder / name, error)) continue;
      const std::optional<std::string> text = SmallFile(folder / name);
      return text ? LicenseOfFile(*text) : std::nullopt;
    }
  }
  return std::nullopt;
}

class TreeSource {
 public:
  TreeSource(const fs::path& root, const SourceHooks& hooks)
      : root_(root), name_(LastName(fs::absolute(root).lexically_normal().string())), hooks_(hooks) {}

  Status Run() {
    FindRootLicense(root_);
    RETURN_IF_ERROR(Walk("", [&](const std::string& path) {
      if (IsAboutLicenses(path))
        if (std::optional<std::string> text = SmallFile(root_ / path)) finder_.Add(path, *std::move(text));
      return OkStatus();
    }));
    if (const std::optional<std::string> problem = finder_.problem()) Tell(hooks_.unread, root_.string(), *problem);
    licenses_ = finder_.Finish();
    return Walk("", [&](const std::string& path) { return Read(path); });
  }

  // A page or a source by itself.
  Status RunFile(const std::string& name) {
    FindRootLicense(root_ / name);
    licenses_ = finder_.Finish();
    return Read(name);
  }

 private:
  void FindRootLicense(const fs::path& path) {
    std::error_code error;
    if (std::optional<std::string> above = LicenseAbove(fs::weakly_canonical(path, error))) finder_.AddRoot(*above);
  }

  Status Walk(const std::string& folder, const std::function<Status(const std::string& path)>& visit) {
    const Result<std::vector<std::string>> names = NamesInFolder(root_ / folder);
    if (!names.ok() && folder.empty()) return names.status();
    if (!names.ok()) {
      Tell(hooks_.unread, folder, names.status().message());
      return OkStatus();
    }
    for (const std::string& name : *names) {
      if (hooks_.stop && hooks_.stop()) return Interrupted("stopped");
      const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
      std::error_code error;
      const fs::file_status status = fs::symlink_status(root_ / path, error);
      if (fs::is_directory(status)) RETURN_IF_ERROR(Walk(path, visit));
      if (fs::is_regular_file(status)) RETURN_IF_ERROR(visit(path));
    }
    return OkStatus();
  }

  void Tell(const std::function<void(std::string)>& hook, const std::string& path, const std::string& why) {
    if (told_.insert(path).second) hook(why);
  }

  Status Read(const std::string& path) {
    if (IsArchiveName(path)) return ArchiveSource(root_ / path, hooks_).Run();
    if (!IsCollected(path)) return OkStatus();
    std::error_code error;
    const uint64_t bytes = fs::file_size(root_ / path, error);
    if (!error && bytes > kLargestSourceFile) {
      Tell(hooks_.left_out, path, fmt::format("{}: {}", (root_ / path).string(), TooLarge(bytes)));
      return OkStatus();
    }
    Result<std::string> content = ReadFile(root_ / path);
    if (!content.ok()) {
      Tell(hooks_.unread, path, content.status().message());
      return OkStatus();
    }
    return ReadOne(hooks_, {.source = name_, .path = path, .license = licenses_.Of(path), .text = {}},
                   *std::move(content));
  }

  const fs::path root_;
  const std::string name_;
  const SourceHooks& hooks_;
  LicenseFinder finder_;
  LicenseMap licenses_;
  std::set<std::string> told_;  // by both walks
};

}  // namespace

Status ReadSource(const fs::path& source, const SourceHooks& hooks) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (!fs::exists(status)) return NotFound(fmt::format("{}: no such tree, archive or page", source.string()));
  fs::path path = source;
  if (!path.has_filename()) path = path.parent_path();  // a slash at the end
  if (fs::is_directory(status)) return TreeSource(path, hooks).Run();
  const std::string name = path.filename().string();
  if (IsArchiveName(name)) return ArchiveSource(path, hooks).Run();
  if (!IsCollected(name))
    return InvalidArgument(
        fmt::format("{}: no tree, archive (.whl, .zip, .tar, .tar.gz), page or CUDA source", source.string()));
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return TreeSource(folder, hooks).RunFile(name);
}

}  // namespace gemmsmith
