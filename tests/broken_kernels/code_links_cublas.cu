// fault: declares functions of cuBLAS and hopes that they are there
// class: code
// expect: cheated|compile_failed
// shape: 256x256x512
// layout: tn
//
// In a process that has loaded the baselines, the loader binds them without any library being named.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" int cublasCreate_v2(void** handle);
extern "C" int cublasSetStream_v2(void* handle, cudaStream_t stream);
extern "C" int cublasGemmEx(void* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void* a,
                            int a_type, int lda, const void* b, int b_type, int ldb, const void* beta, void* c,
                            int c_type, int ldc, int compute, int algorithm);

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static void* handle = nullptr;
  if (handle == nullptr) cublasCreate_v2(&handle);
  cublasSetStream_v2(handle, stream);
  const float one = 1, zero = 0;
  const int failed = cublasGemmEx(handle, 1, 0, n, m, k, &one, b, 2, k, a, 2, k, &zero, c, 2, n, 68, -1);
  return failed == 0 ? cudaSuccess : cudaErrorUnknown;
}
