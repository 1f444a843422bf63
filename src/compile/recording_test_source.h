// The source that recording_test.cc records.
#pragma once

namespace gemmsmith {

// One source for all tests: m says what gemm() does.
inline constexpr const char* kRecordingTestSource = R"(
#include <cuda.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";

struct Padded { char first; const void* pointer; short last; };
__global__ void Plain(const void* a, const void* b, void* c, int m) { if (m < 0) *(int*)c = 1; }
__global__ void Structs(Padded padded, const __grid_constant__ CUtensorMap map, void* workspace) {
  if (padded.first < 0) *(int*)workspace = int(long(&map));
}
__global__ void __launch_bounds__(1024, 1) Wide(float* p) { p[threadIdx.x] = 1; }
__global__ void __cluster_dims__(2, 1, 1) Pair(float* p) { p[threadIdx.x] = 1; }
static int calls = 0;

static cudaError_t Encode(CUtensorMap* map, const void* address) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) != cudaSuccess)
    return cudaErrorNotSupported;
  const cuuint64_t extent[] = {64, 32}, strides[] = {128};
  const cuuint32_t box[] = {64, 8}, steps[] = {1, 1};
  return ((decltype(&cuTensorMapEncodeTiled))function)(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void*)address, extent,
      strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
static cudaError_t LaunchWith(cudaLaunchAttribute attribute, cudaStream_t stream, void* c) {
  cudaLaunchConfig_t config{};
  config.gridDim = 4, config.blockDim = 128, config.stream = stream, config.attrs = &attribute, config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, Plain, (const void*)nullptr, (const void*)nullptr, c, 1);
}
// How many doors out of the sandbox are open.
static int OpenDoors() {
  int doors = 0;
  for (const char* path : {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/dri", "/proc/driver/nvidia", "/etc/passwd",
                           "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/proc/self/maps", "/sys"}) {
    struct stat status;
    doors += open(path, O_RDONLY) >= 0;
    doors += stat(path, &status) == 0;
    doors += access(path, F_OK) == 0;
  }
  doors += dlopen("libcuda.so.1", RTLD_NOW) != nullptr;
  doors += open("/tmp/mine", O_CREAT | O_WRONLY, 0600) >= 0;
  return doors;
}
static void* Nothing(void*) { return nullptr; }

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  switch (m) {
    case 1: {  // everything that a recipe holds
      CUtensorMap map;
      if (const cudaError_t error = Encode(&map, (const char*)b + 32)) return error;
      cudaMemsetAsync((char*)workspace + 64, 255, 1024, stream);
      Padded padded{1, (const char*)a + 16, 7};
      Structs<<<dim3(n, 2, 3), dim3(32, 4), 512, stream>>>(padded, map, workspace);
      Plain<<<1, 32, 0, stream>>>(a, b, c, m);
      return cudaGetLastError();
    }
    case 2:  // attributes
      cudaFuncSetAttribute(Plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50);
      attribute.id = cudaLaunchAttributeClusterDimension, attribute.val.clusterDim = {2, 1, 1};
      if (LaunchWith(attribute, stream, c) != cudaSuccess) return cudaErrorUnknown;
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
      if (LaunchWith(attribute, stream, c) != cudaSuccess) return cudaErrorUnknown;
      attribute.id = cudaLaunchAttributeCooperative, attribute.val.cooperative = 1;
      if (LaunchWith(attribute, stream, c) != cudaSuccess) return cudaErrorUnknown;
      attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout, attribute.val.sharedMemCarveout = 25;
      return LaunchWith(attribute, stream, c);
    case 3: {  // device and occupancy: the answers stand in the grids
      int device = 7, sms = 0, ctas = 0, clusters = 0;
      cudaDeviceProp properties;
      cudaFuncAttributes attributes;
      cudaGetDevice(&device);
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
      if (cudaGetDeviceProperties(&properties, device) || properties.multiProcessorCount != sms ||
          strcmp(properties.name, "NVIDIA H200") != 0) return cudaErrorUnknown;
      if (cudaFuncGetAttributes(&attributes, Wide) || attributes.maxThreadsPerBlock != 1024) return cudaErrorUnknown;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, Wide, 256, 40000);
      cudaLaunchConfig_t config{};
      config.gridDim = 4, config.blockDim = 1024, config.dynamicSmemBytes = 40000;
      cudaOccupancyMaxActiveClusters(&clusters, Pair, &config);
      Plain<<<dim3(sms, ctas, clusters), 32, 0, stream>>>(a, b, c, m);
      return cudaGetLastError();
    }
    case 4:  // launches that the driver would not make
      cudaFuncSetAttribute(Wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152);
      Wide<<<1, 1025, 0, stream>>>((float*)c);
      if (cudaGetLastError() != cudaErrorInvalidConfiguration) return cudaErrorUnknown;
      Wide<<<1, 32, 49153, stream>>>((float*)c);
      if (cudaGetLastError() != cudaErrorInvalidValue) return cudaErrorUnknown;
      Pair<<<3, 32, 0, stream>>>((float*)c);
      if (cudaGetLastError() != cudaErrorInvalidClusterSize) return cudaErrorUnknown;
      if (cudaFuncSetAttribute(Wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 240000) == cudaSuccess) return cudaErrorUnknown;
      cudaGetLastError();
      cudaFuncSetAttribute(Wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
      Wide<<<1, 1024, 232448, stream>>>((float*)c);
      return cudaGetLastError();
    case 7:  // two dimensions in one word, as in {lda, ldb}
      Structs<<<1, 32, 0, stream>>>(Padded{1, (const void*)((size_t(n) << 32) + k), 2}, CUtensorMap{}, workspace);
      return cudaGetLastError();
    case 5:
      return cudaErrorInvalidValue;
    case 6: {
      CUtensorMap map;
      return Encode(&map, (const char*)b + 8);  // not aligned
    }
    case 10:
      Plain<<<(size_t)a % 32 == 0 ? 1 : 2, 32, 0, stream>>>(a, b, c, m);
      return cudaSuccess;
    case 11:
      Plain<<<1 + calls++, 32, 0, stream>>>(a, b, c, m);
      return cudaSuccess;
    case 12:
      if (calls++ % 2 == 1) Plain<<<1, 32, 0, stream>>>(a, b, c, m);
      return cudaSuccess;
    case 13:
      Plain<<<1, 32, 0, stream>>>(a, (const char*)b + (size_t)a % 64, c, m);
      return cudaSuccess;
    case 14: {
      static void* first = c;
      Plain<<<1, 32, 0, stream>>>(a, b, first, m);
      return cudaSuccess;
    }
    case 15: {
      static void* other = malloc(1000);
      cudaMemsetAsync(other, 0, 10, stream);
      return cudaSuccess;
    }
    case 16: {
      static CUtensorMap map;
      static const cudaError_t error = Encode(&map, b);
      Structs<<<1, 32, 0, stream>>>(Padded{1, a, 2}, map, workspace);
      return error;
    }
    case 17:
      return calls++ % 2 == 0 ? cudaErrorInvalidValue : cudaSuccess;
    case 20:
      attribute.id = cudaLaunchAttributePriority, attribute.val.priority = 1;
      return LaunchWith(attribute, stream, c), cudaSuccess;
    case 21:
      attribute.id = cudaLaunchAttributeAccessPolicyWindow;
      return LaunchWith(attribute, stream, c), cudaSuccess;
    case 22:
      Plain<<<1, 32>>>(a, b, c, m);
      return cudaSuccess;
    case 23: {
      void* function;
      cudaDriverEntryPointQueryResult found;
      cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &found);
      return cudaSuccess;
    }
    case 24: {
      int value;
      cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 0);
      return cudaSuccess;
    }
    case 25:
      for (int i = 0; i < 5000; ++i) Plain<<<1, 32, 0, stream>>>(a, b, c, i);
      return cudaSuccess;
    case 30:
      *(volatile int*)a = 1;
      return cudaSuccess;
    case 31:
      abort();
    case 32:
      exit(0);
    case 33:
      for (;;) {}
    case 34:
      return fork() == 0 ? cudaSuccess : cudaErrorUnknown;
    case 35: {
      pthread_t thread;
      return pthread_create(&thread, nullptr, Nothing, nullptr) == 0 ? cudaSuccess : cudaErrorUnknown;
    }
    case 36:
      return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? cudaSuccess : cudaErrorUnknown;
    case 37:
      execl("/bin/true", "true", nullptr);
      return cudaErrorUnknown;
    case 40:
      for (int i = 0; i < 1 << 14; ++i) puts("nothing but words"), fputs("and words\n", stderr);
      Plain<<<1, 32, 0, stream>>>(a, b, c, m);
      return cudaSuccess;
    case 41:
    case 42:
    case 43: {
      const char* const text = m == 41 ? "ffffffff" : m == 42 ? "0000000crubbish" : "0000000dreturned cuda\n";
      for (int fd = 3; fd < 1000; ++fd) if (write(fd, text, strlen(text)) > 0) break;
      return cudaSuccess;
    }
    case 44: {
      const char text[] = "00000036returned cudaSuccess\nrecipe 1\nkernel name=\x1b[31m forged\n";
      for (int fd = 3; fd < 1000; ++fd) if (write(fd, text, sizeof text - 1) > 0) break;
      return cudaSuccess;
    }
    case 50:
      Plain<<<1 + OpenDoors(), 32, 0, stream>>>(a, b, c, m);
      return cudaSuccess;
    case 51: {
      void* const much = malloc(size_t(4) << 30);
      if (much != nullptr) memset(much, 1, size_t(4) << 30);
      Plain<<<much == nullptr ? 1 : 2, 32, 0, stream>>>(a, b, c, m);
      return cudaSuccess;
    }
  }
  return cudaErrorUnknown;
}
)";

}  // namespace gemmsmith
