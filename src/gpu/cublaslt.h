// cuBLASLt as we call it: its functions, found at run time, and the column-major product of a row-major one.
#pragma once

#include <cublasLt.h>

#include <cstdint>

#include "base/status.h"

namespace gemmsmith {

// clang-format off
#define GEMMSMITH_LT_FUNCTIONS(X)                                                                                     \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetVersion) X(cublasLtGetStatusName) X(cublasLtMatmul)               \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescInit_internal)                         \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                      \
  X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)            \
  X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmulAlgoConfigGetAttribute)   \
  X(cublasLtMatmulAlgoConfigSetAttribute) X(cublasLtMatmulAlgoGetIds) X(cublasLtMatmulAlgoInit)                       \
  X(cublasLtMatmulAlgoCheck) X(cublasLtMatmulAlgoCapGetAttribute)
// clang-format on

struct LtFunctions {
#define GEMMSMITH_DECLARE(function) decltype(&::function) function = nullptr;
  GEMMSMITH_LT_FUNCTIONS(GEMMSMITH_DECLARE)
#undef GEMMSMITH_DECLARE

  // Those of the toolkit, or of the installation that the loader finds: what is measured.
  static Result<LtFunctions> OfToolkit();
  // Those that the process uses already, else those of the toolkit: what programs are served with.
  static Result<LtFunctions> OfProcess();

 private:
  static Result<LtFunctions> Of(void* library);
};

// Row-major D[m,n] = A B is asked for as column-major D^T = B^T A^T: the first operand is our B. A row-major matrix is
// its own transpose read column by column, so it goes in as it lies (N), and a column-major one transposed (T).
struct ColumnMajorProduct {
  struct Operand {
    cublasOperation_t operation = CUBLAS_OP_N;
    uint64_t rows = 0, columns = 0;  // as it lies in memory
  };
  Operand first, second, result;
};
ColumnMajorProduct AsColumnMajor(int64_t m, int64_t n, int64_t k, bool a_is_column, bool b_is_column);

}  // namespace gemmsmith
