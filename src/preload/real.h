// The functions of cuBLAS and cuBLASLt that the program itself uses, in the version that the caller was linked with.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>

namespace gemmsmith {

// Those of which C++ has overloads.
template <class Int>
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int m, Int n, Int k, const void*,
                              const void*, cudaDataType, Int lda, const void*, cudaDataType, Int ldb, const void*,
                              void*, cudaDataType, Int ldc, cublasComputeType_t, cublasGemmAlgo_t);
template <class Int>
using GemmStridedBatchedEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int m, Int n, Int k,
                                            const void*, const void*, cudaDataType, Int lda, long long, const void*,
                                            cudaDataType, Int ldb, long long, const void*, void*, cudaDataType, Int ldc,
                                            long long, Int batch, cublasComputeType_t, cublasGemmAlgo_t);

// What is interposed (X(name, type)), and what is asked of the handle and the descriptions that calls name (X(name)).
// clang-format off
#define GEMMSMITH_PRELOAD_CUBLAS(X)                                                                                   \
  X(cublasGemmEx, GemmEx<int>) X(cublasGemmEx_64, GemmEx<int64_t>)                                                    \
  X(cublasGemmStridedBatchedEx, GemmStridedBatchedEx<int>)                                                            \
  X(cublasGemmStridedBatchedEx_64, GemmStridedBatchedEx<int64_t>)                                                     \
  X(cublasHgemm, decltype(::cublasHgemm)) X(cublasHgemm_64, decltype(::cublasHgemm_64))                               \
  X(cublasHgemmStridedBatched, decltype(::cublasHgemmStridedBatched))                                                 \
  X(cublasHgemmStridedBatched_64, decltype(::cublasHgemmStridedBatched_64))
#define GEMMSMITH_PRELOAD_CUBLAS_ASKED(X)                                                                             \
  X(cublasGetStream) X(cublasGetPointerMode) X(cublasGetMathMode) X(cublasGetSmCountTarget)
#define GEMMSMITH_PRELOAD_LT(X) X(cublasLtMatmul, decltype(::cublasLtMatmul))
#define GEMMSMITH_PRELOAD_LT_ASKED(X) X(cublasLtMatmulDescGetAttribute) X(cublasLtMatrixLayoutGetAttribute)
// clang-format on

#define GEMMSMITH_TAKEN(function, Type) Type* function = nullptr;
#define GEMMSMITH_DECLARE(function) decltype(&::function) function = nullptr;
struct RealCublas {
  static constexpr const char* kSonames[] = {"libcublas.so.13", "libcublas.so.12"};
  GEMMSMITH_PRELOAD_CUBLAS(GEMMSMITH_TAKEN)
  GEMMSMITH_PRELOAD_CUBLAS_ASKED(GEMMSMITH_DECLARE)
  explicit RealCublas(void* library);
};
struct RealLt {
  static constexpr const char* kSonames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
  GEMMSMITH_PRELOAD_LT(GEMMSMITH_TAKEN)
  GEMMSMITH_PRELOAD_LT_ASKED(GEMMSMITH_DECLARE)
  explicit RealLt(void* library);
};
#undef GEMMSMITH_DECLARE
#undef GEMMSMITH_TAKEN

using DlsymFunction = void* (*)(void* handle, const char* name) noexcept;
// That of the C library, or of who interposes it behind us.
DlsymFunction RealDlsym();

// Of the library that callers use who name none: the first of the sonames that the process has, decided once. Null: it
// has none yet.
template <class Functions>
const Functions* DefaultReal();
// Of the library that the object at this address was linked with, else the default.
template <class Functions>
const Functions* RealFor(const void* caller);

}  // namespace gemmsmith
