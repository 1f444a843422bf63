// A product that is prepared once and run with two inputs, through the C++ header.
#include <gemmsmith/gemmsmith.hpp>
#include <vector>

#include "example.h"

int main() {
  constexpr int m = 64, n = 256, k = 512;
  const auto created = gemmsmith::Context::create();
  if (!created) return example_end(example_of_status(created.status()), "gemmsmith", created.reason().c_str());
  const gemmsmith::Context& context = created.value();
  gemmsmith::Problem problem(m, n, k);
  problem.b_order = GEMMSMITH_COLUMN;
  problem.ab_type = problem.cd_type = GEMMSMITH_BF16;

  std::vector<std::uint16_t> x(m * k), weights(n * k), y(m * n);
  const auto bytes = [](const auto& matrix) { return matrix.size() * sizeof(std::uint16_t); };
  void *device_x, *device_weights, *device_y;
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&device_x, bytes(x)));
  CUDA(cudaMalloc(&device_weights, bytes(weights)));
  CUDA(cudaMalloc(&device_y, bytes(y)));
  fill(weights.data(), n * k, 2);
  CUDA(cudaMemcpy(device_weights, weights.data(), bytes(weights), cudaMemcpyHostToDevice));

  int wrong = 0;
  try {
    const gemmsmith::Product product = context.prepare(problem).value();
    const gemmsmith::Operands operands(device_x, device_weights, device_y);
    for (const std::uint32_t seed : {1u, 3u}) {
      fill(x.data(), m * k, seed);
      CUDA(cudaMemcpy(device_x, x.data(), bytes(x), cudaMemcpyHostToDevice));
      product.run(operands).value();
      CUDA(cudaMemcpy(y.data(), device_y, bytes(y), cudaMemcpyDeviceToHost));
      wrong += count_wrong(y.data(), x.data(), weights.data(), m, n, k);
    }
  } catch (const gemmsmith::Error& error) {
    return example_end(example_of_status(error.status()), "gemmsmith", error.what());
  }
  return example_result("cpp", wrong, 2 * m * n);
}
