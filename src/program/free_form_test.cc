#include "program/free_form.h"

#include <gtest/gtest.h>

#include "problem/gemm.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kGood = R"(#include <cuda_runtime.h>
__global__ void kernel(int* p) { *p = 1'000; }
extern "C" const char gemmsmith_descriptor_v1[] = "gemm tn f16 f32";
extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
  kernel<<<1, 1, 0, stream>>>((int*)c);
  return cudaGetLastError();
}
)";

void ExpectRefused(const std::string& text, std::string_view words) {
  const std::string reason = WhyNotFreeForm(text);
  EXPECT_NE(reason.find(words), std::string::npos) << "'" << reason << "' for " << text.substr(0, 100);
}

TEST(WhyNotFreeForm, TakesCudaSourcesAndOurOwn) {
  EXPECT_EQ(WhyNotFreeForm(kGood), "");
  const Gemm gemm{{256, 512, 4096}, {kTn}};
  EXPECT_EQ(WhyNotFreeForm(EmitStandalone(DefaultPlan(FamilyId::kDirect), gemm)), "");
  EXPECT_EQ(WhyNotFreeForm(EmitStandalone(DefaultPlan(FamilyId::kWgmma), gemm)), "");
}

TEST(WhyNotFreeForm, NamesThePythonLanguage) {
  ExpectRefused("import torch\nimport triton\n\n@triton.jit\ndef gemm(a):\n  pass\n",
                "Python source (it imports torch)");
  ExpectRefused("import triton.language as tl\n", "it imports triton");
  ExpectRefused("from tilelang import language as T\n", "it imports tilelang");
  ExpectRefused("import cutlass.cute as cute\n", "it imports cutlass");
  ExpectRefused("from jax.experimental import pallas as pl\n", "it imports jax");
  ExpectRefused("from numba import cuda\n", "it imports numba");
  ExpectRefused("@cute.jit\ndef f(x):\n", "it has @cute.jit");
}

TEST(WhyNotFreeForm, PythonInACommentIsNoPython) {
  EXPECT_EQ(WhyNotFreeForm("/* from triton:\nimport triton\n@triton.jit\n*/ // import torch\n" + std::string(kGood)),
            "");
}

TEST(WhyNotFreeForm, SaysWhatIsMissing) {
  ExpectRefused("hello, here is a kernel", "not a CUDA source");
  ExpectRefused("#include <cuda_runtime.h>\n// gemm\nint f() { return 1; }\n", "no function gemm");
  ExpectRefused("#include <x>\nint gemm() { return 1; } // gemmsmith_descriptor_v1\n", "no descriptor");
}

TEST(WhyNotFreeForm, RefusesWhatIsTooLongOrNoText) {
  ExpectRefused(std::string(kGood) + std::string(kMaxFreeFormBytes, ' '), "bytes of text");
  ExpectRefused(std::string(kGood) + std::string(1, '\0'), "zero byte");
}

TEST(WhyNotFreeForm, UnendedCommentsAndStringsAreHarmless) {
  for (const char* end : {"/*", "//", "\"", "'", "\"\\", "/", "/* *"})
    EXPECT_EQ(WhyNotFreeForm(std::string(kGood) + end), "");
}

TEST(WhyNotFor, SaysWhichPartDiffers) {
  const GemmKind kind{.layout = kTn};
  EXPECT_EQ(PrintDescriptor(kind), "gemm tn f16 f32");
  EXPECT_EQ(WhyNotFor(kind, "gemm tn f16 f32"), "");
  EXPECT_NE(WhyNotFor(kind, "gemm nn f16 f32").find("the layout is nn"), std::string::npos);
  EXPECT_NE(WhyNotFor(kind, "gemm tn bf16 f32").find("the type is bf16"), std::string::npos);
  EXPECT_NE(WhyNotFor(kind, "gemm tn f16 f16").find("the accumulation is f16"), std::string::npos);
  EXPECT_NE(WhyNotFor(kind, "conv tn f16 f32").find("is not of the form"), std::string::npos);
  EXPECT_NE(WhyNotFor(kind, "").find("is not of the form"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
