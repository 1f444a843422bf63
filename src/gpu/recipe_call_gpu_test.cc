#include "gpu/recipe_call.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compile/compiler.h"

namespace gemmsmith {
namespace {

constexpr const char* kRecipeKernels = R"CUDA(
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void scale(const int* a, int* c, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] * factor;
}
extern "C" __global__ void add_late(const int* a, int* workspace, int count) {
  asm volatile("griddepcontrol.launch_dependents;");
  const long long start = clock64();
  while (clock64() - start < 100000) {
  }
  for (int i = threadIdx.x; i < count; i += blockDim.x) workspace[i] = a[i] + 1;
}
extern "C" __global__ void read_waiting(const int* workspace, int* c, int count) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  for (int i = threadIdx.x; i < count; i += blockDim.x) c[i] = workspace[i];
}
extern "C" __global__ void cluster_ranks(int* c) {
  extern __shared__ int unused[];
  unsigned rank, size;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) c[blockIdx.x] = int(size * 100 + rank);
}
extern "C" __global__ void copy_box(const __grid_constant__ Map map, int* c) {
  __shared__ alignas(128) int box[64];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = unsigned(__cvta_generic_to_shared(&barrier)), to = unsigned(__cvta_generic_to_shared(box));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            to),
        "l"(&map), "r"(8), "r"(8), "r"(at)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at)
        : "memory");
  c[threadIdx.x] = box[threadIdx.x];
}
)CUDA";

constexpr int kIntegers = 256;

class RecipeCallTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto driver = Driver::Open();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    auto gpu = Gpu::Open(0);
    ASSERT_TRUE(gpu.ok()) << gpu.status().message();
    gpu_ = *std::move(gpu);
    if (gpu_->identity().device.compute_major < 9) GTEST_SKIP() << "a GPU without tensor maps";
    auto compiler = MakeNvrtcCompiler();
    ASSERT_TRUE(compiler.ok()) << compiler.status().message();
    const auto compiled = (*compiler)->Compile({kRecipeKernels, "scale"}, gpu_->identity().device.Architecture());
    ASSERT_TRUE(compiled.ok() && compiled->succeeded) << (compiled.ok() ? compiled->log : "");
    const std::vector<std::vector<uint8_t>> cubins = {compiled->binary.cubin};
    auto code = RecipeCode::Load(cubins);
    ASSERT_TRUE(code.ok()) << code.status().message();
    code_.emplace(*std::move(code));
    for (DeviceMemory* const memory : {&a_, &c_, &workspace_}) {
      auto made = gpu_->Allocate(kIntegers * sizeof(int));
      ASSERT_TRUE(made.ok()) << made.status().message();
      *memory = *std::move(made);
    }
    std::vector<int> values(kIntegers);
    for (int i = 0; i < kIntegers; ++i) values[size_t(i)] = i;
    ASSERT_TRUE(gpu_->CopyToDevice(a_.address(), BytesOf(values)).ok());
    ASSERT_TRUE(gpu_->Fill8(c_.address(), 0xff, c_.size_bytes()).ok());
    ASSERT_TRUE(gpu_->Fill8(workspace_.address(), 0, workspace_.size_bytes()).ok());
  }
  void TearDown() override { code_.reset(); }

  static std::span<uint8_t> BytesOf(std::vector<int>& values) {
    return {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(int)};
  }
  RecipeAddresses Addresses() const { return {a_.address(), 0, c_.address(), workspace_.address()}; }
  // The contents of C after the recipe has run as it is, or once as a graph.
  std::vector<int> Run(const Recipe& recipe, bool as_graph = false) {
    std::vector<int> values(kIntegers, -2);
    const auto call = code_->Bind(recipe, Addresses());
    EXPECT_TRUE(call.ok()) << call.status().message();
    if (!call.ok()) return values;
    if (as_graph) {
      const auto graph = gpu_->Capture([&] { return call->Put(*gpu_); });
      EXPECT_TRUE(graph.ok()) << graph.status().message();
      EXPECT_TRUE(!graph.ok() || gpu_->Replay(*graph).ok());
    } else {
      const Status put = call->Put(*gpu_);
      EXPECT_TRUE(put.ok()) << put.message();
    }
    const Status copied = gpu_->CopyToHost(BytesOf(values), c_.address());
    EXPECT_TRUE(copied.ok()) << copied.message();
    return values;
  }

  std::unique_ptr<Gpu> gpu_;
  DeviceMemory a_, c_, workspace_;
  std::optional<RecipeCode> code_;
};

KernelStep KernelOf(const std::string& kernel, std::vector<AddressPlace> addresses, uint32_t bytes) {
  KernelStep step;
  step.kernel = kernel;
  step.block.x = 64;
  step.parameters.resize(bytes);
  step.addresses = std::move(addresses);
  return step;
}

void PutInt(KernelStep& step, size_t at, int value) { std::memcpy(step.parameters.data() + at, &value, sizeof value); }

KernelStep Scale(int factor) {
  KernelStep step = KernelOf("scale", {{0, {CallOperand::kA, 0}}, {8, {CallOperand::kC, 0}}}, 20);
  step.grid.x = kIntegers / step.block.x;
  PutInt(step, 16, factor);
  return step;
}

TEST_F(RecipeCallTest, APlainKernelFindsItsAddressesAndNumbers) {
  Recipe recipe;
  recipe.steps = {Scale(3)};
  for (const bool as_graph : {false, true}) {
    const std::vector<int> values = Run(recipe, as_graph);
    for (int i = 0; i < kIntegers; ++i) ASSERT_EQ(values[size_t(i)], 3 * i);
  }
}

TEST_F(RecipeCallTest, AnOffsetMovesAnAddress) {
  Recipe recipe;
  KernelStep step = Scale(1);
  step.grid.x = 1;
  step.addresses[0].address.offset = 64 * sizeof(int);
  recipe.steps = {step};
  const std::vector<int> values = Run(recipe);
  EXPECT_EQ(values[0], 64);
  EXPECT_EQ(values[64], -1);
}

TEST_F(RecipeCallTest, AKernelBehindAProgrammaticEdgeSeesWhatItWaitedFor) {
  Recipe recipe;
  KernelStep first = KernelOf("add_late", {{0, {CallOperand::kA, 0}}, {8, {CallOperand::kWorkspace, 0}}}, 20);
  KernelStep second = KernelOf("read_waiting", {{0, {CallOperand::kWorkspace, 0}}, {8, {CallOperand::kC, 0}}}, 20);
  PutInt(first, 16, kIntegers);
  PutInt(second, 16, kIntegers);
  second.is_programmatic = true;
  recipe.steps = {first, second};
  for (const bool as_graph : {false, true}) {
    ASSERT_TRUE(gpu_->Fill8(workspace_.address(), 0, workspace_.size_bytes()).ok());
    const std::vector<int> values = Run(recipe, as_graph);
    for (int i = 0; i < kIntegers; ++i) ASSERT_EQ(values[size_t(i)], i + 1);
  }
}

TEST_F(RecipeCallTest, AFirstProgrammaticEdgeMakesACallChainable) {
  Recipe recipe;
  recipe.steps = {Scale(1)};
  EXPECT_FALSE(code_->Bind(recipe, Addresses())->is_chainable());
  std::get<KernelStep>(recipe.steps[0]).is_programmatic = true;
  EXPECT_TRUE(code_->Bind(recipe, Addresses())->is_chainable());
  recipe.steps.emplace_back(MemsetStep{{CallOperand::kC, 0}, 0, 4});
  EXPECT_FALSE(code_->Bind(recipe, Addresses())->is_chainable());
}

TEST_F(RecipeCallTest, AMemsetStandsInItsPlaceAmongKernels) {
  Recipe recipe;
  recipe.steps = {Scale(5), MemsetStep{{CallOperand::kC, 4}, 0x01, 8}};
  for (const bool as_graph : {false, true}) {
    const std::vector<int> values = Run(recipe, as_graph);
    EXPECT_EQ(values[0], 0);
    EXPECT_EQ(values[1], 0x01010101);
    EXPECT_EQ(values[2], 0x01010101);
    EXPECT_EQ(values[3], 15);
  }
}

TEST_F(RecipeCallTest, ATensorMapIsEncodedForTheRealAddress) {
  // Parameters begin 16 bytes behind a multiple of 64, and a map stands at one.
  constexpr uint32_t kMapAt = 48;
  Recipe recipe;
  RecipeMap map;
  map.address = {CallOperand::kA, 0};
  map.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  map.rank = 2;
  map.extent = {16, 16};
  map.stride_bytes = {16 * sizeof(int)};
  map.box = {8, 8};
  map.element_strides = {1, 1};
  recipe.maps = {map};
  KernelStep step =
      KernelOf("copy_box", {{kMapAt + kTensorMapBytes, {CallOperand::kC, 0}}}, kMapAt + kTensorMapBytes + 8);
  step.maps = {{kMapAt, 0}};
  recipe.steps = {step};
  for (const bool as_graph : {false, true}) {
    const std::vector<int> values = Run(recipe, as_graph);
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column)
        ASSERT_EQ(values[size_t(row * 8 + column)], (row + 8) * 16 + column + 8);
  }
}

TEST_F(RecipeCallTest, ANonPortableClusterAndMuchSharedMemoryAreAllowed) {
  Recipe recipe;
  KernelStep step = KernelOf("cluster_ranks", {{0, {CallOperand::kC, 0}}}, 8);
  step.grid.x = step.cluster.x = 16;
  step.smem_bytes = 100 << 10;
  step.carveout_percent = 100;
  recipe.steps = {step};
  const std::vector<int> values = Run(recipe);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(values[size_t(i)], 1600 + i);
}

TEST_F(RecipeCallTest, ACooperativeKernelRuns) {
  Recipe recipe;
  KernelStep step = Scale(2);
  step.is_cooperative = true;
  recipe.steps = {step, step};
  for (const bool as_graph : {false, true}) {
    ASSERT_TRUE(gpu_->Fill8(c_.address(), 0xff, c_.size_bytes()).ok());
    EXPECT_EQ(Run(recipe, as_graph)[7], 14);
  }
}

TEST_F(RecipeCallTest, WhatTheRecipeLacksIsSaid) {
  Recipe recipe;
  recipe.steps = {KernelOf("nobody", {}, 0)};
  EXPECT_EQ(code_->Bind(recipe, Addresses()).status().message(), "no kernel 'nobody' in the machine code");
  KernelStep step = Scale(1);
  step.addresses[0].at = 13;
  recipe.steps = {step};
  EXPECT_EQ(code_->Bind(recipe, Addresses()).status().message(), "a place at byte 13 of 20 bytes of parameters");
  step = Scale(1);
  step.maps = {{0, 2}};
  recipe.steps = {step};
  EXPECT_EQ(code_->Bind(recipe, Addresses()).status().message(), "map 2 of a recipe with 0");
  step = Scale(1);
  step.parameters.resize(18);
  recipe.steps = {step};
  EXPECT_EQ(code_->Bind(recipe, Addresses()).status().message(),
            "kernel 'scale' has a parameter of 4 bytes at byte 16, the recipe 18 bytes");
}

}  // namespace
}  // namespace gemmsmith
