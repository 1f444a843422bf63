// What GPU tests that make many kernels compile with.
#pragma once

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "compile/compiler.h"

namespace gemmsmith {

// In a process for each core, of the program that stands beside the tests; what was compiled once is kept.
inline Result<std::unique_ptr<Compiler>> MakeCompilerOnAllCores() {
  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> here, MakeNvrtcCompiler());
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gemmsmith";
  const int processes = int(std::max(1u, std::thread::hardware_concurrency()));
  return MakeCachedCompiler(MakeCompilerProcesses(std::move(here), {program.string(), "compiler"}, processes),
                            HomeFolder() / "cache");
}

}  // namespace gemmsmith
