// Source -> Binary. No GPU and no driver needed; safe to call from many threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compile/binary.h"
#include "program/source.h"

namespace gemmsmith {

class Compiler {
 public:
  virtual ~Compiler() = default;
  // A Status only where the world failed (no toolchain, disk full). architecture: "sm_90a".
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
// Keeps the latest answers in memory, and asks `compiler` once where several threads want the same text at the same
// time. What was remembered took no seconds and counts as from a cache.
std::unique_ptr<Compiler> MakeRememberingCompiler(std::unique_ptr<Compiler> compiler, size_t max_bytes);

}  // namespace gemmsmith
