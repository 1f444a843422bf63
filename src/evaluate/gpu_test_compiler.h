// The compiler of GPU tests; results are kept.
#pragma once

#include <algorithm>
#include <filesystem>

#include "base/all_cores.h"
#include "base/files.h"
#include "compile/compiler.h"

namespace gemmsmith {

inline std::filesystem::path ProgramBesideTests() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gemmsmith";
}

// A few kernels: in this process.
inline Result<std::unique_ptr<Compiler>> MakeCompilerHere() {
  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> nvrtc, MakeNvrtcCompiler());
  return MakeCachedCompiler(std::move(nvrtc), HomeFolder() / "cache");
}

// Many: in a process for each core, of the program that stands beside the tests.
inline Result<std::unique_ptr<Compiler>> MakeCompilerOnAllCores() {
  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> here, MakeNvrtcCompiler());
  return MakeCachedCompiler(
      MakeCompilerProcesses(std::move(here), {ProgramBesideTests().string(), "compiler"}, CoreCount()),
      HomeFolder() / "cache");
}

}  // namespace gemmsmith
