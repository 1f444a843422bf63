// Repeats, on every run, the measurement that facts.cc rests on. Kernels of known instructions go through NVRTC, and
// the facts read from their machine code must be right. Where nvdisasm is installed, it must agree instruction by
// instruction.
#include "compile/facts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "compile/compiler.h"
#include "compile/elf.h"

namespace gemmsmith {
namespace {

constexpr const char* kKernels = R"CUDA(
typedef unsigned u32;
#define MMA_F32(types)                                                                                              \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." types ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9},"          \
               "{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                     \
               : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]))
extern "C" __global__ void three_f32(u32* p) {
  float d[4] = {};
  MMA_F32("f16.f16"); MMA_F32("f16.f16"); MMA_F32("bf16.bf16");
  for (int i = 0; i < 4; i++) ((float*)p)[i] = d[i];
}
extern "C" __global__ void two_f16_one_f32(u32* p) {
  float d[4] = {};
  u32 e[2] = {};
  MMA_F32("f16.f16");
  for (int i = 0; i < 2; i++)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(e[0]), "+r"(e[1]) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]));
  for (int i = 0; i < 4; i++) ((float*)p)[i] = d[i];
  p[8] = e[0]; p[9] = e[1];
}
extern "C" __global__ void k8(u32* p) {
  float d[4] = {};
  u32 e[2] = {};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(p[0]), "r"(p[1]), "r"(p[2]));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
               : "+r"(e[0]), "+r"(e[1]) : "r"(p[0]), "r"(p[1]), "r"(p[2]));
  for (int i = 0; i < 4; i++) ((float*)p)[i] = d[i];
  p[8] = e[0]; p[9] = e[1];
}
extern "C" __global__ void indexed_array(float* p, int n) {  // 40 floats that must live in memory
  float x[40];
  for (int i = 0; i < 40; i++) x[i] = p[i];
  __syncthreads();
  for (int i = 0; i < n; i++) x[(int)p[i + 100] % 40] += p[i];
  float s = 0;
  for (int i = 0; i < 40; i++) s += x[i] * x[(i * n) % 40];
  p[0] = s;
}
extern "C" __global__ void __launch_bounds__(1024, 1) spilling(float* p) {  // 160 live values in 64 registers
  float x[160];
#pragma unroll
  for (int i = 0; i < 160; i++) x[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int i = 0; i < 160; i++) { s = s * x[i] + x[159 - i]; p[i * 7777] = s; }
#pragma unroll
  for (int i = 0; i < 160; i++) s += s * x[(i * 37) % 160];
  p[threadIdx.x] = s;
}
extern "C" __global__ void static_smem(float* p) {
  __shared__ float x[300];
  x[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[0] = x[(threadIdx.x * 7) % 300];
}
extern "C" __global__ void dynamic_smem(float* p) {
  extern __shared__ float y[];
  y[threadIdx.x] = p[0];
  __syncthreads();
  p[0] = y[5];
}
)CUDA";

constexpr const char* kWgmmaKernels = R"CUDA(
typedef unsigned u32;
typedef unsigned long long u64;
#define FENCE asm volatile("wgmma.fence.sync.aligned;")
#define WAIT asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
#define WGMMA_F32(types)                                                                                            \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32." types " {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 1;"           \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b))
extern "C" __global__ void wgmma_four_f32(float* p, u64 a, u64 b) {
  float d[4] = {};
  u32 r[4] = {u32(a), u32(a) + 1, u32(a) + 2, u32(a) + 3};
  FENCE;
  WGMMA_F32("f16.f16"); WGMMA_F32("bf16.bf16"); WGMMA_F32("f16.f16");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));
  WAIT;
  for (int i = 0; i < 4; i++) p[threadIdx.x * 4 + i] = d[i];
}
extern "C" __global__ void wgmma_three_f16(u32* p, u64 a, u64 b) {
  u32 d[2] = {};
  u32 r[4] = {u32(a), u32(a) + 1, u32(a) + 2, u32(a) + 3};
  FENCE;
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, %2, %3, 1, 1, 1, 0, 0;"
               : "+r"(d[0]), "+r"(d[1]) : "l"(a), "l"(b));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, %2, %3, 1, -1, 1, 1, 0;"
               : "+r"(d[0]), "+r"(d[1]) : "l"(a), "l"(b));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, %6, 1, 1, -1, 0;"
               : "+r"(d[0]), "+r"(d[1]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));
  WAIT;
  p[threadIdx.x] = d[0] + d[1];
}
)CUDA";

const std::vector<uint8_t>& Cubin(const char* text, const std::string& entry, const std::string& architecture) {
  static std::map<std::pair<const char*, std::string>, std::vector<uint8_t>> made;
  std::vector<uint8_t>& cubin = made[{text, architecture}];
  if (cubin.empty()) {
    auto compiler = MakeNvrtcCompiler();
    EXPECT_TRUE(compiler.ok()) << compiler.status().message();
    if (!compiler.ok()) return cubin;
    const auto compilation = (*compiler)->Compile({text, entry}, architecture);
    EXPECT_TRUE(compilation.ok() && compilation->succeeded)
        << (compilation.ok() ? compilation->log : compilation.status().message());
    if (compilation.ok()) cubin = compilation->binary.cubin;
  }
  return cubin;
}

CodeFacts FactsOf(const char* text, const std::string& entry, const std::string& architecture) {
  const auto facts = ReadCodeFacts(Cubin(text, entry, architecture), entry);
  EXPECT_TRUE(facts.ok()) << entry << " " << architecture << ": " << facts.status().message();
  return facts.ok() ? *facts : CodeFacts{};
}

class FactsOnEveryArchitecture : public testing::TestWithParam<const char*> {
 protected:
  CodeFacts Of(const std::string& entry) { return FactsOf(kKernels, entry, GetParam()); }
};

TEST_P(FactsOnEveryArchitecture, MmaIsCountedByItsAccumulator) {
  const CodeFacts three = Of("three_f32");
  EXPECT_EQ(three.mma_f32, 3);
  EXPECT_EQ(three.mma_f16, 0);
  const CodeFacts mixed = Of("two_f16_one_f32");
  EXPECT_EQ(mixed.mma_f32, 1);
  EXPECT_EQ(mixed.mma_f16, 2);
  const CodeFacts short_k = Of("k8");
  EXPECT_EQ(short_k.mma_f32, 1);
  EXPECT_EQ(short_k.mma_f16, 1);
  EXPECT_EQ(three.wgmma_f32 + three.wgmma_f16, 0);
}

TEST_P(FactsOnEveryArchitecture, LocalMemoryShowsInBytesAndInstructions) {
  const CodeFacts indexed = Of("indexed_array");
  EXPECT_EQ(indexed.local_bytes, 160);
  EXPECT_GT(indexed.local_memory_instructions, 0);
  const CodeFacts spilling = Of("spilling");
  EXPECT_EQ(spilling.registers, 64);
  EXPECT_GT(spilling.local_bytes, 0);
  EXPECT_GT(spilling.local_memory_instructions, 0);
  const CodeFacts neither = Of("three_f32");
  EXPECT_EQ(neither.local_bytes, 0);
  EXPECT_EQ(neither.local_memory_instructions, 0);
}

TEST_P(FactsOnEveryArchitecture, StaticSharedMemoryIsTheKernelsOwn) {
  EXPECT_EQ(Of("static_smem").static_smem_bytes, 1200);
  EXPECT_EQ(Of("dynamic_smem").static_smem_bytes, 0);
  EXPECT_EQ(Of("three_f32").static_smem_bytes, 0);
}

TEST_P(FactsOnEveryArchitecture, RegistersAndSizesArePlausible) {
  const CodeFacts facts = Of("three_f32");
  EXPECT_GE(facts.registers, 10);
  EXPECT_LE(facts.registers, 40);
  EXPECT_GT(facts.instructions, 10);
  EXPECT_EQ(facts.code_bytes % 128, 0);
  EXPECT_LE(facts.instructions * 16, facts.code_bytes);
  EXPECT_GT(facts.instructions * 16, facts.code_bytes / 2);  // only the padding is left out
}

INSTANTIATE_TEST_SUITE_P(, FactsOnEveryArchitecture, testing::Values("sm_80", "sm_89", "sm_90a", "sm_120"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Facts, WgmmaIsCountedByItsAccumulatorWhereverAComesFrom) {
  const CodeFacts wide = FactsOf(kWgmmaKernels, "wgmma_four_f32", "sm_90a");
  EXPECT_EQ(wide.wgmma_f32, 4);
  EXPECT_EQ(wide.wgmma_f16, 0);
  const CodeFacts narrow = FactsOf(kWgmmaKernels, "wgmma_three_f16", "sm_90a");
  EXPECT_EQ(narrow.wgmma_f32, 0);
  EXPECT_EQ(narrow.wgmma_f16, 3);
  EXPECT_EQ(narrow.mma_f32 + narrow.mma_f16, 0);
}

TEST(Facts, WgmmaIntoNoRegisterIsNotCounted) {
  constexpr uint8_t kWgmmaFromSharedMemory[] = {0xf0, 0x79};
  std::vector<uint8_t> cubin = Cubin(kWgmmaKernels, "wgmma_three_f16", "sm_90a");
  const auto at =
      std::search(cubin.begin(), cubin.end(), std::begin(kWgmmaFromSharedMemory), std::end(kWgmmaFromSharedMemory));
  ASSERT_LT(at + 2, cubin.end());
  at[2] = 0xff;  // the destination becomes RZ
  const auto of_one = [&](const char* entry) { return ReadCodeFacts(cubin, entry).value(); };
  EXPECT_EQ(of_one("wgmma_three_f16").wgmma_f16 + of_one("wgmma_four_f32").wgmma_f32, 6);
}

// The facts that nvdisasm shows in one kernel's section of a listing.
CodeFacts FactsFromListing(const std::string& listing, const std::string& entry) {
  CodeFacts facts;
  bool inside = false;
  int padding = 0;
  std::istringstream lines(listing);
  const std::regex instruction(R"(^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Za-z0-9_.]+))");
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\t.section\t") != std::string::npos)
      inside = line.find("\t.text." + entry + ",") != std::string::npos;
    std::smatch found;
    if (!inside || !std::regex_search(line, found, instruction)) continue;
    const std::string name = found[1];
    ++facts.instructions;
    padding = name == "NOP" ? padding + 1 : 0;
    const bool f32 = name.find(".F32") != std::string::npos;
    if (name.starts_with("LDL") || name.starts_with("STL")) ++facts.local_memory_instructions;
    if (name.starts_with("HMMA.")) ++(f32 ? facts.mma_f32 : facts.mma_f16);
    if (name.starts_with("HGMMA.")) ++(f32 ? facts.wgmma_f32 : facts.wgmma_f16);
  }
  facts.instructions -= padding;
  return facts;
}

TEST(Facts, AgreeWithNvdisasm) {
  const auto nvdisasm = FindProgram("nvdisasm");
  if (!nvdisasm) GTEST_SKIP() << "nvdisasm is not installed; the counts are compared with known kernels only";
  auto folder = TemporaryFolder::Create("gemmsmith-facts");
  ASSERT_TRUE(folder.ok());
  const auto compare = [&](const char* text, const std::string& architecture, std::vector<std::string> entries) {
    const std::vector<uint8_t>& cubin = Cubin(text, entries[0], architecture);
    const auto path = folder->path() / (architecture + ".cubin");
    ASSERT_TRUE(WriteFileAtomic(path, {reinterpret_cast<const char*>(cubin.data()), cubin.size()}).ok());
    const auto listed = RunProcess({nvdisasm->string(), "-c", path.string()}, std::chrono::seconds(60));
    ASSERT_TRUE(listed.ok() && listed->exit_code == 0);
    for (const std::string& entry : entries) {
      const CodeFacts facts = FactsOf(text, entry, architecture);
      const CodeFacts expected = FactsFromListing(listed->output, entry);
      EXPECT_EQ(facts.instructions, expected.instructions) << entry << " " << architecture;
      EXPECT_EQ(facts.local_memory_instructions, expected.local_memory_instructions) << entry << " " << architecture;
      EXPECT_EQ(facts.mma_f32, expected.mma_f32) << entry << " " << architecture;
      EXPECT_EQ(facts.mma_f16, expected.mma_f16) << entry << " " << architecture;
      EXPECT_EQ(facts.wgmma_f32, expected.wgmma_f32) << entry << " " << architecture;
      EXPECT_EQ(facts.wgmma_f16, expected.wgmma_f16) << entry << " " << architecture;
    }
  };
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a", "sm_120"})
    compare(kKernels, architecture, {"three_f32", "two_f16_one_f32", "k8", "indexed_array", "spilling", "static_smem"});
  compare(kWgmmaKernels, "sm_90a", {"wgmma_four_f32", "wgmma_three_f16"});
}

TEST(Facts, UnknownEntryIsNotFound) {
  const auto facts = ReadCodeFacts(Cubin(kKernels, "three_f32", "sm_90a"), "four_f32");
  EXPECT_EQ(facts.status().code(), StatusCode::kNotFound);
  EXPECT_NE(facts.status().message().find("four_f32"), std::string::npos);
}

TEST(Facts, OtherBytesAreDataLoss) {
  EXPECT_EQ(ReadCodeFacts({}, "x").status().code(), StatusCode::kDataLoss);
  const std::string text(4096, 'x');
  EXPECT_EQ(ReadCodeFacts({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "x").status().code(),
            StatusCode::kDataLoss);
  std::ifstream self("/proc/self/exe", std::ios::binary);  // a good ELF file for another machine
  const std::vector<uint8_t> program{std::istreambuf_iterator<char>(self), {}};
  EXPECT_EQ(ReadCodeFacts(program, "main").status().code(), StatusCode::kDataLoss);
}

TEST(Facts, TruncationAtEveryByteIsNoticed) {
  const std::vector<uint8_t> cubin = Cubin(kWgmmaKernels, "wgmma_four_f32", "sm_90a");
  // The section headers stand at the end, before the program headers that nobody here reads.
  for (size_t size = 0; size + 1024 < cubin.size(); ++size) {
    const std::vector<uint8_t> cut(cubin.begin(), cubin.begin() + ptrdiff_t(size));  // so that a sanitizer sees its end
    EXPECT_FALSE(ReadCodeFacts(cut, "wgmma_four_f32").ok()) << size;
  }
}

TEST(Facts, NoDamagedByteCrashesTheReader) {
  std::vector<uint8_t> cubin = Cubin(kWgmmaKernels, "wgmma_four_f32", "sm_90a");
  int refused = 0;
  for (uint8_t& byte : cubin) {
    const uint8_t before = byte;
    for (const uint8_t value : {0x00, 0x7f, 0xff}) {
      byte = value;
      refused += !ReadCodeFacts(cubin, "wgmma_four_f32").ok();
    }
    byte = before;
  }
  EXPECT_GT(refused, 100);
  EXPECT_TRUE(ReadCodeFacts(cubin, "wgmma_four_f32").ok());
}

}  // namespace
}  // namespace gemmsmith
