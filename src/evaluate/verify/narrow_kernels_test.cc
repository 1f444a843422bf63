#include "evaluate/verify/narrow_test_kernels.h"

#include <gtest/gtest.h>

#include "compile/compiler.h"
#include "problem/device_model.h"

namespace gemmsmith {
namespace {

// That they accumulate as they say shows in their machine code; that the judge finds it without, on a GPU.
TEST(NarrowKernels, CompileToTheInstructionsThatTheyStandFor) {
  const Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const auto facts_of = [&](const Source& source) {
    const Result<Compilation> compilation = (*compiler)->Compile(source, FindDevice("h200")->Architecture());
    EXPECT_TRUE(compilation.ok() && compilation->succeeded) << (compilation.ok() ? compilation->log : "");
    return compilation.ok() ? compilation->binary.facts : CodeFacts{};
  };
  EXPECT_GT(facts_of(MmaKernel(false)).mma_f16, 0);
  EXPECT_GT(facts_of(MmaKernel(true)).mma_f32, 0);
  EXPECT_GT(facts_of(WgmmaKernel(false)).wgmma_f16, 0);
  EXPECT_GT(facts_of(WgmmaKernel(true)).wgmma_f32, 0);
  for (const PlainSum sum : {PlainSum::kNarrow, PlainSum::kNarrowBlocks, PlainSum::kWide})
    EXPECT_GT(facts_of(PlainKernel(sum)).instructions, 0);
  for (const Source& source : {FlippingKernel(), CuriousKernel()}) EXPECT_GT(facts_of(source).instructions, 0);
}

}  // namespace
}  // namespace gemmsmith
