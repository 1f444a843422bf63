// style: reads its launch choices from a table of text, with streams and exceptions
// shape: 300x200x400
// layout: tn
//
// std::istringstream, std::stoi, std::map, virtual functions of the host, throw and catch: none of it looks beyond its own
// memory.
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const size_t at = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= size_t(m) * n) return;
  const half *x = a + at / n * k, *y = b + at % n * k;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(x[i]) * __half2float(y[i]);
  c[at] = __float2half(sum);
}

constexpr const char* kChoices = "few:64 some:128 many:256";

struct Rule {
  virtual ~Rule() = default;
  virtual std::string NameFor(size_t elements) const = 0;
};
struct BySize : Rule {
  std::string NameFor(size_t elements) const override {
    if (elements == 0) throw std::invalid_argument("nothing to do");
    return elements < 1000 ? "few" : elements < 100000 ? "some" : "many";
  }
};

static int ThreadsFor(size_t elements) {
  std::map<std::string, int> threads;
  std::istringstream words(kChoices);
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':');
    threads[word.substr(0, colon)] = std::stoi(word.substr(colon + 1));
  }
  const std::unique_ptr<Rule> rule = std::make_unique<BySize>();
  return threads.at(rule->NameFor(elements));
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  try {
    const int threads = ThreadsFor(size_t(m) * n);
    const unsigned blocks = unsigned((size_t(m) * n + threads - 1) / threads);
    Product<<<blocks, threads, 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  } catch (const std::exception&) {
    return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
