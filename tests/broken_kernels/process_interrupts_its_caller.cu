// fault: has code of its own run a thousand times a second, whatever its caller does
// class: process
// expect: cheated
// shape: 256x256x512
// layout: tn
//
// A timer and a handler of its signal, by system calls whose address is computed. Between the key of a test and its
// calls no host code of a source's is to run; this one only counts.
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

// The constant of the last instruction reads: syscall; ret. What ends a handler is a system call, too.
asm(".text\n"
    "end_of_the_handler:\n"
    "  mov $15, %eax\n"
    "  lea hidden_call(%rip), %rcx\n"
    "  add $2, %rcx\n"
    "  jmp *%rcx\n"
    "hidden_call:\n"
    "  movabs $0x90909090c3050f, %rdx\n"
    "  ret\n");
extern "C" __attribute__((visibility("hidden"))) void end_of_the_handler();

static long System(long number, long first, const void* second, const void* third, long fourth) {
  register long fourth_register asm("r10") = fourth;
  asm volatile(
      "lea -128(%%rsp), %%rsp\n"
      "lea hidden_call(%%rip), %%r9\n"
      "add $2, %%r9\n"
      "call *%%r9\n"
      "lea 128(%%rsp), %%rsp\n"
      : "+a"(number)
      : "D"(first), "S"(second), "d"(third), "r"(fourth_register)
      : "rcx", "r8", "r9", "r11", "memory");
  return number;
}

static volatile long interrupts;
static void Interrupt(int) { ++interrupts; }

static long StartTimer() {
  constexpr long kSetAction = 13, kSetTimer = 38, kAlarm = 14, kRestart = 0x10000000, kRestorer = 0x04000000;
  const struct {
    void (*handler)(int);
    long flags;
    void (*restorer)();
    long mask;
  } action = {Interrupt, kRestart | kRestorer, end_of_the_handler, 0};
  const long every_millisecond[] = {0, 1000, 0, 1000};
  const long set = System(kSetAction, kAlarm, &action, nullptr, sizeof action.mask);
  return set != 0 ? set : System(kSetTimer, 0, every_millisecond, nullptr, 0);
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static const long timer = StartTimer();
  if (timer != 0) return cudaErrorInvalidValue;
  Launch(a, b, c, m, n, k, stream);
  return cudaGetLastError();
}
