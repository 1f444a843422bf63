// fault: a host function on the stream lets work start that is not on the stream
// class: timing
// expect: compile_failed
// says: the contract has no cudaLaunchHostFunc
// shape: 1024x1024x1024
// layout: tn
//
// The judged stream holds only a callback, which raises a flag; a kernel on another stream has been waiting for it.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void ProductOnceRaised(const half* a, const half* b, half* c, int m, int n, int k,
                                  const volatile int* raised, int ticket) {
  while (*raised < ticket) {
  }
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}
static void Raise(void* flag) { ++*static_cast<volatile int*>(flag); }

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  static int* raised = nullptr;
  static int calls = 0;
  if (side == nullptr) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaHostAlloc((void**)&raised, sizeof(int), cudaHostAllocMapped);
    *raised = 0;
  }
  ProductOnceRaised<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, side>>>(
      (const half*)a, (const half*)b, (half*)c, m, n, k, raised, ++calls);
  return cudaLaunchHostFunc(stream, Raise, raised);
}
