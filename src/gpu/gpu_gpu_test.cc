#include "gpu/gpu.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "compile/compiler.h"
#include "gpu/fenced_memory.h"
#include "gpu/nvml.h"

namespace gemmsmith {
namespace {

constexpr const char* kKernels = R"CUDA(
struct AddArguments { int* data; int count; int addend; };
extern "C" __global__ void add(const AddArguments arguments) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < arguments.count) arguments.data[i] += arguments.addend;
}
extern "C" __global__ void reverse_through_smem(const AddArguments arguments) {
  extern __shared__ int staged[];
  for (int i = threadIdx.x; i < arguments.count; i += blockDim.x) staged[i] = arguments.data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < arguments.count; i += blockDim.x)
    arguments.data[i] = staged[arguments.count - 1 - i];
}
extern "C" __global__ void cluster_ranks(const AddArguments arguments) {
#if __CUDA_ARCH__ >= 900
  unsigned rank, size;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
  if (threadIdx.x == 0) arguments.data[blockIdx.x] = int(size * 100 + rank);
#endif
}
extern "C" __global__ void spin(const AddArguments arguments) {
  const long long start = clock64();
  while (clock64() - start < arguments.addend) {
  }
}
extern "C" __global__ void write_nowhere(const AddArguments) { *reinterpret_cast<volatile int*>(64) = 1; }
extern "C" __global__ void trap(const AddArguments) { asm volatile("trap;"); }
)CUDA";

struct AddArguments {
  int* data = nullptr;
  int count = 0;
  int addend = 0;
};

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto driver = Driver::Open();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    auto gpu = Gpu::Open(0);
    ASSERT_TRUE(gpu.ok()) << gpu.status().message();
    gpu_ = *std::move(gpu);
  }
  Kernel Load(const std::string& entry, uint32_t dynamic_smem_bytes = 0) {
    auto compiler = MakeNvrtcCompiler();
    EXPECT_TRUE(compiler.ok()) << compiler.status().message();
    const auto compilation = (*compiler)->Compile({kKernels, entry}, gpu_->identity().device.Architecture());
    EXPECT_TRUE(compilation.ok() && compilation->succeeded);
    auto kernel = gpu_->Load(compilation->binary.cubin, entry, dynamic_smem_bytes);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    return kernel.ok() ? *std::move(kernel) : Kernel();
  }
  DeviceMemory Upload(const std::vector<int>& values) {
    auto memory = gpu_->Allocate(values.size() * sizeof(int));
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    EXPECT_TRUE(gpu_->CopyToDevice(memory->address(),
                                   {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(int)})
                    .ok());
    return *std::move(memory);
  }
  std::vector<int> Download(const DeviceMemory& memory) {
    std::vector<int> values(memory.size_bytes() / sizeof(int), -12345);
    const Status copied =
        gpu_->CopyToHost({reinterpret_cast<uint8_t*>(values.data()), memory.size_bytes()}, memory.address());
    EXPECT_TRUE(copied.ok()) << copied.message();
    return values;
  }
  static std::vector<int> Counting(int count) {
    std::vector<int> values(static_cast<size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    return values;
  }

  std::unique_ptr<Gpu> gpu_;
};

TEST_F(GpuTest, IdentityIsComplete) {
  const auto gpus = ListGpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  ASSERT_GE(gpus->size(), 1u);
  for (const GpuIdentity& identity : {gpus->front(), gpu_->identity()}) {
    EXPECT_EQ(identity.ordinal, 0);
    EXPECT_GE(identity.driver_version, 13000);
    EXPECT_TRUE(identity.uuid.starts_with("GPU-"));
    EXPECT_EQ(identity.uuid.size(), 40u);
    EXPECT_GT(identity.memory_bytes, uint64_t(1) << 30);
    EXPECT_FALSE(identity.device.name.empty());
    EXPECT_GE(identity.device.compute_capability(), 80);
    EXPECT_GT(identity.device.multiprocessors, 0);
    EXPECT_GE(identity.device.smem_bytes_per_block, 48 * 1024);
  }
}

TEST_F(GpuTest, AnOrdinalThatIsNoneIsNotFound) {
  EXPECT_EQ(Gpu::Open(-1).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Gpu::Open(1000).status().code(), StatusCode::kNotFound);
}

TEST_F(GpuTest, MemoryComesBackAsItWent) {
  const std::vector<int> values = Counting(1000003);
  const DeviceMemory memory = Upload(values);
  EXPECT_EQ(memory.address() % 256, 0u);
  EXPECT_EQ(Download(memory), values);
}

TEST_F(GpuTest, FillsRepeatTheirValueAndStayInside) {
  const DeviceMemory memory = Upload(std::vector<int>(4, 0));
  ASSERT_TRUE(gpu_->Fill16(memory.address() + 2, 0xbeef, 3).ok());
  ASSERT_TRUE(gpu_->Fill8(memory.address() + 13, 0x5a, 2).ok());
  const std::vector<int> values = Download(memory);
  const std::array<uint32_t, 4> expected = {0xbeef0000, 0xbeefbeef, 0, 0x005a5a00};
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), sizeof expected), 0);
}

TEST_F(GpuTest, NothingIsAllocatedForZeroBytes) {
  const auto memory = gpu_->Allocate(0);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->address(), 0u);
  EXPECT_TRUE(gpu_->CopyToHost({}, 0).ok());
}

TEST_F(GpuTest, PageLockedMemoryComesBackAsItWent) {
  auto from = gpu_->AllocateOnHost(1000003), to = gpu_->AllocateOnHost(1000003);
  ASSERT_TRUE(from.ok() && to.ok()) << from.status().message() << to.status().message();
  ASSERT_EQ(from->bytes().size(), 1000003u);
  for (size_t i = 0; i < from->bytes().size(); ++i) from->bytes()[i] = uint8_t(i * 7 + i / 256);
  auto memory = gpu_->Allocate(from->bytes().size());
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  ASSERT_TRUE(gpu_->CopyToDevice(memory->address(), from->bytes()).ok());
  PageLockedMemory moved;
  moved = *std::move(to);
  ASSERT_TRUE(gpu_->CopyToHost(moved.bytes(), memory->address()).ok());
  EXPECT_TRUE(std::equal(from->bytes().begin(), from->bytes().end(), moved.bytes().begin()));
  EXPECT_TRUE(gpu_->AllocateOnHost(0)->bytes().empty());
}

TEST_F(GpuTest, MoreMemoryThanThereIsIsUnavailableAndHarmless) {
  const auto memory = gpu_->Allocate(gpu_->identity().memory_bytes * 2);
  EXPECT_EQ(memory.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(memory.status().message().find("MiB"), std::string::npos) << memory.status().message();
  EXPECT_EQ(Download(Upload(Counting(10))), Counting(10));
}

TEST_F(GpuTest, MemoryIsGivenBack) {
  const uint64_t before = gpu_->FreeBytes();
  for (int i = 0; i < 8; ++i) {
    auto memory = gpu_->Allocate(before / 4);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    DeviceMemory moved = *std::move(memory);
    DeviceMemory assigned;
    assigned = std::move(moved);
    EXPECT_NE(assigned.address(), 0u);
  }
}

TEST_F(GpuTest, AKernelGetsItsArgumentBlock) {
  const DeviceMemory memory = Upload(Counting(1000));
  const Kernel kernel = Load("add");
  const Status started = gpu_->Start(kernel, {.grid = {8}, .block = {128}}, AddArguments{memory.as<int>(), 1000, 7});
  ASSERT_TRUE(started.ok()) << started.message();
  ASSERT_TRUE(gpu_->Synchronize().ok());
  const std::vector<int> values = Download(memory);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[size_t(i)], i + 7);
}

TEST_F(GpuTest, DynamicSharedMemoryUpToTheDevicesLimit) {
  const uint32_t smem_bytes = uint32_t(gpu_->identity().device.smem_bytes_per_block);
  const int count = int(smem_bytes / sizeof(int));
  const DeviceMemory memory = Upload(Counting(count));
  const Kernel kernel = Load("reverse_through_smem", smem_bytes);
  const Status started = gpu_->Start(kernel, {.grid = {1}, .block = {256}, .smem_bytes = smem_bytes},
                                     AddArguments{memory.as<int>(), count, 0});
  ASSERT_TRUE(started.ok()) << started.message();
  ASSERT_TRUE(gpu_->Synchronize().ok());
  const std::vector<int> values = Download(memory);
  for (int i = 0; i < count; ++i) ASSERT_EQ(values[size_t(i)], count - 1 - i);
}

TEST_F(GpuTest, TooMuchSharedMemoryIsRefusedByName) {
  auto compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  const auto compilation = (*compiler)->Compile({kKernels, "add"}, gpu_->identity().device.Architecture());
  ASSERT_TRUE(compilation.ok());
  const auto kernel = gpu_->Load(compilation->binary.cubin, "add", 1 << 20);
  EXPECT_EQ(kernel.status().code(), StatusCode::kIoError);
  EXPECT_TRUE(kernel.status().message().starts_with("driver.cuFuncSetAttribute: CUDA_ERROR_")) << kernel.status().message();
}

TEST_F(GpuTest, ALaunchThatCannotBeIsRefusedAndHarmless) {
  const DeviceMemory memory = Upload(Counting(10));
  const Kernel kernel = Load("add");
  const Status started = gpu_->Start(kernel, {.grid = {1}, .block = {2048}}, AddArguments{memory.as<int>(), 10, 1});
  EXPECT_EQ(started.code(), StatusCode::kIoError);
  EXPECT_TRUE(started.message().starts_with("cuLaunchKernelEx: CUDA_ERROR_")) << started.message();
  EXPECT_EQ(Download(memory), Counting(10));
}

TEST_F(GpuTest, ClustersOfUpToSixteenAreLaunched) {
  if (gpu_->identity().device.compute_major < 9) GTEST_SKIP() << "clusters need sm_90";
  const Kernel kernel = Load("cluster_ranks");
  for (const int size : {2, 8, 16}) {
    const DeviceMemory memory = Upload(std::vector<int>(32, -1));
    const Status started = gpu_->Start(kernel, {.grid = {32}, .block = {64}, .cluster = {uint32_t(size)}},
                                       AddArguments{memory.as<int>(), 32, 0});
    ASSERT_TRUE(started.ok()) << size << ": " << started.message();
    ASSERT_TRUE(gpu_->Synchronize().ok());
    const std::vector<int> values = Download(memory);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(values[size_t(i)], size * 100 + i % size);
  }
}

TEST_F(GpuTest, AGraphReplaysWhatWasCaptured) {
  const DeviceMemory memory = Upload(Counting(100));
  const Kernel kernel = Load("add");
  const auto graph = gpu_->Capture([&] {
    for (int i = 0; i < 3; ++i)
      RETURN_IF_ERROR(gpu_->Start(kernel, {.grid = {1}, .block = {128}}, AddArguments{memory.as<int>(), 100, 10}));
    return OkStatus();
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(Download(memory), Counting(100)) << "capturing must not run anything";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(gpu_->Replay(*graph).ok());
  ASSERT_TRUE(gpu_->Synchronize().ok());
  const std::vector<int> values = Download(memory);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(values[size_t(i)], i + 60);
}

TEST_F(GpuTest, AGraphRunsWithReplacedArguments) {
  const DeviceMemory memory = Upload(Counting(100));
  const Kernel kernel = Load("add"), other = Load("spin");
  const auto graph = gpu_->CaptureReplaceable([&] {
    return gpu_->Start(kernel, {.grid = {1}, .block = {128}}, AddArguments{memory.as<int>(), 100, 10});
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Status replaced = gpu_->ReplaceArgument(*graph, kernel, AddArguments{memory.as<int>(), 100, 3});
  ASSERT_TRUE(replaced.ok()) << replaced.message();
  EXPECT_FALSE(gpu_->ReplaceArgument(*graph, other, AddArguments{}).ok());
  ASSERT_TRUE(gpu_->Replay(*graph).ok());
  ASSERT_TRUE(gpu_->Synchronize().ok());
  EXPECT_EQ(Download(memory)[7], 10);
}

TEST_F(GpuTest, AFailedCaptureLeavesTheStreamUsable) {
  const auto graph = gpu_->Capture([] { return InvalidArgument("changed my mind"); });
  EXPECT_EQ(graph.status().message(), "changed my mind");
  const auto waited = gpu_->Capture([&] { return gpu_->Synchronize(); });
  EXPECT_EQ(waited.status().code(), StatusCode::kIoError) << "waiting is not allowed while capturing";
  const DeviceMemory memory = Upload(Counting(10));
  EXPECT_EQ(Download(memory), Counting(10));
}

TEST_F(GpuTest, EventsTellMoreTimeForMoreWork) {
  const Kernel kernel = Load("spin");
  const auto timed = [&](int cycles) {
    const auto first = gpu_->MakeEvent(), last = gpu_->MakeEvent();
    EXPECT_TRUE(first.ok() && last.ok());
    EXPECT_TRUE(gpu_->Record(*first).ok());
    EXPECT_TRUE(gpu_->Start(kernel, {.grid = {1}, .block = {32}}, AddArguments{nullptr, 0, cycles}).ok());
    EXPECT_TRUE(gpu_->Record(*last).ok());
    const auto elapsed = gpu_->ElapsedNs(*first, *last);
    EXPECT_TRUE(elapsed.ok()) << elapsed.status().message();
    return elapsed.ok() ? *elapsed : 0.0;
  };
  timed(1000);
  const double short_ns = timed(100000), long_ns = timed(20000000);
  EXPECT_GT(short_ns, 0);
  EXPECT_GT(long_ns, 10 * short_ns);
  EXPECT_GT(long_ns, 5e6) << "20 million cycles at no more than 4 GHz";
}

TEST_F(GpuTest, BytesThatAreNoCubinAreRefusedByName) {
  std::vector<uint8_t> bytes(4096, 0x42);
  const auto kernel = gpu_->Load(bytes, "add", 0);
  EXPECT_EQ(kernel.status().code(), StatusCode::kIoError);
  EXPECT_TRUE(kernel.status().message().starts_with("driver.cuModuleLoadDataEx: CUDA_ERROR_")) << kernel.status().message();
}

TEST_F(GpuTest, AMissingEntryIsRefusedByName) {
  auto compiler = MakeNvrtcCompiler();
  ASSERT_TRUE(compiler.ok());
  const auto compilation = (*compiler)->Compile({kKernels, "add"}, gpu_->identity().device.Architecture());
  const auto kernel = gpu_->Load(compilation->binary.cubin, "subtract", 0);
  EXPECT_TRUE(kernel.status().message().starts_with("driver.cuModuleGetFunction: CUDA_ERROR_NOT_FOUND"))
      << kernel.status().message();
}

TEST_F(GpuTest, NvmlReadsThisGpu) {
  const auto nvml = Nvml::Open(gpu_->identity().uuid);
  ASSERT_TRUE(nvml.ok()) << nvml.status().message();
  EXPECT_FALSE((*nvml)->DriverRelease().empty());
  EXPECT_EQ((*nvml)->DriverRelease(), gpu_->identity().driver_release);
  const auto condition = (*nvml)->Read();
  ASSERT_TRUE(condition.ok()) << condition.status().message();
  EXPECT_GT(condition->sm_clock_mhz, 100);
  EXPECT_GT(condition->memory_clock_mhz, 100);
  EXPECT_GT(condition->power_watts, 5);
  EXPECT_GT(condition->temperature_c, 5);
  EXPECT_LT(condition->temperature_c, 120);
  EXPECT_GE(condition->other_processes, 0);
}

TEST_F(GpuTest, FencedMemoryComesBackAsItWentToItsLastByte) {
  const auto made = FencedMemory::Create(*gpu_, 1000);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_GE(made->size_bytes(), 1000u);
  const std::array<uint8_t, 4> bytes = {1, 2, 3, 4};
  const CUdeviceptr last = made->address() + made->size_bytes() - bytes.size();
  ASSERT_TRUE(gpu_->CopyToDevice(last, bytes).ok());
  std::array<uint8_t, 4> seen{};
  ASSERT_TRUE(gpu_->CopyToHost(seen, last).ok());
  EXPECT_EQ(seen, bytes);
  seen = {};
  ASSERT_TRUE(gpu_->CopyToHost(seen, made->read_only_address() + made->size_bytes() - bytes.size()).ok());
  EXPECT_EQ(seen, bytes);
}

// An error of a kernel ends its context for good, so these run in processes of their own.
class LostContext : public GpuTest {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // exec: a forked child cannot use the driver
    GpuTest::SetUp();
  }
  [[noreturn]] void RunAndTell(const std::string& entry, const AddArguments& arguments = {}) {
    const Kernel kernel = Load(entry);
    Status status = gpu_->Start(kernel, {.grid = {1}, .block = {1}}, arguments);
    if (status.ok()) status = gpu_->Synchronize();
    const Status later = gpu_->Synchronize();
    std::fprintf(stderr, "code %d, %s; later %s\n", int(status.code()), status.message().c_str(),
                 later.message().c_str());
    std::_Exit(later.ok() ? 1 : 42);
  }
};

TEST_F(LostContext, AnIllegalAddressIsAnIoErrorWithItsName) {
  EXPECT_EXIT(RunAndTell("write_nowhere"), testing::ExitedWithCode(42),
              "code 4, cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS .*; later .*CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(LostContext, ATrapIsAnIoErrorWithItsName) {
  EXPECT_EXIT(RunAndTell("trap"), testing::ExitedWithCode(42), "code 4, cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED");
}

TEST_F(LostContext, AnAccessBehindFencedMemoryIsAFault) {
  const auto behind = [this](CUdeviceptr (FencedMemory::*address)() const) {
    const auto memory = FencedMemory::Create(*gpu_, 4);
    RunAndTell("add", {reinterpret_cast<int*>(((*memory).*address)() + memory->size_bytes()), 1, 0});
  };
  EXPECT_EXIT(behind(&FencedMemory::address), testing::ExitedWithCode(42), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EXIT(behind(&FencedMemory::read_only_address), testing::ExitedWithCode(42), "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(LostContext, AWriteToAReadOnlyAddressIsAFault) {
  const auto write = [this] {
    const auto memory = FencedMemory::Create(*gpu_, 4);
    RunAndTell("add", {reinterpret_cast<int*>(memory->read_only_address()), 1, 0});
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(42), "code 4, cuStreamSynchronize: CUDA_ERROR");
}

}  // namespace
}  // namespace gemmsmith
