// fault: loads cuBLAS at run time and lets it do the work
// class: code
// expect: launch_failed
// shape: 256x256x512
// layout: tn
//
// The fastest way to be as fast as the baseline.
#include <cuda_fp16.h>

#include <dlfcn.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  using Create = int (*)(void**);
  using SetStream = int (*)(void*, cudaStream_t);
  using Multiply = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                           const void*, void*, int, int, int, int);
  static void* library = dlopen("libcublas.so.13", RTLD_NOW);
  static void* handle = nullptr;
  if (library == nullptr) return cudaErrorNotSupported;
  if (handle == nullptr) ((Create)dlsym(library, "cublasCreate_v2"))(&handle);
  ((SetStream)dlsym(library, "cublasSetStream_v2"))(handle, stream);
  constexpr int kTransposed = 1, kPlain = 0, kF16 = 2, kComputeF32 = 68, kDefault = -1;
  const float one = 1, zero = 0;
  const Multiply multiply = (Multiply)dlsym(library, "cublasGemmEx");
  const int failed = multiply(handle, kTransposed, kPlain, n, m, k, &one, b, kF16, k, a, kF16, k, &zero, c, kF16, n,
                              kComputeF32, kDefault);
  return failed == 0 ? cudaSuccess : cudaErrorUnknown;
}
