#include "base/installation.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

// "lib64" is what NVIDIA's installers make (with CUPTI, in some, apart), "lib" what its Python packages hold.
std::vector<fs::path> LibraryFolders() {
  std::vector<fs::path> folders;
  for (const fs::path& toolkit : ToolkitFolders()) {
    folders.push_back(toolkit / "lib64");
    folders.push_back(toolkit / "lib");
    folders.push_back(toolkit / "extras/CUPTI/lib64");
  }
  return folders;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsProgram(const fs::path& path) { return IsFile(path) && access(path.c_str(), X_OK) == 0; }

// libnvrtc opens libnvrtc-builtins.so.13.0 by its bare name, which the loader finds only in folders it knows
// (compilation ends in NVRTC_ERROR_BUILTIN_OPERATION_FAILURE otherwise). A library that is already open is found by its
// name: so open the libraries called LIBRARY-*.so.* of the same folder first. One that does not open is left to the
// library to miss.
void OpenCompanions(const fs::path& library, const std::string& soname) {
  const std::string prefix = soname.substr(0, soname.find(".so")) + "-";
  std::vector<fs::path> companions;
  std::error_code error;
  for (fs::directory_iterator entry(library.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(prefix) && name.find(".so.") != std::string::npos) companions.push_back(entry->path());
  }
  std::sort(companions.begin(), companions.end());
  for (const fs::path& companion : companions) dlopen(companion.c_str(), RTLD_NOW | RTLD_LOCAL);
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

}  // namespace

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string LoaderError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown reason" : error;
}

std::vector<fs::path> ToolkitFolders() {
  std::vector<fs::path> folders;
  for (std::string_view folder : {Environment("GEMMSMITH_CUDA"), Environment("CUDA_HOME"), Environment("CUDA_PATH"),
                                  std::string_view(GEMMSMITH_CUDA_FOUND_ROOT), std::string_view("/usr/local/cuda")}) {
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.emplace_back(folder);
    }
  }
  return folders;
}

std::optional<fs::path> FindLibrary(const std::string& soname) {
  for (const fs::path& folder : LibraryFolders())
    if (fs::path library = folder / soname; IsFile(library)) return library;
  return std::nullopt;
}

Result<void*> OpenLibrary(const std::string& soname) {
  if (const std::optional<fs::path> library = FindLibrary(soname)) {
    OpenCompanions(*library, soname);
    if (void* handle = dlopen(library->c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    return Unavailable(fmt::format("{} does not load: {}", library->string(), LoaderError()));
  }
  if (void* handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  std::vector<std::string> looked;
  for (const fs::path& folder : ToolkitFolders()) looked.push_back(folder.string());
  return Unavailable(fmt::format(
      "no {} on this machine (looked in {} and where the loader looks: {}); set GEMMSMITH_CUDA to the root of a "
      "CUDA 13 toolkit, or run ./gemmsmith from the source tree, which installs one",
      soname, Join(looked, ", "), LoaderError()));
}

std::optional<fs::path> FindProgram(const std::string& name) {
  for (const fs::path& toolkit : ToolkitFolders()) {
    if (fs::path program = toolkit / "bin" / name; IsProgram(program)) return program;
  }
  for (std::string_view folder : Split(Environment("PATH"), ':')) {
    if (folder.empty()) continue;
    if (fs::path program = fs::path(folder) / name; IsProgram(program)) return program;
  }
  return std::nullopt;
}

std::vector<fs::path> PythonPackageFolders() {
  std::vector<fs::path> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string_view prefix = Environment(name); !prefix.empty()) prefixes.emplace_back(prefix);
  if (const auto python = FindProgram("python3")) prefixes.push_back(python->parent_path().parent_path());
  prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
  std::vector<fs::path> folders = {fs::path(GEMMSMITH_SOURCE_FOLDER) / ".deps/python"};
  for (const fs::path& prefix : prefixes) {
    const std::vector<fs::path> more = PackageFolders(prefix);
    folders.insert(folders.end(), more.begin(), more.end());
  }
  return folders;
}

std::vector<fs::path> OwnFolders(const fs::path& name) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error) {
    folders.push_back(program.parent_path() / "share" / "gemmsmith" / name);
    fs::path above = program;
    for (int level = 0; level < 4 && above.has_relative_path(); ++level) {
      folders.push_back(above / name);
      above = above.parent_path();
    }
  }
  folders.push_back(fs::path(GEMMSMITH_SOURCE_FOLDER) / name);
  return folders;
}

}  // namespace gemmsmith
