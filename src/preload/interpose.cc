// The functions that take the place of cuBLAS's own. A call that is not served goes on with the caller's arguments.
#include "preload/server.h"

namespace gemmsmith {
namespace {

// cuBLAS may call its own public functions; a call within a call is its business.
thread_local bool is_within = false;

class Within {
 public:
  Within() { is_within = true; }
  ~Within() { is_within = false; }
};

std::atomic<bool> took_any = false;

// `pass_on` calls the function that the caller meant.
template <class Real, class Arguments, class PassOn>
cublasStatus_t Take(const Real& real, const Arguments& arguments, const PassOn& pass_on) {
  if (is_within || PreloadSettings::Get().mode == PreloadMode::kOff) return pass_on();
  const Within within;
  if (const std::optional<Call> call = CallOf(real, arguments)) {
    if (!took_any.load(std::memory_order_relaxed)) took_any = true;
    if (Server::Get().Serve(*call)) return CUBLAS_STATUS_SUCCESS;
  }
  return pass_on();
}

__attribute__((destructor)) void End() {
  if (took_any) Server::Get().End();
}

}  // namespace
}  // namespace gemmsmith

// Ends where the process has no such function: it cannot have been called.
#define GEMMSMITH_REAL(Functions, function)                                                                       \
  const gemmsmith::Functions* const real = gemmsmith::RealFor<gemmsmith::Functions>(__builtin_return_address(0)); \
  if (real == nullptr || real->function == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;

#define GEMMSMITH_GEMM_EX(function, Int)                                                                               \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,     \
                          Int k, const void* alpha, const void* a, cudaDataType a_type, Int lda, const void* b,        \
                          cudaDataType b_type, Int ldb, const void* beta, void* c, cudaDataType c_type, Int ldc,       \
                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                                   \
    GEMMSMITH_REAL(RealCublas, function)                                                                               \
    return gemmsmith::Take(*real,                                                                                      \
                           gemmsmith::BlasArguments{handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type, \
                                                    ldb, beta, c, c_type, ldc, compute},                               \
                           [&] {                                                                                       \
                             return real->function(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type,  \
                                                   ldb, beta, c, c_type, ldc, compute, algorithm);                     \
                           });                                                                                         \
  }

#define GEMMSMITH_GEMM_BATCHED_EX(function, Int)                                                                       \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,     \
                          Int k, const void* alpha, const void* a, cudaDataType a_type, Int lda, long long int a_step, \
                          const void* b, cudaDataType b_type, Int ldb, long long int b_step, const void* beta,         \
                          void* c, cudaDataType c_type, Int ldc, long long int c_step, Int batch,                      \
                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                                   \
    GEMMSMITH_REAL(RealCublas, function)                                                                               \
    return gemmsmith::Take(                                                                                            \
        *real,                                                                                                         \
        gemmsmith::BlasArguments{handle, transa, transb, m, n,      k,   alpha,   a,      a_type, lda,    b,           \
                                 b_type, ldb,    beta,   c, c_type, ldc, compute, a_step, b_step, c_step, batch},      \
        [&] {                                                                                                          \
          return real->function(handle, transa, transb, m, n, k, alpha, a, a_type, lda, a_step, b, b_type, ldb,        \
                                b_step, beta, c, c_type, ldc, c_step, batch, compute, algorithm);                      \
        });                                                                                                            \
  }

#define GEMMSMITH_HGEMM(function, Int)                                                                                 \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,     \
                          Int k, const __half* alpha, const __half* a, Int lda, const __half* b, Int ldb,              \
                          const __half* beta, __half* c, Int ldc) {                                                    \
    GEMMSMITH_REAL(RealCublas, function)                                                                               \
    return gemmsmith::Take(                                                                                            \
        *real,                                                                                                         \
        gemmsmith::BlasArguments{handle, transa, transb, m, n, k, alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, beta, \
                                 c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F},                                              \
        [&] { return real->function(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });         \
  }

#define GEMMSMITH_HGEMM_BATCHED(function, Int)                                                                         \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,     \
                          Int k, const __half* alpha, const __half* a, Int lda, long long int a_step, const __half* b, \
                          Int ldb, long long int b_step, const __half* beta, __half* c, Int ldc, long long int c_step, \
                          Int batch) {                                                                                 \
    GEMMSMITH_REAL(RealCublas, function)                                                                               \
    return gemmsmith::Take(                                                                                            \
        *real,                                                                                                         \
        gemmsmith::BlasArguments{handle, transa, transb,     m,    n,    k, alpha,      a,   CUDA_R_16F,               \
                                 lda,    b,      CUDA_R_16F, ldb,  beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F,       \
                                 a_step, b_step, c_step,     batch},                                                   \
        [&] {                                                                                                          \
          return real->function(handle, transa, transb, m, n, k, alpha, a, lda, a_step, b, ldb, b_step, beta, c, ldc,  \
                                c_step, batch);                                                                        \
        });                                                                                                            \
  }

extern "C" {

GEMMSMITH_GEMM_EX(cublasGemmEx, int)
GEMMSMITH_GEMM_EX(cublasGemmEx_64, int64_t)
GEMMSMITH_GEMM_BATCHED_EX(cublasGemmStridedBatchedEx, int)
GEMMSMITH_GEMM_BATCHED_EX(cublasGemmStridedBatchedEx_64, int64_t)
GEMMSMITH_HGEMM(cublasHgemm, int)
GEMMSMITH_HGEMM(cublasHgemm_64, int64_t)
GEMMSMITH_HGEMM_BATCHED(cublasHgemmStridedBatched, int)
GEMMSMITH_HGEMM_BATCHED(cublasHgemmStridedBatched_64, int64_t)

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  GEMMSMITH_REAL(RealLt, cublasLtMatmul)
  return gemmsmith::Take(
      *real,
      gemmsmith::LtArguments{description, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, stream},
      [&] {
        return real->cublasLtMatmul(handle, description, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d,
                                    d_layout, algorithm, workspace, workspace_bytes, stream);
      });
}

}  // extern "C"
