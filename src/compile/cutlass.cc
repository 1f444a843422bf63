// Where CUTLASS is on this machine, if anywhere.
#include "base/installation.h"
#include "compile/source_program.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The include folders of a CUTLASS tree.
std::vector<fs::path> IncludesOf(const fs::path& tree) {
  if (!Exists(tree / "include/cutlass/cutlass.h")) return {};
  std::vector<fs::path> includes = {tree / "include"};
  if (const fs::path utilities = tree / "tools/util/include"; Exists(utilities)) includes.push_back(utilities);
  return includes;
}

}  // namespace

std::vector<fs::path> CutlassIncludes() {
  if (const fs::path given = Environment("GEMMSMITH_CUTLASS"); !given.empty()) {
    if (Exists(given / "cutlass/cutlass.h")) return {given};
    return IncludesOf(given);
  }
  for (const fs::path& folder : PythonPackageFolders())
    if (std::vector<fs::path> includes = IncludesOf(folder / "cutlass_library/source"); !includes.empty())
      return includes;
  return {};
}

}  // namespace gemmsmith
