#include "base/companion_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/installation.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

void OpenWhatItStandsOn(const CompanionLibrary& library) {
  if (const std::string_view root = Environment(library.root_variable); !root.empty())
    dlopen((fs::path(root) / library.root_file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Its names stay its own: what it stands on may bring libraries that the program has opened in another version.
Result<void*> OpenFirst(const CompanionLibrary& library) {
  const std::vector<std::string> paths = PathsOf(library);
  const auto path = std::find_if(paths.begin(), paths.end(), IsFile);
  if (path == paths.end())
    return Unavailable(
        fmt::format("{} was not built here (looked for {}); run {}", library.purpose, Join(paths, ", "), library.tool));
  OpenWhatItStandsOn(library);
  if (void* const handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return Unavailable(fmt::format("{} does not load: {}; build it again with {}", *path, LoaderError(), library.tool));
}

Status OfAnotherVersion(const CompanionLibrary& library) {
  return Unavailable(fmt::format("{} is of another version; build it again with {}", library.file, library.tool));
}

}  // namespace

std::vector<std::string> PathsOf(const CompanionLibrary& library) {
  std::vector<std::string> paths;
  if (const std::string_view path = Environment(library.variable); !path.empty()) paths.emplace_back(path);
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return paths;
  for (const fs::path& place : {folder, folder / "lib", folder.parent_path() / "lib"})
    paths.push_back((place / library.file).string());
  return paths;
}

Result<OpenCompanion> OpenCompanion::Open(const CompanionLibrary& library) {
  ASSIGN_OR_RETURN(void* const handle, OpenFirst(library));
  OpenCompanion companion(library, handle);
  int (*version)() = nullptr;
  companion.Find(version, library.version_name);
  if (version == nullptr || version() != library.version) return OfAnotherVersion(library);
  return companion;
}

void* OpenCompanion::Find(const char* name) {
  void* const function = dlsym(handle_, name);
  if (function == nullptr) found_all_ = OfAnotherVersion(library_);
  return function;
}

}  // namespace gemmsmith
