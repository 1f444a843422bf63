// Kernels whose verdict is known beforehand: tests/broken_kernels, tests/honest_kernels, and folders like them. The
// header of such a file is documented in tests/broken_kernels/README.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "outcome/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

struct Case {
  std::string name;                   // the file's, without its ending
  std::string kind;                   // "timing", "cache", ... of a broken kernel; "honest"
  std::string subject;                // the fault; of an honest kernel its style
  std::vector<OutcomeKind> expected;  // any of them; empty: an honest kernel, which must pass
  std::string says;                   // stands in the reason of the outcome; empty: any reason does
  Gemm gemm;
  bool needs_cutlass = false;
  std::string text;

  bool is_honest() const { return expected.empty(); }
};

// The case that a file's text describes; an InvalidArgument names file, line and what belongs there.
Result<Case> ParseCase(const std::filesystem::path& file, std::string text);
// Every .cu file of the folder, sorted by name. NotFound where there is none.
Result<std::vector<Case>> ReadCases(const std::filesystem::path& folder);

}  // namespace gemmsmith
