// style: its host has the loader choose among its functions (IFUNC); its recipe is whole
// shape: 256x256x512
// layout: tn
//
// Its host runs once, without a GPU, a driver or a clock that counts. The judge launches what was recorded.
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

extern "C" {
typedef void (*Launcher)(const void*, const void*, void*, int, int, int, cudaStream_t);
static void Launch3(const void* a, const void* b, void* c, int m, int n, int k, cudaStream_t stream) {
  Launch(a, b, c, m, n, k, stream);
}
static Launcher Choose() { return Launch3; }
void Chosen(const void*, const void*, void*, int, int, int, cudaStream_t) __attribute__((ifunc("Choose")));
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  Chosen(a, b, c, m, n, k, stream);
  return cudaGetLastError();
}
