// Every honest case without a GPU: it builds, its machine code passes, and it records.
#include <gtest/gtest.h>

#include "base/text.h"
#include "compile/recording.h"
#include "compile/screening.h"
#include "compile/some_kernels.h"
#include "compile/source_program.h"
#include "program/free_form.h"
#include "workflow/self_test_cases.h"

namespace gemmsmith {
namespace {

std::vector<Case> ReadHonestCases() { return *ReadCases(GEMMSMITH_SOURCE_DIR "/tests/honest_kernels"); }

// Two shapes a process, as the judge records.
std::vector<LaunchRecord> RecordInPairs(const SourceProgram& program, std::span<const Shape> shapes, uint64_t seed) {
  std::vector<LaunchRecord> records;
  for (size_t i = 0; i < shapes.size(); i += 2) {
    Result<std::vector<LaunchRecord>> pair = RecordLaunches(program, *FindDevice("h200"), shapes.subspan(i, 2), seed);
    EXPECT_TRUE(pair.ok()) << pair.status().message();
    if (pair.ok()) std::move(pair->begin(), pair->end(), std::back_inserter(records));
  }
  return records;
}

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
  const Shape shapes[] = {{m, n, k}, {2 * m, n, k}, {m, 2 * n, k}, {m, n, 2 * k}};
  const std::vector<LaunchRecord> first = RecordInPairs(*built->program, shapes, 1),
                                  second = RecordInPairs(*built->program, shapes, 2);
  ASSERT_EQ(first.size(), std::size(shapes));
  ASSERT_EQ(second.size(), std::size(shapes));
  int recorded = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    recorded += first[i].recipe.has_value();
    EXPECT_TRUE(first[i].recipe || first[i].end == RecordEnd::kReturnedError) << first[i].reason;
    EXPECT_EQ(first[i].recipe, second[i].recipe) << "of other addresses";
  }
  EXPECT_TRUE(first[0].recipe) << first[0].reason;
  const bool is_fixed = tested.name == "emitted_direct_fixed_bf16" || tested.name == "refuses_other_shapes";
  EXPECT_GE(recorded, is_fixed ? 1 : 3);
}

INSTANTIATE_TEST_SUITE_P(, HonestCases, testing::ValuesIn(OneOf(OneKernelOf(3), ReadHonestCases())),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace gemmsmith
