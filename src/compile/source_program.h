// From a whole source, host side and all, to a program that records what it would launch (docs/free_form.md).
// compile/recording.h records it, compile/screening.h screens it. The compiler runs in a sandbox, because a text can
// make it read files, or eat memory and time. No GPU and no driver needed; safe to call from many threads.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compile/binary.h"

namespace gemmsmith {

// Programs of CUTLASS have some MiB.
inline constexpr uint64_t kMaxProgramBytes = uint64_t{64} << 20;

// A text that does not compile is an everyday value: no program, and the compiler's words.
struct SourceCompilation {
  std::optional<SourceProgram> program;
  std::string log;     // errors and warnings, at most 64 KiB of them
  double seconds = 0;  // of compiling; 0 from a cache
  bool from_cache = false;
  bool has_narrow_headers = false;  // built with fewer declarations (compile/narrow_headers.h)
};

class SourceCompiler {
 public:
  virtual ~SourceCompiler() = default;
  // Returns a Status only if the environment failed (no toolchain, no sandbox, disk full). architecture: "sm_90a".
  virtual Result<SourceCompilation> Compile(const std::string& text, std::string_view architecture) = 0;
  // Compiler and version, flags and the CUTLASS that texts may include.
  virtual std::string Identity() const = 0;
};

// nvcc in a sandbox. Unavailable or NotFound where either is missing.
Result<std::unique_ptr<SourceCompiler>> MakeSourceCompiler();
// Keeps what `compiler` makes under `folder`, as MakeCachedCompiler() does.
std::unique_ptr<SourceCompiler> MakeCachedSourceCompiler(std::unique_ptr<SourceCompiler> compiler,
                                                         std::filesystem::path folder);

// Folders with CUTLASS and CuTe headers: $GEMMSMITH_CUTLASS (a CUTLASS tree, or its include folder), else the Python
// package nvidia-cutlass in .deps or where Python keeps packages. Empty where there are none.
std::vector<std::filesystem::path> CutlassIncludes();

// The program with its machine code and what that says. DataLoss where that cannot be read.
Result<SourceProgram> ReadSourceProgram(std::vector<uint8_t> bytes);
// The text of gemmsmith_descriptor_v1. NotFound in words for the author of the source where there is none.
Result<std::string> ReadDescriptor(std::span<const uint8_t> program);

}  // namespace gemmsmith
