// Where CUTLASS is on this machine, if anywhere.
#include <algorithm>
#include <cstdlib>

#include "base/installation.h"
#include "compile/shared_object.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::optional<fs::path> Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<fs::path>(value);
}

// Of a CUTLASS tree.
std::vector<fs::path> IncludesOf(const fs::path& tree) {
  if (!Exists(tree / "include/cutlass/cutlass.h")) return {};
  std::vector<fs::path> includes = {tree / "include"};
  if (const fs::path utilities = tree / "tools/util/include"; Exists(utilities)) includes.push_back(utilities);
  return includes;
}

// PREFIX/lib/python3.*/site-packages and what Debian calls it.
std::vector<fs::path> PackageFolders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(prefix / "lib", error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("python3")) continue;
    for (const char* name : {"site-packages", "dist-packages"}) folders.push_back(entry->path() / name);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<fs::path> PythonPackageFolders() {
  std::vector<fs::path> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = Environment(name)) prefixes.push_back(*prefix);
  if (const auto python = FindProgram("python3")) prefixes.push_back(python->parent_path().parent_path());
  prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
  std::vector<fs::path> folders = {GEMMSMITH_DEPENDENCIES};
  for (const fs::path& prefix : prefixes) {
    const std::vector<fs::path> more = PackageFolders(prefix);
    folders.insert(folders.end(), more.begin(), more.end());
  }
  return folders;
}

}  // namespace

std::vector<fs::path> CutlassIncludes() {
  if (const auto given = Environment("GEMMSMITH_CUTLASS")) {
    if (Exists(*given / "cutlass/cutlass.h")) return {*given};
    return IncludesOf(*given);
  }
  for (const fs::path& folder : PythonPackageFolders())
    if (std::vector<fs::path> includes = IncludesOf(folder / "cutlass_library/source"); !includes.empty())
      return includes;
  return {};
}

}  // namespace gemmsmith
