// A problem of a caller, checked and brought to one form: D in row order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "gemmsmith/gemmsmith.h"
#include "problem/gemm.h"

namespace gemmsmith {

// What tensor maps ask of a pointer. More makes no kernel of ours faster.
inline constexpr uint32_t kTmaAlignment = 16;

// Equal requests have equal bytes: a table's key.
struct Request {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  int64_t a_step = 0, b_step = 0, c_step = 0, d_step = 0;
  uint64_t workspace_bytes = 0;
  uint32_t pointer_alignment = kTmaAlignment;
  uint8_t a_is_column = 0, b_is_column = 0, is_bf16 = 0, is_f32_result = 0;
  uint8_t activation = 0, has_bias = 0, alpha_is_one = 1, beta_is_zero = 1;
  uint8_t constant_b = 0;
  uint8_t is_swapped = 0;  // the caller's D is in column order: our A is the caller's B
  uint8_t device = 0;
  uint8_t own_only = 0;  // cuBLASLt is left out
  bool operator==(const Request&) const = default;

  bool IsEmpty() const { return m == 0 || n == 0 || batch == 0; }
  // What a kernel of ours would compute; nullopt where none can: a batch, an epilogue, another result type, pointers
  // that tensor maps do not take.
  std::optional<Gemm> AsGemm() const;
  std::string Print() const;
};
static_assert(sizeof(Request) == 13 * 8 + 16, "no padding: the bytes are hashed");

// The largest power of two, at most kTmaAlignment, that divides the addresses of all matrices.
uint32_t AlignmentOf(const gemmsmith_operands& operands);

// InvalidArgument says what is wrong with it; Unavailable, what nobody serves.
Result<Request> MakeRequest(const gemmsmith_problem& problem);

}  // namespace gemmsmith
