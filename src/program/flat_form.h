// Plan -> one readable kernel: constants folded, no template, no Config, no include of ours, with its launcher. The
// file obeys docs/free_form.md and does the plan's work (src/compile/flat_form_test.cc).
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// How a text is written. Styles change no work that a kernel does.
struct FlatStyle {
  int names = 0;                // which of kFlatVocabularies
  bool writes_out = false;      // short loops statement by statement, else by #pragma unroll
  bool is_reordered = false;    // independent statements and helpers the other way round
  bool has_intrinsics = false;  // CUDA intrinsics where inline PTX has an equal
  bool has_comments = true;
  bool operator==(const FlatStyle&) const = default;
};
inline constexpr int kFlatVocabularies = 3;
inline constexpr int kFlatStyles = kFlatVocabularies * 16;
// Seeds that differ by less than kFlatStyles give different styles. 0 is FlatStyle{}.
FlatStyle FlatStyleOf(uint64_t seed);

inline constexpr const char* kFlatEntry = "gemm_kernel";

// For a plan that Check() finds legal. InvalidArgument names what the flat form does not have: another family, matrices
// that are not packed.
Result<std::string> EmitFlat(const Plan& plan, const Gemm& gemm, const FlatStyle& style);

}  // namespace gemmsmith
