#include "compile/source_program.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "compile/compiler.h"
#include "compile/screening.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

const std::string kHead = "extern \"C\" const char gemmsmith_descriptor_v1[] = \"gemm tn f16 f32\";\n";
const std::string kSignature =
    "extern \"C\" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,\n"
    "                            size_t workspace_bytes, cudaStream_t stream)";

class SourceProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeSourceCompiler();
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    compiler_ = *std::move(made);
  }
  SourceCompilation Compile(const std::string& text) {
    auto compilation = compiler_->Compile(text, "sm_90a");
    EXPECT_TRUE(compilation.ok()) << compilation.status().message();
    return compilation.ok() ? *std::move(compilation) : SourceCompilation{};
  }
  void ExpectError(const std::string& text, std::string_view words) {
    const SourceCompilation compilation = Compile(text);
    EXPECT_FALSE(compilation.program);
    EXPECT_NE(compilation.log.find(words), std::string::npos) << compilation.log;
  }
  std::unique_ptr<SourceCompiler> compiler_;
};

TEST_F(SourceProgramTest, OurStandaloneFilesHaveTheFactsOfTheirKernels) {
  const Gemm gemm{{256, 512, 4096}, {kTn}};
  const std::unique_ptr<Compiler> nvcc = *MakeNvccCompiler();
  for (const FamilyId family : {FamilyId::kDirect, FamilyId::kWgmma}) {
    const Plan plan = DefaultPlan(family);
    const SourceCompilation compilation = Compile(EmitStandalone(plan, gemm));
    ASSERT_TRUE(compilation.program) << compilation.log;
    const SourceProgram& program = *compilation.program;
    EXPECT_EQ(*ReadDescriptor(program.bytes), "gemm tn f16 f32");
    ASSERT_EQ(program.kernels.size(), 1u);
    EXPECT_EQ(program.kernels[0].name, "gemmsmith_gemm");
    const CodeFacts thin = nvcc->Compile(Emit(plan, gemm), "sm_90a")->binary.facts;
    EXPECT_EQ(program.facts.mma_f32, thin.mma_f32);
    EXPECT_EQ(program.facts.wgmma_f32, thin.wgmma_f32);
    EXPECT_EQ(program.facts.registers, thin.registers);
    EXPECT_GT(program.facts.mma_f32 + program.facts.wgmma_f32, 0);
  }
}

TEST_F(SourceProgramTest, KnowsTheInterfacesOfItsKernelsAndSumsUpTheirFacts) {
  const SourceCompilation compilation = Compile(
      kHead +
      "struct Padded { char first; void* pointer; int last; };\n"
      "struct alignas(64) Map { char bytes[128]; };\nstruct Large { char bytes[8000]; };\n"
      "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256)\n"
      "first(float* p) { __shared__ float s[100]; s[threadIdx.x] = p[1]; __syncthreads(); p[0] = s[threadIdx.x ^ 1]; "
      "}\n"
      "__global__ void second(Padded p, char n, const __grid_constant__ Map map) { *(int*)p.pointer = map.bytes[n]; }\n"
      "template <class T> __global__ void third(const __grid_constant__ Large large, T* p) { p[0] = large.bytes[7]; "
      "}\n" +
      kSignature +
      "{ first<<<2, 32, 0, stream>>>((float*)c); second<<<1, 1, 0, stream>>>({}, 1, {});\n"
      "  third<<<1, 1, 0, stream>>>({}, (float*)c); return cudaGetLastError(); }\n");
  ASSERT_TRUE(compilation.program) << compilation.log;
  const SourceProgram& program = *compilation.program;
  ASSERT_EQ(program.kernels.size(), 3u);
  EXPECT_EQ(program.facts.static_smem_bytes, 400);
  EXPECT_EQ(program.kernels[0].name, "_Z5firstPf");
  EXPECT_EQ(program.kernels[0].interface, (KernelInterface{{{0, 8}}, 8, 256, {2, 1, 1}}));
  EXPECT_EQ(program.kernels[1].interface, (KernelInterface{{{0, 8000}, {8000, 8}}, 8008, 0, {0, 0, 0}}));
  // ptxas aligns a parameter with the bank that it stands in, which has 0x210 bytes of its own in front.
  EXPECT_EQ(program.kernels[2].interface, (KernelInterface{{{0, 24}, {24, 1}, {48, 128}}, 176, 0, {0, 0, 0}}));
}

TEST_F(SourceProgramTest, ErrorsNameTheFunctionsThatTheContractLacks) {
  const std::string kernel = "__global__ void one() {}\n" + kSignature;
  ExpectError(kHead + kernel +
                  "{ void* p; cudaMallocAsync(&p, 4, stream); one<<<1, 1, 0, stream>>>(); return "
                  "cudaStreamSynchronize(stream); }\n",
              "error: the contract has no cudaMallocAsync (docs/free_form.md)\n"
              "error: the contract has no cudaStreamSynchronize (docs/free_form.md)\n");
  ExpectError(kHead + "extern \"C\" __device__ int missing();\n__global__ void two(int* p) { *p = missing(); }\n" +
                  kSignature + "{ two<<<1, 1, 0, stream>>>((int*)c); return cudaSuccess; }\n",
              "error: the contract has no missing (docs/free_form.md)");
  ExpectError(kHead, "error: nothing defines gemm (docs/free_form.md)");
}

TEST_F(SourceProgramTest, ASignatureOfItsOwnDoesNotCompile) {
  ExpectError(kHead + "extern \"C\" cudaError_t gemm(void* c) { return cudaSuccess; }\n", "gemm");
  ExpectError(kHead +
                  "extern \"C\" int gemm(const void*, const void*, void*, int, int, int, void*, size_t, "
                  "cudaStream_t) { return 0; }\n",
              "gemm");
}

TEST_F(SourceProgramTest, GetsTheLinkageOfTheContract) {
  const SourceCompilation compilation = Compile(
      "const char gemmsmith_descriptor_v1[] = \"gemm tn f16 f32\";\n__global__ void one() {}\n" +
      kSignature.substr(kSignature.find("cudaError_t")) + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n");
  ASSERT_TRUE(compilation.program) << compilation.log;
  EXPECT_TRUE(ReadDescriptor(compilation.program->bytes).ok());
}

TEST_F(SourceProgramTest, ReadsNoFileOfOurs) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-source-test");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "secret.h", "int secret = 1;\n").ok());
  ExpectError("#include \"" + (folder.path() / "secret.h").string() + "\"\n", "secret.h");
  ExpectError("#include \"/etc/passwd\"\n", "/etc/passwd");
}

TEST_F(SourceProgramTest, ErrorsNameTheLineAndNoFolder) {
  ExpectError("\n\nint x = unknown_name;\n", "kernel.cu(3)");
  EXPECT_EQ(Compile("int x = unknown_name;\n").log, Compile("int x = unknown_name;\n").log);
}

TEST_F(SourceProgramTest, LogsAreBounded) {
  const SourceCompilation compilation =
      Compile("#pragma GCC warning \"long\"\n#define A #error\nint x[-1\n" + std::string(200000, '('));
  EXPECT_FALSE(compilation.program);
  EXPECT_LE(compilation.log.size(), 65u << 10);
}

TEST_F(SourceProgramTest, WhatASourceSaysOfTheMachineIsNotBelieved) {
  const std::string kernel =
      "__global__ void one() {}\n" + kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n";
  EXPECT_TRUE(Compile(kHead + "#warning \"No space left on device\"\n" + kernel).program);
  ExpectError("#error \"No space left on device\"\n", "No space left on device");
  ExpectError("#line 1 \"bwrap: x\"\n#error nothing\n", "bwrap: x");
}

TEST_F(SourceProgramTest, ProgramsAreBounded) {
  ExpectError(kHead + "extern \"C\" const unsigned char ballast[80u << 20] = {1};\n__global__ void one() {}\n" +
                  kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n",
              "error: the program has more than 64 MiB");
}

TEST_F(SourceProgramTest, FilesOfABuildMayBeGreaterThanItsProgram) {
  // 82 MB of declarations once the macros are expanded.
  std::string text = "#define A extern int " + std::string(4000, 'a') + ";\n";
  for (const char* macro : {"B A", "C B", "D C", "E D"}) {
    text += fmt::format("#define {}", macro);
    for (int i = 1; i < 8; ++i) text += fmt::format(" {}", macro[2]);
    text += "\n";
  }
  const SourceCompilation compilation = Compile(kHead + text + "E E E E E\n__global__ void one() {}\n" + kSignature +
                                                "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n");
  EXPECT_TRUE(compilation.program) << compilation.log;
}

TEST_F(SourceProgramTest, MachineCodeThatCannotBeReadDoesNotCompile) {
  ExpectError(kHead +
                  "asm(\".section .nv_fatbin,\\\"a\\\"\\n.long 0xba55ed50, 0x00100001, 8, 0, 1, 2\\n.text\");\n"
                  "__global__ void one() {}\n" +
                  kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n",
              "error: ");
}

TEST_F(SourceProgramTest, CuteBuildsAndPassesWhereCutlassIs) {
  if (CutlassIncludes().empty()) GTEST_SKIP() << "no CUTLASS: install nvidia-cutlass or set GEMMSMITH_CUTLASS";
  EXPECT_NE(compiler_->Identity().find(" cutlass "), std::string::npos);
  const SourceCompilation compilation =
      Compile("#include <cute/tensor.hpp>\n#include <cutlass/numeric_types.h>\n" + kHead +
              "__global__ void one(cutlass::half_t* p) {\n"
              "  auto t = cute::make_tensor(cute::make_gmem_ptr(p), cute::make_layout(cute::Int<8>{})); t(threadIdx.x) "
              "+= t(1); }\n" +
              kSignature + "{ one<<<1, 1, 0, stream>>>((cutlass::half_t*)c); return cudaGetLastError(); }\n");
  ASSERT_TRUE(compilation.program) << compilation.log;
  EXPECT_EQ(ScreenMachineCode(compilation.program->cubins.at(0)), std::vector<std::string>{});
}

// An ELF file with the two sections that every one has.
const std::vector<uint8_t> kEmptyElf = [] {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header, header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = 2, header.e_shstrndx = 1;
  Elf64_Shdr sections[2] = {};
  sections[1].sh_type = SHT_STRTAB, sections[1].sh_offset = EI_PAD, sections[1].sh_size = 1;
  std::vector<uint8_t> bytes(sizeof header + sizeof sections);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, sections, sizeof sections);
  return bytes;
}();

class FakeSourceCompiler : public SourceCompiler {
 public:
  FakeSourceCompiler(int& calls, bool good) : calls_(calls), good_(good) {}
  Result<SourceCompilation> Compile(const std::string&, std::string_view) override {
    ++calls_;
    SourceCompilation compilation{.log = "words", .seconds = 1};
    if (good_) compilation.program = SourceProgram{.bytes = kEmptyElf};
    return compilation;
  }
  std::string Identity() const override { return "fake"; }

 private:
  int& calls_;
  bool good_;
};

TEST(CachedSourceCompiler, BuildsATextOnceAndTriesAFailureAgain) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-source-test");
  int calls = 0;
  const auto good = MakeCachedSourceCompiler(std::make_unique<FakeSourceCompiler>(calls, true), folder.path());
  EXPECT_FALSE(good->Compile("a", "sm_90a")->from_cache);
  const SourceCompilation again = *good->Compile("a", "sm_90a");
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.log, "words");
  EXPECT_EQ(again.program->bytes, kEmptyElf);
  EXPECT_EQ(calls, 1);
  const auto bad = MakeCachedSourceCompiler(std::make_unique<FakeSourceCompiler>(calls, false), folder.path());
  EXPECT_FALSE(bad->Compile("b", "sm_90a")->program);
  EXPECT_FALSE(bad->Compile("b", "sm_90a")->program);
  EXPECT_EQ(calls, 3);
}

TEST(CutlassIncludes, AreWhereTheVariableSays) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-cutlass-test");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "include/cutlass/cutlass.h", "").ok());
  ::setenv("GEMMSMITH_CUTLASS", folder.path().c_str(), 1);
  EXPECT_EQ(CutlassIncludes(), std::vector<std::filesystem::path>{folder.path() / "include"});
  ::setenv("GEMMSMITH_CUTLASS", (folder.path() / "include").c_str(), 1);
  EXPECT_EQ(CutlassIncludes(), std::vector<std::filesystem::path>{folder.path() / "include"});
  ::setenv("GEMMSMITH_CUTLASS", "/nowhere", 1);
  EXPECT_TRUE(CutlassIncludes().empty());
  ::unsetenv("GEMMSMITH_CUTLASS");
}

}  // namespace
}  // namespace gemmsmith
