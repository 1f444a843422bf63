// fault: registers a changed copy of its machine code with the runtime, and runs that
// class: code
// expect: cheated|launch_failed
// shape: 256x256x512
// layout: tn
//
// What the screen reads sums one product; the copy, with one number changed, sums all. It could as well keep a gigabyte
// of variables.
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>

extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

constexpr unsigned kSeen = 0x5eed0001, kMeant = 1;
__device__ volatile unsigned step_of_k = kSeen;

extern "C" __global__ void multiply(const half* a, const half* b, half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const unsigned step = step_of_k;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (unsigned i = 0; i < unsigned(k); i += step)
    sum += __half2float(a[size_t(row) * k + i]) * __half2float(b[size_t(column) * k + i]);
  c[size_t(row) * n + column] = __float2half(sum);
}

extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFatBinaryEnd(void**);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);

// As nvcc has it: a magic number, versions and the bytes that follow.
static const unsigned char* OwnCode() {
  const unsigned char* code;
  asm("lea fatbinData(%%rip), %0" : "=r"(code));
  return code;
}

static const char* RegisterCopy() {
  static char multiply_of_the_copy;
  static struct {
    volatile unsigned magic;  // a number that the screen looks for
    unsigned version;
    const void* code;
    void* none;
  } wrapper = {0x466243b0, 1, nullptr, nullptr};
  const unsigned char* const own = OwnCode();
  unsigned long long bytes;
  memcpy(&bytes, own + 8, 8);
  bytes += 16;
  auto* const copy = (unsigned char*)aligned_alloc(64, (bytes + 63) / 64 * 64);
  memcpy(copy, own, bytes);
  for (unsigned long long i = 0; i + 4 <= bytes; ++i)
    if (memcmp(copy + i, &kSeen, 4) == 0) memcpy(copy + i, &kMeant, 4);
  wrapper.magic = wrapper.magic + 1;
  wrapper.code = copy;
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &multiply_of_the_copy, (char*)"multiply", "multiply", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  return &multiply_of_the_copy;
}

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  static const char* const kernel = RegisterCopy();
  void* arguments[] = {&a, &b, &c, &m, &n, &k};
  return cudaLaunchKernel(kernel, dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), arguments, 0, stream);
}
