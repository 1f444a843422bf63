#include "compile/recording.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "compile/source_program.h"

namespace gemmsmith {
namespace {

// One source for all tests: m says what gemm() does.
constexpr const char* kSource = R"(
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

class RecordingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<std::unique_ptr<SourceCompiler>> compiler = MakeSourceCompiler();
    if (!compiler.ok()) {
      why_not_ = compiler.status().message();
      return;
    }
    const Result<SourceCompilation> compilation = (*compiler)->Compile(kSource, "sm_90a");
    ASSERT_TRUE(compilation.ok() && compilation->program) << (compilation.ok() ? compilation->log : "");
    program_ = *compilation->program;
  }
  void SetUp() override {
    if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  }
  static std::vector<LaunchRecord> Record(std::span<const Shape> shapes, uint64_t seed = 1) {
    Result<std::vector<LaunchRecord>> recordings = RecordLaunches(program_, *FindDevice("h200"), shapes, seed);
    EXPECT_TRUE(recordings.ok()) << recordings.status().message();
    return *std::move(recordings);
  }
  static LaunchRecord Record(int m) { return Record(std::array{Shape{m, 5, 6}}).at(0); }
  static Recipe RecipeOf(int m) {
    const LaunchRecord recording = Record(m);
    EXPECT_TRUE(recording.recipe) << recording.reason;
    return recording.recipe.value_or(Recipe{});
  }
  static void ExpectEnd(int m, RecordEnd end, std::string_view words) {
    const LaunchRecord recording = Record(m);
    EXPECT_FALSE(recording.recipe) << m;
    EXPECT_EQ(recording.end, end) << m << ": " << recording.reason;
    EXPECT_NE(recording.reason.find(words), std::string::npos) << m << ": " << recording.reason;
  }
  static SourceProgram program_;
  static std::string why_not_;
};
SourceProgram RecordingTest::program_;
std::string RecordingTest::why_not_;

constexpr const char* kPlain = "_Z5PlainPKvS0_Pvi";

TEST_F(RecordingTest, ARecipeHoldsMemsetsKernelsAddressesAndMaps) {
  const Recipe recipe = RecipeOf(1);
  ASSERT_EQ(recipe.maps.size(), 1u);
  EXPECT_EQ(recipe.maps[0], (RecipeMap{.address = {CallOperand::kB, 32},
                                       .type = 6,
                                       .rank = 2,
                                       .extent = {64, 32},
                                       .stride_bytes = {128},
                                       .box = {64, 8},
                                       .element_strides = {1, 1},
                                       .swizzle = 3,
                                       .l2_promotion = 3}));
  ASSERT_EQ(recipe.steps.size(), 3u);
  EXPECT_EQ(std::get<MemsetStep>(recipe.steps[0]), (MemsetStep{{CallOperand::kWorkspace, 64}, 255, 1024}));
  const auto& structs = std::get<KernelStep>(recipe.steps[1]);
  EXPECT_EQ(structs.grid, (Dim3{5, 2, 3}));
  EXPECT_EQ(structs.block, (Dim3{32, 4, 1}));
  EXPECT_EQ(structs.smem_bytes, 512u);
  EXPECT_EQ(structs.addresses,
            (std::vector<AddressPlace>{{8, {CallOperand::kA, 16}}, {240, {CallOperand::kWorkspace, 0}}}));
  EXPECT_EQ(structs.maps, (std::vector<MapPlace>{{112, 0}}));
  std::vector<uint8_t> parameters(248);
  parameters[0] = 1, parameters[16] = 7;
  EXPECT_EQ(structs.parameters, parameters) << "padding is zero";
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[2]).kernel, kPlain);
  EXPECT_TRUE(recipe.UsesWorkspace());
}

TEST_F(RecordingTest, RecipesDoNotDependOnTheInventedAddresses) {
  const Shape shapes[] = {{1, 5, 6}, {3, 5, 6}, {1, 9, 6}};
  const std::vector<LaunchRecord> first = Record(shapes, 1), second = Record(shapes, 2);
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_TRUE(first[i].recipe) << first[i].reason;
    EXPECT_EQ(Print(*first[i].recipe), Print(second[i].recipe.value()));
  }
  EXPECT_NE(*first[0].recipe, *first[2].recipe);
}

TEST_F(RecordingTest, AttributesAreTaken) {
  const Recipe recipe = RecipeOf(2);
  ASSERT_EQ(recipe.steps.size(), 4u);
  const auto step = [&](size_t i) { return std::get<KernelStep>(recipe.steps[i]); };
  EXPECT_EQ(step(0).cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(step(0).carveout_percent, 50);
  EXPECT_TRUE(step(1).is_programmatic);
  EXPECT_TRUE(step(2).is_cooperative);
  EXPECT_EQ(step(3).carveout_percent, 25);
}

TEST_F(RecordingTest, TheDeviceModelAnswersQueries) {
  const Recipe recipe = RecipeOf(3);
  ASSERT_EQ(recipe.steps.size(), 1u);
  // 233,472 / (40,000 + 1,024 rounded up) = 5 CTAs; two CTAs of 1,024 threads a multiprocessor.
  const Device device = *FindDevice("h200");
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).grid, (Dim3{132, 5, uint32_t(device.CtasInClusters(2, 2) / 2)}));
}

TEST_F(RecordingTest, LaunchesFailAsTheDriversWould) {
  const Recipe recipe = RecipeOf(4);
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).smem_bytes, 232448u);
}

TEST_F(RecordingTest, ErrorsOfGemmAreNamed) {
  ExpectEnd(5, RecordEnd::kReturnedError, "gemm returns cudaErrorInvalidValue");
  ExpectEnd(6, RecordEnd::kReturnedError, "gemm returns cudaErrorInvalidValue");
  const std::vector<LaunchRecord> recordings = Record(std::array{Shape{1, 5, 6}, Shape{5, 5, 6}});
  EXPECT_TRUE(recordings[0].recipe);
  EXPECT_EQ(recordings[1].end, RecordEnd::kReturnedError);
}

TEST_F(RecordingTest, LaunchesThatDependOnMoreThanTheShapeAreRefused) {
  ExpectEnd(10, RecordEnd::kRefused, "the grid of launch 1 (_Z5PlainPKvS0_Pvi) differs");
  ExpectEnd(11, RecordEnd::kRefused, "the grid of launch 1");
  ExpectEnd(12, RecordEnd::kRefused, "launches 0 kernels and memsets in one call and 1");
  ExpectEnd(13, RecordEnd::kRefused, "byte 8 of the parameters of kernel _Z5PlainPKvS0_Pvi differs");
  ExpectEnd(14, RecordEnd::kRefused, "keeps an address of C from an earlier call in byte 16");
  ExpectEnd(15, RecordEnd::kRefused, "memset 1 is of memory that is no operand's");
  ExpectEnd(16, RecordEnd::kRefused, "tensor map 1 is of memory that is no operand's");
  ExpectEnd(17, RecordEnd::kRefused, "gemm returns cudaErrorInvalidValue in one call");
}

TEST_F(RecordingTest, DimensionsAreNotTakenForAddresses) {
  for (int n = 2048; n < 18000; n += 512) {
    const LaunchRecord record = Record(std::array{Shape{7, n, n}, Shape{7, n + 1, 131072}}, uint64_t(n)).at(1);
    EXPECT_TRUE(record.recipe) << record.reason;
  }
}

TEST_F(RecordingTest, WhatTheContractLacksIsNamed) {
  ExpectEnd(20, RecordEnd::kRefused, "gemm launches with a priority (launch attribute 8)");
  ExpectEnd(21, RecordEnd::kRefused, "an access policy window");
  ExpectEnd(22, RecordEnd::kRefused, "into another stream than gemm's");
  ExpectEnd(23, RecordEnd::kRefused, "asks for the driver's cuMemAlloc");
  ExpectEnd(24, RecordEnd::kRefused, "asks for device attribute 33");
  ExpectEnd(25, RecordEnd::kRefused, "");
}

TEST_F(RecordingTest, CrashesAndExitsAreNamed) {
  ExpectEnd(30, RecordEnd::kCrashed, "gemm crashes (SIGSEGV)");
  ExpectEnd(31, RecordEnd::kCrashed, "gemm crashes (SIGABRT)");
  ExpectEnd(32, RecordEnd::kCrashed, "gemm ends its process with exit code 0");
}

TEST_F(RecordingTest, AnEndlessLoopIsStopped) { ExpectEnd(33, RecordEnd::kTimedOut, "does not return within 2 s"); }

TEST_F(RecordingTest, ProcessesThreadsSocketsAndProgramsAreRefused) {
  for (const int m : {34, 35, 36, 37}) ExpectEnd(m, RecordEnd::kRefused, "a system call that no launcher needs");
}

TEST_F(RecordingTest, WordsAreDiscardedAndForgedAnswersRefused) {
  EXPECT_EQ(RecipeOf(40).steps.size(), 1u);
  for (const int m : {41, 42, 43, 44}) {
    const LaunchRecord recording = Record(m);
    EXPECT_FALSE(recording.recipe) << m;
    EXPECT_EQ(recording.reason.find('\x1b'), std::string::npos);
  }
}

TEST_F(RecordingTest, NeitherDevicesNorDriverNorFilesAreFound) {
  const Recipe recipe = RecipeOf(50);
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).grid.x, 1u) << "doors are open";
}

TEST_F(RecordingTest, MemoryIsBounded) {
  const Recipe recipe = RecipeOf(51);
  ASSERT_EQ(recipe.steps.size(), 1u);
  EXPECT_EQ(std::get<KernelStep>(recipe.steps[0]).grid.x, 1u);
}

// What the recorder's own filter hides is not there either.
TEST_F(RecordingTest, TheSandboxHasNoDevicesAndNoNetwork) {
  const std::string script =
      "ls /dev | tr '\\n' ' '; cat /proc/net/dev | wc -l; touch /tmp/x && echo tmp; touch /usr/x || echo usr; id -u";
  const auto command = SandboxedCommand(RecordingSandbox("/bin/sh"), {"sh", "-c", script});
  ASSERT_TRUE(command.ok());
  const ProcessResult result = *RunProcess(*command, std::chrono::seconds(20));
  EXPECT_EQ(result.output.find("nvidia"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("dri"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("3\n"), std::string::npos) << "only the loopback device: " << result.output;
  EXPECT_NE(result.output.find("usr\n"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace gemmsmith
