#include "corpus/shown_kernels.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

TEST(ShownKernels, StandBehindThePromptWithTheirVerdictsAndTimes) {
  const ShownKernel kernels[] = {{.text = "void a();\n", .kind = OutcomeKind::kMeasured, .time_ns = 3416},
                                 {.text = "void b();", .kind = OutcomeKind::kCompileFailed, .time_ns = std::nullopt}};
  EXPECT_EQ(PromptShowing("// m 64\n", kernels),
            "// m 64\n"
            "// kernel 1: right, 3.42 us\n"
            "void a();\n"
            "// kernel 2: compile failed\n"
            "void b();\n");
}

TEST(ShownKernels, AKernelThatNoOneJudgedHasNoTime) {
  const ShownKernel kernels[] = {{.text = "x\n", .kind = std::nullopt, .time_ns = std::nullopt}};
  EXPECT_EQ(PromptShowing("", kernels), "// kernel 1: not judged\nx\n");
  EXPECT_EQ(PromptShowing("p\n", {}), "p\n");
}

}  // namespace
}  // namespace gemmsmith
