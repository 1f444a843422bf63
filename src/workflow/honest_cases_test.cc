// Every honest case without a GPU: it builds, its machine code passes, and it records.
#include <gtest/gtest.h>

#include "base/text.h"
#include "compile/recording.h"
#include "compile/screening.h"
#include "compile/source_program.h"
#include "program/free_form.h"
#include "workflow/self_test_cases.h"

namespace gemmsmith {
namespace {

std::vector<Case> ReadHonestCases() { return *ReadCases(GEMMSMITH_SOURCE_DIR "/tests/honest_kernels"); }

class HonestCases : public testing::TestWithParam<Case> {};

TEST_P(HonestCases, BuildPassAndRecord) {
  const Case& tested = GetParam();
  Result<std::unique_ptr<SourceCompiler>> compiler = MakeSourceCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  if (tested.needs_cutlass && CutlassIncludes().empty()) GTEST_SKIP() << "no CUTLASS";
  const Result<SourceCompilation> built = (*compiler)->Compile(tested.text, "sm_90a");
  ASSERT_TRUE(built.ok()) << built.status().message();
  ASSERT_TRUE(built->program) << built->log;
  EXPECT_EQ(WhyNotFor(tested.gemm.kind, *ReadDescriptor(built->program->bytes)), "");
  for (const auto& cubin : built->program->cubins) EXPECT_EQ(Join(ScreenMachineCode(cubin), "; "), "");

  const auto [m, n, k] = tested.gemm.shape;
  const std::array shapes = {Shape{m, n, k}, Shape{2 * m, n, k}, Shape{m, 2 * n, k}, Shape{m, n, 2 * k}};
  const Device device = *FindDevice("h200");
  const auto first = RecordLaunches(*built->program, device, shapes, 1);
  const auto second = RecordLaunches(*built->program, device, shapes, 2);
  ASSERT_TRUE(first.ok() && second.ok());
  int recorded = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const LaunchRecord& record = first->at(i);
    recorded += record.recipe.has_value();
    EXPECT_TRUE(record.recipe || record.end == RecordEnd::kReturnedError) << record.reason;
    EXPECT_EQ(record.recipe, second->at(i).recipe) << "of other addresses";
  }
  EXPECT_TRUE(first->at(0).recipe) << first->at(0).reason;
  const bool is_fixed = tested.name == "emitted_direct_fixed_bf16" || tested.name == "refuses_other_shapes";
  EXPECT_GE(recorded, is_fixed ? 1 : 3);
}

INSTANTIATE_TEST_SUITE_P(All, HonestCases, testing::ValuesIn(ReadHonestCases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace gemmsmith
