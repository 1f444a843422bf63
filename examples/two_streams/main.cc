// One product run by two threads, each on a stream of its own. A prepared product is shared without locks.
#include <array>
#include <gemmsmith/gemmsmith.hpp>
#include <thread>
#include <vector>

#include "example.h"

namespace {

constexpr int m = 64, n = 256, k = 256, kCalls = 3;

int Work(const gemmsmith::Product& product, std::uint32_t seed, int& wrong) {
  std::vector<std::uint16_t> x(m * k), weights(n * k), y(m * n);
  const auto bytes = [](const auto& matrix) { return matrix.size() * sizeof(std::uint16_t); };
  void *device_x, *device_weights, *device_y;
  cudaStream_t stream;
  CUDA(cudaSetDevice(0));  // makes the primary context current in this thread
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaMalloc(&device_x, bytes(x)));
  CUDA(cudaMalloc(&device_weights, bytes(weights)));
  CUDA(cudaMalloc(&device_y, bytes(y)));
  fill(weights.data(), n * k, seed);
  CUDA(cudaMemcpyAsync(device_weights, weights.data(), bytes(weights), cudaMemcpyHostToDevice, stream));
  const gemmsmith::Operands operands(device_x, device_weights, device_y);
  for (std::uint32_t call = 0; call < kCalls; ++call) {
    fill(x.data(), m * k, seed + call + 1);
    CUDA(cudaMemcpyAsync(device_x, x.data(), bytes(x), cudaMemcpyHostToDevice, stream));
    GEMMSMITH(product.run(operands, stream).status());
    CUDA(cudaMemcpyAsync(y.data(), device_y, bytes(y), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    wrong += count_wrong(y.data(), x.data(), weights.data(), m, n, k);
  }
  return EXAMPLE_RIGHT;
}

}  // namespace

int main() {
  const auto context = gemmsmith::Context::create();
  if (!context) return example_end(example_of_status(context.status()), "gemmsmith", context.reason().c_str());
  gemmsmith::Problem problem(m, n, k);
  problem.b_order = GEMMSMITH_COLUMN;
  problem.ab_type = problem.cd_type = GEMMSMITH_BF16;
  const auto product = context.value().prepare(problem);
  if (!product) return example_end(example_of_status(product.status()), "gemmsmith", product.reason().c_str());

  std::array<int, 2> wrong{}, code{};
  std::thread other([&] { code[1] = Work(product.value(), 100, wrong[1]); });
  code[0] = Work(product.value(), 200, wrong[0]);
  other.join();
  if (code[0] != EXAMPLE_RIGHT || code[1] != EXAMPLE_RIGHT) return code[0] != EXAMPLE_RIGHT ? code[0] : code[1];
  return example_result("two_streams", wrong[0] + wrong[1], 2 * kCalls * m * n);
}
