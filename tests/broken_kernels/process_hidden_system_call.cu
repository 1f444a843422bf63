// fault: forks by a system call hidden in a constant of another instruction
// class: process
// expect: cheated|launch_failed
// shape: 256x256x512
// layout: tn
//
// Whoever reads the machine code from the start of a function does not see it.
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

// movabs $.., %rax, entered at its constant, which reads: syscall; ret.
static long SystemCall(long number) {
  long result = number;
  asm volatile(
      "lea -128(%%rsp), %%rsp\n"
      "jmp 2f\n"
      "1: movabs $0x90909090c3050f, %%rdx\n"
      "2: call 1b+2\n"
      "lea 128(%%rsp), %%rsp\n"
      : "+a"(result)
      :
      : "rcx", "rdx", "r11", "memory");
  return result;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static bool done = false;
  if (!done) {
    done = true;
    constexpr long kFork = 57, kPause = 34;
    if (SystemCall(kFork) == 0)
      for (;;) SystemCall(kPause);
  }
  Launch(a, b, c, m, n, k, stream);
  return cudaGetLastError();
}
