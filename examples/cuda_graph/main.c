/* Two layers captured into a CUDA graph, which is launched with other inputs. Products are prepared before the capture:
 * preparing loads code, and running them allocates nothing. */
#include "example.h"

enum { M = 32, N = 256, LAUNCHES = 3 };
static uint16_t x[M * N], first[N * N], second[N * N], y[M * N], z[M * N];

int main(void) {
  gemmsmith_context* context;
  GEMMSMITH(gemmsmith_context_create(&context, NULL));
  void *device_x, *device_first, *device_second, *device_y, *device_z;
  cudaStream_t stream;
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaMalloc(&device_x, sizeof x));
  CUDA(cudaMalloc(&device_first, sizeof first));
  CUDA(cudaMalloc(&device_second, sizeof second));
  CUDA(cudaMalloc(&device_y, sizeof y));
  CUDA(cudaMalloc(&device_z, sizeof z));
  fill(first, N * N, 1);
  fill(second, N * N, 2);
  CUDA(cudaMemcpy(device_first, first, sizeof first, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(device_second, second, sizeof second, cudaMemcpyHostToDevice));

  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  problem.m = M, problem.n = problem.k = N;
  problem.b_order = GEMMSMITH_COLUMN;
  problem.ab_type = problem.cd_type = GEMMSMITH_BF16;
  problem.constant_b = 1; /* no kernel writes the weights: consecutive products overlap */
  gemmsmith_product* product;
  GEMMSMITH(gemmsmith_prepare(context, &problem, 0, &product));
  gemmsmith_operands layers[2];
  gemmsmith_operands_default(&layers[0]);
  layers[0].a = device_x, layers[0].b = device_first, layers[0].d = device_y;
  layers[1] = layers[0];
  layers[1].a = device_y, layers[1].b = device_second, layers[1].d = device_z;

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  GEMMSMITH(gemmsmith_run(product, &layers[0], stream));
  GEMMSMITH(gemmsmith_run(product, &layers[1], stream));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&executable, graph, 0));

  int wrong = 0;
  for (uint32_t launch = 0; launch < LAUNCHES; ++launch) {
    fill(x, M * N, 10 + launch);
    CUDA(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(z, device_z, sizeof z, cudaMemcpyDeviceToHost));
    wrong += count_wrong(y, x, first, M, N, N) + count_wrong(z, y, second, M, N, N);
  }
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
  gemmsmith_release(product); /* only now: the graph launches its kernel */
  gemmsmith_context_destroy(context);
  return example_result("cuda_graph", wrong, LAUNCHES * 2 * M * N);
}
