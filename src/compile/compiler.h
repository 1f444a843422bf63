// Source -> Binary. No GPU and no driver needed; safe to call from many threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/binary.h"
#include "program/source.h"

namespace gemmsmith {

class Compiler {
 public:
  virtual ~Compiler() = default;
  // Returns a Status only if the environment failed (no toolchain, disk full). architecture: "sm_90a".
  virtual Result<Compilation> Compile(const Source& source, std::string_view architecture) = 0;
  // Compiler and version, flags included: "nvrtc 13.0 --std=c++17 ..."; part of every cache key and record.
  virtual std::string Identity() const = 0;
};

// In process, through libnvrtc opened at run time.
Result<std::unique_ptr<Compiler>> MakeNvrtcCompiler();
// The same text through nvcc, as a process.
Result<std::unique_ptr<Compiler>> MakeNvccCompiler();
// Keeps what `compiler` makes under `folder`, keyed by text, headers, architecture and Identity(). Damaged entries are
// rebuilt; two processes may race; a full disk costs the cache entry, never the compilation.
std::unique_ptr<Compiler> MakeCachedCompiler(std::unique_ptr<Compiler> compiler, std::filesystem::path folder);
// Keeps the latest results in memory. Concurrent requests for one text ask `compiler` once. A remembered result has no
// compile seconds and counts as cached.
std::unique_ptr<Compiler> MakeRememberingCompiler(std::unique_ptr<Compiler> compiler, size_t max_bytes);

// Compiles in up to `count` processes, each started by `command` when first needed. Uses `here` only if no process can
// be started. A text that crashes the compiler costs a process and does not compile. A compiler that is killed, hangs
// or cannot start is Unavailable. NVRTC 13.0 holds a process-wide lock for some 50 ms of every compilation, so threads
// of one process do not scale.
std::unique_ptr<Compiler> MakeCompilerProcesses(std::unique_ptr<Compiler> here, std::vector<std::string> command,
                                                int count);
// The other end: serves from `in` until it closes. Returns an exit code.
int ServeCompilations(Compiler& compiler, int in, int out);

}  // namespace gemmsmith
