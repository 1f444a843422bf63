// fault: leaves a kernel running that slows whoever comes next
// class: timing
// expect: compile_failed
// says: the contract has no cudaStreamCreateWithFlags
// shape: 256x256x512
// layout: tn
//
// Its own product is right. Between its calls 64 CTAs burn issue slots on another stream until the next call stops
// them: the baselines look slow.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

// The plain product that the fault is built around: right and slow, one thread an element.
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}
static void Launch(const void* a, const void* b, void* c, int m, int n, int k, cudaStream_t stream) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
}

__global__ void Burn(const volatile int* stop, int ticket) {
  while (*stop < ticket) {
  }
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  static volatile int* stop = nullptr;
  static int calls = 0;
  if (side == nullptr) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaHostAlloc((void**)&stop, sizeof(int), cudaHostAllocMapped);
  }
  *stop = calls++;
  Launch(a, b, c, m, n, k, stream);
  Burn<<<64, 1024, 0, side>>>(stop, calls);
  return cudaGetLastError();
}
