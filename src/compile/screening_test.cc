#include "compile/screening.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compile/nvcc.h"

namespace gemmsmith {
namespace {

// The cubin of a text, by nvcc.
Result<std::vector<uint8_t>> CubinOf(const std::string& text, const char* architecture = "sm_90a") {
  ASSIGN_OR_RETURN(const Nvcc nvcc, FindNvcc());
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-screening-test"));
  const std::string source = folder.path() / "kernel.cu", cubin = folder.path() / "kernel.cubin";
  RETURN_IF_ERROR(WriteFileAtomic(source, text));
  ASSIGN_OR_RETURN(const ProcessResult process,
                   RunProcess({nvcc.program, "-cubin", "-std=c++17", "-arch", architecture, "-o", cubin, source},
                              std::chrono::seconds(60)));
  EXPECT_EQ(process.exit_code, 0) << process.output;
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(cubin));
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

class ScreeningTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto nvcc = FindNvcc(); !nvcc.ok()) GTEST_SKIP() << nvcc.status().message();
  }
};

// A kernel that reads a special register of PTX, named as the register is.
std::string Reader(std::string_view special, bool is_wide) {
  std::string name = "reads_" + std::string(special);
  std::replace(name.begin(), name.end(), '.', '_');
  return fmt::format(
      "extern \"C\" __global__ void {}({} * p) {{ {} v; asm volatile(\"mov.{} %0, %%{};\" : \"={}\"(v)); *p += v; }}\n",
      name, is_wide ? "unsigned long long" : "unsigned", is_wide ? "unsigned long long" : "unsigned",
      is_wide ? "u64" : "u32", special, is_wide ? "l" : "r");
}

TEST_F(ScreeningTest, WhatTellsLaunchesApartIsRefused) {
  std::string text;
  std::vector<std::string> expected;
  for (const std::string_view clock :
       {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"}) {
    text += Reader(clock, clock == "clock64" || clock == "globaltimer");
    expected.push_back(fmt::format("kernel reads_{} reads a clock", clock));
  }
  for (const std::string_view counter : {"pm0", "pm7"}) {
    text += Reader(counter, false);
    expected.push_back(fmt::format("kernel reads_{} reads a performance counter", counter));
  }
  for (const std::string_view identity : {"gridid", "current_graph_exec"}) {
    text += Reader(identity, true);
    expected.push_back(fmt::format("kernel reads_{0} reads %{0}, which tells launches apart", identity));
  }
  std::vector<std::string> found = ScreenMachineCode(*CubinOf(text));
  std::sort(found.begin(), found.end()), std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST_F(ScreeningTest, OlderArchitecturesTellTheSame) {
  const std::vector<std::string> found =
      ScreenMachineCode(*CubinOf(Reader("gridid", true) + Reader("clock64", true) + Reader("laneid", false), "sm_80"));
  EXPECT_EQ(found.size(), 2u) << Join(found, "; ");
}

TEST_F(ScreeningTest, WhatKernelsNeedIsAllowed) {
  std::string text =
      "#include <cooperative_groups.h>\n__constant__ float table[4] = {1, 2, 3, 4};\n"
      "__device__ float one(float x) { return x; }\n__device__ __noinline__ float two(float x) { return 2 * x; }\n"
      "__constant__ float (*functions[])(float) = {one, two};\n"
      "__global__ void calls(float* p, int n) { p[n] = functions[n & 1](table[n & 3]); if (n < 0) __trap(); }\n"
      "__global__ void waits(float* p) { cooperative_groups::this_grid().sync(); __nanosleep(100); p[blockIdx.x] = "
      "gridDim.x; }\n"
      "__global__ void indexes(const __grid_constant__ int4 a, int n, int* p) { *p = ((const int*)&a)[n & 3] + "
      "blockDim.y; }\n";
  for (const std::string_view special : {"laneid", "warpid", "nwarpid", "smid", "nsmid", "lanemask_lt",
                                         "dynamic_smem_size", "total_smem_size", "clusterid.x", "cluster_ctarank"})
    text += Reader(special, false);
  EXPECT_EQ(ScreenMachineCode(*CubinOf(text)), std::vector<std::string>{});
}

TEST_F(ScreeningTest, MemoryThatOutlivesTheCallIsRefused) {
  const auto expect = [](std::string_view variable, const std::string& text) {
    EXPECT_EQ(ScreenMachineCode(*CubinOf(text)),
              std::vector<std::string>{fmt::format(
                  "uses the __device__ variable {}, which outlives the call; __constant__ is allowed", variable)});
  };
  expect("count", "__device__ int unused, count;\n__global__ void kernel() { atomicAdd(&count, 1); }\n");
  expect("counts", "__device__ int counts[2] = {1, 2};\n__global__ void kernel(int i) { ++counts[i]; }\n");
  expect("count", "__device__ int count;\n__constant__ int* place = &count;\n__global__ void kernel() { ++*place; }\n");
}

TEST_F(ScreeningTest, VariablesThatNoCodeUsesAreAllowed) {
  EXPECT_EQ(ScreenMachineCode(
                *CubinOf("__device__ int unused, used_not[7] = {1};\n__global__ void kernel(int* p) { ++*p; }\n")),
            std::vector<std::string>{});
}

TEST_F(ScreeningTest, HeapAndPrintingOfTheDeviceAreRefused) {
  const std::vector<std::string> found =
      ScreenMachineCode(*CubinOf("#include <cstdio>\n#include <cassert>\n__global__ void kernel(int** p, int i) {\n"
                                 "  if (!*p) *p = (int*)malloc(i); (*p)[i] = i; if (i < 0) printf(\"%d\", i); assert(i "
                                 "< 9); if (i == 7) free(*p); }\n"));
  for (const std::string_view reason : {"calls malloc on the device, whose heap outlives the call",
                                        "calls free on the device, whose heap outlives the call",
                                        "calls printf on the device", "calls assert on the device"})
    EXPECT_EQ(std::count(found.begin(), found.end(), reason), 1) << reason << " in " << Join(found, "; ");
}

TEST(Screening, BytesThatAreNoCubinAreRefused) {
  EXPECT_EQ(ScreenMachineCode(std::vector<uint8_t>{1, 2, 3}).size(), 1u);
}

}  // namespace
}  // namespace gemmsmith
