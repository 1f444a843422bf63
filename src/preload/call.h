// A call of cuBLAS as a request of ours.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

#include "preload/real.h"
#include "runtime/request.h"

namespace gemmsmith {

struct Call {
  Request request;
  gemmsmith_operands operands;
  CUstream stream = nullptr;
  bool has_f16_sums = false;
  bool has_settings = false;    // scales on the device, pedantic math, a part of the multiprocessors ...
  uint32_t other_epilogue = 0;  // cuBLASLt's number of one that a request cannot say

  // A kernel of ours may compute it.
  bool IsPlain() const { return !has_f16_sums && !has_settings && other_epilogue == 0 && request.AsGemm().has_value(); }
  // What distinguishes it from other calls, as a line of a record: "gemm 16x4096x4096 tn bf16 f32", "other
  // 16x4096x4096 tn bf16 f32 batch=8 bias". Empty where it is no product.
  std::string Print() const;
};

// The arguments of cublasGemmEx, cublasHgemm and their batched relatives.
struct BlasArguments {
  cublasHandle_t handle;
  cublasOperation_t transa, transb;
  int64_t m, n, k;
  const void* alpha;
  const void* a;
  cudaDataType a_type;
  int64_t lda;
  const void* b;
  cudaDataType b_type;
  int64_t ldb;
  const void* beta;
  void* c;
  cudaDataType c_type;
  int64_t ldc;
  cublasComputeType_t compute;
  int64_t a_step = 0, b_step = 0, c_step = 0, batch = 1;
};
// nullopt: it is no product of half-precision matrices, or its arguments are wrong.
std::optional<Call> CallOf(const RealCublas& real, const BlasArguments& arguments);

struct LtArguments {
  cublasLtMatmulDesc_t description;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
  cudaStream_t stream;
};
std::optional<Call> CallOf(const RealLt& real, const LtArguments& arguments);

}  // namespace gemmsmith
