/* One linear layer: y[m,n] = x[m,k] weights[n,k]^T in bf16. */
#include "example.h"

enum { M = 64, N = 256, K = 512 };
static uint16_t x[M * K], weights[N * K], y[M * N];

int main(void) {
  gemmsmith_context* context;
  GEMMSMITH(gemmsmith_context_create(&context, NULL)); /* one a process is enough */
  void *device_x, *device_weights, *device_y;
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&device_x, sizeof x));
  CUDA(cudaMalloc(&device_weights, sizeof weights));
  CUDA(cudaMalloc(&device_y, sizeof y));
  fill(x, M * K, 1);
  fill(weights, N * K, 2);
  CUDA(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(device_weights, weights, sizeof weights, cudaMemcpyHostToDevice));

  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  problem.m = M, problem.n = N, problem.k = K;
  problem.b_order = GEMMSMITH_COLUMN; /* the weights lie as n x k */
  problem.ab_type = problem.cd_type = GEMMSMITH_BF16;
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = device_x, operands.b = device_weights, operands.d = device_y;
  GEMMSMITH(gemmsmith_multiply(context, &problem, &operands, NULL)); /* on the default stream */

  CUDA(cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost)); /* waits for the product */
  gemmsmith_context_destroy(context);
  return example_result("c", count_wrong(y, x, weights, M, N, K), M * N);
}
