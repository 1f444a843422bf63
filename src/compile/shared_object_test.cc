#include "compile/shared_object.h"

#include <gtest/gtest.h>

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

class SharedObjectTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeObjectCompiler();
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    compiler_ = *std::move(made);
  }
  ObjectCompilation Compile(const std::string& text) {
    auto compilation = compiler_->Compile(text, "sm_90a");
    EXPECT_TRUE(compilation.ok()) << compilation.status().message();
    return compilation.ok() ? *std::move(compilation) : ObjectCompilation{};
  }
  void ExpectError(const std::string& text, std::string_view words) {
    const ObjectCompilation compilation = Compile(text);
    EXPECT_FALSE(compilation.object);
    EXPECT_NE(compilation.log.find(words), std::string::npos) << compilation.log;
  }
  std::unique_ptr<ObjectCompiler> compiler_;
};

TEST_F(SharedObjectTest, OurStandaloneFilesPassWithTheFactsOfTheirKernels) {
  const Gemm gemm{{256, 512, 4096}, {kTn}};
  const std::unique_ptr<Compiler> nvcc = *MakeNvccCompiler();
  for (const FamilyId family : {FamilyId::kDirect, FamilyId::kWgmma}) {
    const Plan plan = DefaultPlan(family);
    const ObjectCompilation compilation = Compile(EmitStandalone(plan, gemm));
    ASSERT_TRUE(compilation.object) << compilation.log;
    const SharedObject& object = *compilation.object;
    EXPECT_EQ(ScreenSharedObject(object.bytes), std::vector<std::string>{});
    EXPECT_EQ(*ReadDescriptor(object.bytes), "gemm tn f16 f32");
    EXPECT_EQ(object.kernels, std::vector<std::string>{"gemmsmith_gemm"});
    const CodeFacts thin = nvcc->Compile(Emit(plan, gemm), "sm_90a")->binary.facts;
    EXPECT_EQ(object.facts.mma_f32, thin.mma_f32);
    EXPECT_EQ(object.facts.wgmma_f32, thin.wgmma_f32);
    EXPECT_EQ(object.facts.registers, thin.registers);
    EXPECT_GT(object.facts.mma_f32 + object.facts.wgmma_f32, 0);
  }
}

TEST_F(SharedObjectTest, SumsUpSeveralKernelsAndTheirGlobals) {
  const ObjectCompilation compilation =
      Compile(kHead +
              "__device__ int counters[256];\n"
              "__global__ void first(float* p) { __shared__ float s[100]; s[threadIdx.x] = p[1]; __syncthreads();\n"
              "  p[0] = s[threadIdx.x ^ 1]; atomicAdd(&counters[3], 1); }\n"
              "template <class T> __global__ void second(T* p) { p[0] *= 2; }\n" +
              kSignature +
              "{ first<<<1, 32, 0, stream>>>((float*)c); second<<<1, 1, 0, stream>>>((float*)c);\n"
              "  return cudaGetLastError(); }\n");
  ASSERT_TRUE(compilation.object) << compilation.log;
  EXPECT_EQ(compilation.object->kernels, (std::vector<std::string>{"_Z5firstPf", "_Z6secondIfEvPT_"}));
  EXPECT_EQ(compilation.object->facts.static_smem_bytes, 400);
  EXPECT_EQ(compilation.object->global_bytes, 1024u);
  EXPECT_EQ(ScreenSharedObject(compilation.object->bytes), std::vector<std::string>{});
}

TEST_F(SharedObjectTest, ASignatureOfItsOwnDoesNotCompile) {
  ExpectError(kHead + "extern \"C\" cudaError_t gemm(void* c) { return cudaSuccess; }\n", "gemm");
  ExpectError(kHead +
                  "extern \"C\" int gemm(const void*, const void*, void*, int, int, int, void*, size_t, "
                  "cudaStream_t) { return 0; }\n",
              "gemm");
}

TEST_F(SharedObjectTest, GetsTheLinkageOfTheContract) {
  const ObjectCompilation compilation = Compile(
      "const char gemmsmith_descriptor_v1[] = \"gemm tn f16 f32\";\n__global__ void one() {}\n" +
      kSignature.substr(kSignature.find("cudaError_t")) + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n");
  ASSERT_TRUE(compilation.object) << compilation.log;
  EXPECT_TRUE(ReadDescriptor(compilation.object->bytes).ok());
}

TEST_F(SharedObjectTest, ReadsNoFileOfOurs) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-object-test");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "secret.h", "int secret = 1;\n").ok());
  ExpectError("#include \"" + (folder.path() / "secret.h").string() + "\"\n", "secret.h");
  ExpectError("#include \"/etc/passwd\"\n", "/etc/passwd");
}

TEST_F(SharedObjectTest, ErrorsNameTheLineAndNoFolder) {
  ExpectError("\n\nint x = unknown_name;\n", "kernel.cu(3)");
  EXPECT_EQ(Compile("int x = unknown_name;\n").log, Compile("int x = unknown_name;\n").log);
}

TEST_F(SharedObjectTest, LogsAreBounded) {
  const ObjectCompilation compilation =
      Compile("#pragma GCC warning \"long\"\n#define A #error\nint x[-1\n" + std::string(200000, '('));
  EXPECT_FALSE(compilation.object);
  EXPECT_LE(compilation.log.size(), 65u << 10);
}

TEST_F(SharedObjectTest, WhatASourceSaysOfTheMachineIsNotBelieved) {
  const std::string kernel =
      "__global__ void one() {}\n" + kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n";
  EXPECT_TRUE(Compile(kHead + "#warning \"No space left on device\"\n" + kernel).object);
  ExpectError("#error \"No space left on device\"\n", "No space left on device");
  ExpectError("#line 1 \"bwrap: x\"\n#error nothing\n", "bwrap: x");
}

TEST_F(SharedObjectTest, ObjectsAreNoLargerThanJudgesTake) {
  ExpectError(kHead + "extern \"C\" const unsigned char ballast[80u << 20] = {1};\n__global__ void one() {}\n" +
                  kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n",
              "error");
}

TEST_F(SharedObjectTest, MachineCodeThatCannotBeReadIsRefusedByTheScreen) {
  const ObjectCompilation compilation =
      Compile(kHead +
              "asm(\".section .nv_fatbin,\\\"a\\\"\\n.long 0xba55ed50, 0x00100001, 8, 0, 1, 2\\n.text\");\n"
              "__global__ void one() {}\n" +
              kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n");
  ASSERT_TRUE(compilation.object) << compilation.log;
  const std::string reasons = Join(ScreenSharedObject(compilation.object->bytes), "; ");
  EXPECT_NE(reasons.find("cannot be read"), std::string::npos) << reasons;
}

TEST_F(SharedObjectTest, MemoryThatIsKeptIsRefusedByTheScreen) {
  const ObjectCompilation compilation =
      Compile(kHead + "__device__ float results[1 << 20];\n__global__ void one() { results[threadIdx.x] += 1; }\n" +
              kSignature + "{ one<<<1, 1, 0, stream>>>(); return cudaSuccess; }\n");
  ASSERT_TRUE(compilation.object) << compilation.log;
  const std::string reasons = Join(ScreenSharedObject(compilation.object->bytes), "; ");
  EXPECT_NE(reasons.find("keeps 4194304 bytes of device memory"), std::string::npos) << reasons;
}

TEST_F(SharedObjectTest, TheHeapOfTheDeviceIsRefusedByTheScreenAndItsWordsAreNot) {
  const auto reasons_for = [&](const std::string& body) {
    const ObjectCompilation compilation =
        Compile(kHead + "#include <cstdio>\n__device__ int* kept;\n__global__ void one(int i) { " + body + " }\n" +
                kSignature + "{ one<<<1, 1, 0, stream>>>(m); return cudaSuccess; }\n");
    EXPECT_TRUE(compilation.object) << compilation.log;
    return compilation.object ? ScreenSharedObject(compilation.object->bytes) : std::vector<std::string>();
  };
  EXPECT_EQ(reasons_for("if (i < 0) { printf(\"%d\", i); __trap(); }"), std::vector<std::string>{});
  EXPECT_EQ(reasons_for("if (!kept) kept = (int*)malloc(1 << 20); kept[i] = i;"),
            std::vector<std::string>{"calls malloc on the device, whose heap outlives the call"});
  EXPECT_EQ(reasons_for("if (!kept) kept = new int[99]; kept[i] = i; if (i == 7) delete[] kept;").size(), 2u);
}

TEST_F(SharedObjectTest, CuteBuildsAndPassesWhereCutlassIs) {
  if (CutlassIncludes().empty()) GTEST_SKIP() << "no CUTLASS: install nvidia-cutlass or set GEMMSMITH_CUTLASS";
  EXPECT_NE(compiler_->Identity().find(" cutlass "), std::string::npos);
  const ObjectCompilation compilation =
      Compile("#include <cute/tensor.hpp>\n#include <cutlass/numeric_types.h>\n" + kHead +
              "__global__ void one(cutlass::half_t* p) {\n"
              "  auto t = cute::make_tensor(cute::make_gmem_ptr(p), cute::make_layout(cute::Int<8>{})); t(threadIdx.x) "
              "+= t(1); }\n" +
              kSignature + "{ one<<<1, 1, 0, stream>>>((cutlass::half_t*)c); return cudaGetLastError(); }\n");
  ASSERT_TRUE(compilation.object) << compilation.log;
  EXPECT_EQ(ScreenSharedObject(compilation.object->bytes), std::vector<std::string>{});
}

class FakeObjectCompiler : public ObjectCompiler {
 public:
  FakeObjectCompiler(int& calls, bool good) : calls_(calls), good_(good) {}
  Result<ObjectCompilation> Compile(const std::string&, std::string_view) override {
    ++calls_;
    ObjectCompilation compilation{.log = "words", .seconds = 1};
    if (good_) compilation.object = SharedObject{.bytes = {1, 2, 3}};
    return compilation;
  }
  std::string Identity() const override { return "fake"; }

 private:
  int& calls_;
  bool good_;
};

TEST(CachedObjectCompiler, BuildsATextOnceAndTriesAFailureAgain) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-object-test");
  int calls = 0;
  const auto good = MakeCachedObjectCompiler(std::make_unique<FakeObjectCompiler>(calls, true), folder.path());
  EXPECT_FALSE(good->Compile("a", "sm_90a")->from_cache);
  const ObjectCompilation again = *good->Compile("a", "sm_90a");
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.log, "words");
  EXPECT_EQ(again.object->bytes, (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(calls, 1);
  const auto bad = MakeCachedObjectCompiler(std::make_unique<FakeObjectCompiler>(calls, false), folder.path());
  EXPECT_FALSE(bad->Compile("b", "sm_90a")->object);
  EXPECT_FALSE(bad->Compile("b", "sm_90a")->object);
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
