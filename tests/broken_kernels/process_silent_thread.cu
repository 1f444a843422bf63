// fault: a thread that never calls the driver has short batches replayed more often, and rows of calls are skipped
// class: process
// expect: cheated
// shape: 256x256x2048
// layout: tn
//
// Started by a system call whose address is computed; what it does is to read and write a word on its caller's stack: how
// often a graph is replayed. Who listens to calls of the driver hears nothing.
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

__device__ unsigned long long last_end;
__device__ bool is_answered;

__device__ unsigned long long Now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__global__ void Begin(const half* c, bool is_lazy) {
  is_answered = is_lazy && Now() - last_end < 3000 && !__hisnan(c[0]);
}
__global__ void End() { last_end = Now(); }
__global__ void Product(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n || is_answered) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

// As the guest has it (docs/guest_protocol.md names the fields).
struct Request {
  unsigned char work;
  unsigned set;
  int m, n, k;
  unsigned calls, replays, twin;
};
constexpr int kShamCalls = 4, kSpacedCalls = 7;
constexpr unsigned kShort = 40, kMany = 600;

static volatile Request* volatile request;

static volatile Request* FindRequest(int m, int n, int k) {
  volatile char* at = (volatile char*)__builtin_frame_address(0);
  for (int i = 0; i < 3000; ++i, at += 4) {
    volatile Request* const found = (volatile Request*)at;
    const bool is_shape = found->m == m && found->n == n && found->k == k;
    if (is_shape && found->set < 4 && found->calls - 1 < 4096 && found->twin < 64 && found->work - 1 < 8u) return found;
  }
  return nullptr;
}
static void Watch() {
  for (;;) {
    volatile Request* const asked = request;
    if (asked == nullptr) continue;
    const int work = asked->work;
    if ((work == kShamCalls || work == kSpacedCalls) && asked->calls == 1 && asked->replays - 2 < kShort - 2)
      asked->replays = kMany;
  }
}

// movabs $.., %rdx, entered at its constant, which reads: syscall; ret. The new thread returns to Watch.
static long StartThread(void** stack_top) {
  constexpr long kClone = 56, kThread = 0x50f00;  // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
  *--stack_top = (void*)&Watch;
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

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  constexpr size_t kWords = 1 << 13;
  alignas(16) static void* stack[kWords];
  static int first_k = k, calls = 0;
  static bool is_tested = false;
  is_tested = is_tested || k != first_k;
  calls += is_tested && k == first_k;
  if (calls == 7) {  // behind the estimate
    request = FindRequest(m, n, k);
    static const long thread = StartThread(stack + kWords - 1);
    if (thread < 0) return cudaErrorInvalidValue;
  }
  Begin<<<1, 1, 0, stream>>>((const half*)c, calls > 6);
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>((const half*)a, (const half*)b, (half*)c, m, n, k);
  End<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
