// The toolkit's headers for one source, with fewer declarations (compile/declarations.h). Compilers spend four fifths
// of a small source's time on headers. What a source is given never decides a verdict: its machine code and its recipe
// do. So a mistake here can cost an honest source its build, and a build that fails is done again with all headers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/declarations.h"

namespace gemmsmith {

// What decides which headers a source needs.
struct SourceNames {
  std::vector<std::string> includes;  // sorted, each once: "cuda_runtime.h"
  Names names;
};
// nullopt for a source that may need anything: it includes other headers, includes them late, or makes names of parts.
std::optional<SourceNames> NamesOfSource(std::string_view source);

// A source of these includes and nothing else.
std::string IncludeLines(const std::vector<std::string>& includes);

class NarrowHeaders {
 public:
  // From IncludeLines(), preprocessed by nvcc with -dD for the host and for the device. `launcher` is the header that
  // nvcc adds to host code, crt/host_runtime.h.
  static Result<NarrowHeaders> Read(std::string_view host, std::string_view device, std::string_view launcher);

  // The text of a cuda_runtime.h that stands for all includes. nullopt: this source needs the real one.
  std::optional<std::string> For(const Names& names) const;

 private:
  NarrowHeaders(Declarations host, Declarations device, Names launcher)
      : host_(std::move(host)), device_(std::move(device)), launcher_(std::move(launcher)) {}
  Declarations host_, device_;
  Names launcher_;
};

}  // namespace gemmsmith
