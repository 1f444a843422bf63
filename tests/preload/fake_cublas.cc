// A pretended libcublas.so.13: column-major products of half-precision matrices on the CPU. It counts its products.
#include "fake_cublas.h"

#include <atomic>
#include <cstddef>

#include "fake/driver.h"
#include "fake/numbers.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int multiprocessors = 0;
};

namespace {

std::atomic<int64_t> calls = 0;

int TypeOf(cudaDataType type) { return type == CUDA_R_32F ? kFakeF32 : type == CUDA_R_16BF ? kFakeBf16 : kFakeF16; }
const void* At(const void* data, cudaDataType type, int64_t elements) {
  return static_cast<const char*>(data) + elements * (type == CUDA_R_32F ? 4 : 2);
}

template <class Int>
cublasStatus_t Products(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k,
                        const void* alpha, const void* a, cudaDataType a_type, Int lda, int64_t a_step, const void* b,
                        cudaDataType b_type, Int ldb, int64_t b_step, const void* beta, void* c, cudaDataType c_type,
                        Int ldc, int64_t c_step, Int batch, cublasComputeType_t compute) {
  ++calls;
  const int scale = compute == CUBLAS_COMPUTE_16F ? kFakeF16 : kFakeF32;
  const float times = FakeRead(alpha, scale, 0), keep = FakeRead(beta, scale, 0);
  FakeSubmit(handle->stream, [=] {
    for (Int one = 0; one < batch; ++one)
      for (Int i = 0; i < m; ++i)
        for (Int j = 0; j < n; ++j) {
          float sum = 0;
          for (Int l = 0; l < k; ++l)
            sum += FakeRead(At(a, a_type, one * a_step), TypeOf(a_type),
                            transa == CUBLAS_OP_N ? l * lda + i : i * lda + l) *
                   FakeRead(At(b, b_type, one * b_step), TypeOf(b_type),
                            transb == CUBLAS_OP_N ? j * ldb + l : l * ldb + j);
          void* const to = const_cast<void*>(At(c, c_type, one * c_step));
          sum *= times;
          if (keep != 0) sum += keep * FakeRead(to, TypeOf(c_type), j * ldc + i);
          FakeWrite(to, TypeOf(c_type), j * ldc + i, sum);
        }
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define GEMM_EX(function, Int)                                                                                     \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, \
                          Int k, const void* alpha, const void* a, cudaDataType a_type, Int lda, const void* b,    \
                          cudaDataType b_type, Int ldb, const void* beta, void* c, cudaDataType c_type, Int ldc,   \
                          cublasComputeType_t compute, cublasGemmAlgo_t) {                                         \
    return Products<Int>(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c,    \
                         c_type, ldc, 0, 1, compute);                                                              \
  }
#define GEMM_STRIDED_BATCHED_EX(function, Int)                                                                         \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,     \
                          Int k, const void* alpha, const void* a, cudaDataType a_type, Int lda, long long a_step,     \
                          const void* b, cudaDataType b_type, Int ldb, long long b_step, const void* beta, void* c,    \
                          cudaDataType c_type, Int ldc, long long c_step, Int batch, cublasComputeType_t compute,      \
                          cublasGemmAlgo_t) {                                                                          \
    return Products<Int>(handle, transa, transb, m, n, k, alpha, a, a_type, lda, a_step, b, b_type, ldb, b_step, beta, \
                         c, c_type, ldc, c_step, batch, compute);                                                      \
  }
#define HGEMM(function, Int)                                                                                         \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,   \
                          Int k, const __half* alpha, const __half* a, Int lda, const __half* b, Int ldb,            \
                          const __half* beta, __half* c, Int ldc) {                                                  \
    return Products<Int>(handle, transa, transb, m, n, k, alpha, a, CUDA_R_16F, lda, 0, b, CUDA_R_16F, ldb, 0, beta, \
                         c, CUDA_R_16F, ldc, 0, 1, CUBLAS_COMPUTE_16F);                                              \
  }
#define HGEMM_STRIDED_BATCHED(function, Int)                                                                       \
  cublasStatus_t function(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, \
                          Int k, const __half* alpha, const __half* a, Int lda, long long a_step, const __half* b, \
                          Int ldb, long long b_step, const __half* beta, __half* c, Int ldc, long long c_step,     \
                          Int batch) {                                                                             \
    return Products<Int>(handle, transa, transb, m, n, k, alpha, a, CUDA_R_16F, lda, a_step, b, CUDA_R_16F, ldb,   \
                         b_step, beta, c, CUDA_R_16F, ldc, c_step, batch, CUBLAS_COMPUTE_16F);                     \
  }

extern "C" {

int64_t FakeCublasCalls() { return calls; }

cublasStatus_t cublasCreate(cublasHandle_t* handle) { return *handle = new cublasContext, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasDestroy(cublasHandle_t handle) { return delete handle, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return *stream = handle->stream, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return handle->pointers = mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return *mode = handle->pointers, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return handle->math = mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return *mode = handle->math, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int target) {
  return handle->multiprocessors = target, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* target) {
  return *target = handle->multiprocessors, CUBLAS_STATUS_SUCCESS;
}

GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)
GEMM_STRIDED_BATCHED_EX(cublasGemmStridedBatchedEx, int)
GEMM_STRIDED_BATCHED_EX(cublasGemmStridedBatchedEx_64, int64_t)
HGEMM(cublasHgemm, int)
HGEMM(cublasHgemm_64, int64_t)
HGEMM_STRIDED_BATCHED(cublasHgemmStridedBatched, int)
HGEMM_STRIDED_BATCHED(cublasHgemmStridedBatched_64, int64_t)

}  // extern "C"
