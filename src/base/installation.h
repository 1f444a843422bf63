// Where things are on this machine: libraries and tools that we do not ship, and folders that we do.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// The value of an environment variable; one that is not set is as good as empty.
std::string_view Environment(const char* name);
// Folders that may hold the CUDA toolkit, in order: $GEMMSMITH_CUDA, $CUDA_HOME, $CUDA_PATH, the one the set-up
// installed (its path is compiled in), /usr/local/cuda.
std::vector<std::filesystem::path> ToolkitFolders();
// Opens the first of them that has this library ("libnvrtc.so.13"), else what the loader finds. A failure is
// Unavailable, says where it looked and what to do. The library stays open for the life of the process.
Result<void*> OpenLibrary(const std::string& soname);
// The last error of dlopen() or dlsym().
std::string LoaderError();
// The file that OpenLibrary() would open in the toolkit folders.
std::optional<std::filesystem::path> FindLibrary(const std::string& soname);
// "nvcc", "nvdisasm": in the toolkit folders, then on PATH.
std::optional<std::filesystem::path> FindProgram(const std::string& name);
// Where packages of Python may lie that we read files of, in order: .deps/python beside the sources, the active virtual
// environment, where python3 keeps them.
std::vector<std::filesystem::path> PythonPackageFolders();
// Where a folder of ours ("data", "tests/honest_kernels") may be, in order: ../share/gemmsmith of the program, the
// folders above the program, the source tree it was built from.
std::vector<std::filesystem::path> OwnFolders(const std::filesystem::path& name);

}  // namespace gemmsmith
