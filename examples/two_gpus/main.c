/* The rows of one product shared by two GPUs. One context serves both: gemmsmith_multiply takes the current device. */
#include "example.h"

enum { GPUS = 2, M = 128, N = 256, K = 512, ROWS = M / GPUS };
static uint16_t x[M * K], weights[N * K], y[M * N];

int main(void) {
  gemmsmith_context* context;
  GEMMSMITH(gemmsmith_context_create(&context, NULL));
  int found;
  CUDA(cudaGetDeviceCount(&found));
  if (found < GPUS) return example_end(EXAMPLE_MISSING, "a second GPU", "this machine has one");
  fill(x, M * K, 1);
  fill(weights, N * K, 2);

  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  problem.m = ROWS, problem.n = N, problem.k = K;
  problem.b_order = GEMMSMITH_COLUMN;
  problem.ab_type = problem.cd_type = GEMMSMITH_BF16;
  gemmsmith_operands operands[GPUS];
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    void *device_x, *device_weights;
    CUDA(cudaSetDevice(gpu));
    CUDA(cudaMalloc(&device_x, sizeof x / GPUS));
    CUDA(cudaMalloc(&device_weights, sizeof weights));
    gemmsmith_operands_default(&operands[gpu]);
    CUDA(cudaMalloc(&operands[gpu].d, sizeof y / GPUS));
    operands[gpu].a = device_x, operands[gpu].b = device_weights;
    CUDA(cudaMemcpy(device_x, x + gpu * ROWS * K, sizeof x / GPUS, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(device_weights, weights, sizeof weights, cudaMemcpyHostToDevice));
    GEMMSMITH(gemmsmith_multiply(context, &problem, &operands[gpu], NULL)); /* returns at once: both work together */
  }
  for (int gpu = 0; gpu < GPUS; ++gpu) {
    CUDA(cudaSetDevice(gpu));
    CUDA(cudaMemcpy(y + gpu * ROWS * N, operands[gpu].d, sizeof y / GPUS, cudaMemcpyDeviceToHost));
  }
  gemmsmith_context_destroy(context);
  return example_result("two_gpus", count_wrong(y, x, weights, M, N, K), M * N);
}
