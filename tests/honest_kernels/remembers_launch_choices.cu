// style: keeps on the host what it has decided for each shape
// shape: 256x256x512
// layout: tn
//
// A map behind a lock: the kernel to launch is kept from call to call, what it computes is not.
#include <map>
#include <mutex>
#include <tuple>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

template <int kThreads>
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const size_t at = size_t(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= size_t(m) * n) return;
  const half *x = a + at / n * k, *y = b + at % n * k;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(x[i]) * __half2float(y[i]);
  c[at] = __float2half(sum);
}

struct Choice {
  void (*kernel)(const half*, const half*, half*, int, int, int);
  int threads;
};

static const Choice& ChoiceFor(int m, int n, int k) {
  static std::map<std::tuple<int, int, int>, Choice> choices;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [choice, is_new] = choices.try_emplace({m, n, k});
  if (is_new) {
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    const bool is_small = size_t(m) * n < size_t(multiprocessors) * 1024;
    choice->second = is_small ? Choice{Product<64>, 64} : Choice{Product<256>, 256};
  }
  return choice->second;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  const Choice& choice = ChoiceFor(m, n, k);
  const unsigned blocks = unsigned((size_t(m) * n + choice.threads - 1) / choice.threads);
  choice.kernel<<<blocks, choice.threads, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  return cudaGetLastError();
}
