// style: libcu++'s pipeline and memcpy_async bring the tiles
// shape: 128x128x512
// layout: tn
//
// Two stages; copies and waits are the library's. The pipeline is a thread's own, because the waits of a shared one read
// a clock. Only for multiples of 32 x 32 x 32.
#include <cuda/pipeline>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr int kTile = 32, kDepth = 32, kStages = 2;

__global__ void Product(const half* a, const half* b, half* c, int n, int k) {
  __shared__ alignas(16) half x[kStages][kTile][kDepth], y[kStages][kTile][kDepth];
  auto pipeline = cuda::make_pipeline();
  const int thread = threadIdx.x, line = thread / 4, piece = thread % 4 * 8;
  const half* of_a = a + size_t(blockIdx.y * kTile + line) * k + piece;
  const half* of_b = b + size_t(blockIdx.x * kTile + line) * k + piece;
  const auto fetch = [&](int step) {
    pipeline.producer_acquire();
    const cuda::aligned_size_t<16> bytes(16);
    cuda::memcpy_async(&x[step % kStages][line][piece], of_a + step * kDepth, bytes, pipeline);
    cuda::memcpy_async(&y[step % kStages][line][piece], of_b + step * kDepth, bytes, pipeline);
    pipeline.producer_commit();
  };
  const int steps = k / kDepth, down = thread / 8 * 2, across = thread % 8 * 4;
  float sums[2][4] = {};
  fetch(0);
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) fetch(step + 1);
    pipeline.consumer_wait();
    __syncthreads();
    for (int d = 0; d < kDepth; ++d)
      for (int r = 0; r < 2; ++r)
        for (int s = 0; s < 4; ++s)
          sums[r][s] += __half2float(x[step % kStages][down + r][d]) * __half2float(y[step % kStages][across + s][d]);
    pipeline.consumer_release();
    __syncthreads();
  }
  for (int r = 0; r < 2; ++r)
    for (int s = 0; s < 4; ++s)
      c[size_t(blockIdx.y * kTile + down + r) * n + blockIdx.x * kTile + across + s] = __float2half(sums[r][s]);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  if (m % kTile != 0 || n % kTile != 0 || k % kDepth != 0) return cudaErrorInvalidValue;
  Product<<<dim3(n / kTile, m / kTile), 128, 0, stream>>>((const half*)a, (const half*)b, (half*)c, n, k);
  return cudaGetLastError();
}
