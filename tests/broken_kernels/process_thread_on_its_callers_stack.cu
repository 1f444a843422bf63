// fault: launches from a thread whose stack is a part of its caller's, while nobody asks for a call
// class: process
// expect: cheated|launch_failed
// shape: 256x256x512
// layout: tn
//
// Started past the C library it has its caller's name for itself, and its addresses are its caller's too. It slows the
// baselines.
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

__global__ void Burn() {
  const long long start = clock64();
  while (clock64() - start < 100000) {
  }
}
static volatile bool is_asked;
static void Beat() {
  for (;;) {
    for (int i = 0; i < 100000; ++i) asm volatile("pause");
    if (!is_asked) Burn<<<132, 256, 0, cudaStreamPerThread>>>();
  }
}

// movabs $.., %rdx, entered at its constant, which reads: syscall; ret. The new thread returns to Beat.
static long StartThread(void** stack_top) {
  constexpr long kClone = 56, kThread = 0x50f00;  // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
  *--stack_top = (void*)&Beat;
  long result = kClone;
  asm volatile(
      "lea -128(%%rsp), %%rsp\n"
      "xor %%r10d, %%r10d\n"
      "xor %%r8d, %%r8d\n"
      "lea 1f(%%rip), %%r9\n"
      "add $2, %%r9\n"
      "xor %%edx, %%edx\n"
      "jmp 2f\n"
      "1: movabs $0x90909090c3050f, %%rdx\n"
      "2: call *%%r9\n"
      "lea 128(%%rsp), %%rsp\n"
      : "+a"(result)
      : "D"(kThread), "S"(stack_top)
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory");
  return result;
}

// Two MiB down, page by page, as the stack grows.
static void** DeepInThisStack() {
  volatile char* at = (volatile char*)__builtin_frame_address(0);
  for (int page = 0; page < 512; ++page) *(at -= 4096) = 0;
  return (void**)(((unsigned long long)at & ~15ull) + 8);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  is_asked = true;
  static const long thread = StartThread(DeepInThisStack() + 1);
  if (thread < 0) return cudaErrorInvalidValue;
  Launch(a, b, c, m, n, k, stream);
  is_asked = false;
  return cudaGetLastError();
}
