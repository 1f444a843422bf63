#include "harness/harness_kernels.h"

#include <gtest/gtest.h>

#include <bit>

#include "compile/facts.h"
#include "harness/harness_text.h"

namespace gemmsmith {
namespace {

class HarnessTextOn : public testing::TestWithParam<std::string> {};

TEST_P(HarnessTextOn, CompilesAndStaysInRegisters) {
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const Result<Compilation> compilation =
      (*compiler)->Compile({std::string(HarnessText()), "harness_inspect"}, FindDevice(GetParam())->Architecture());
  ASSERT_TRUE(compilation.ok()) << compilation.status().message();
  ASSERT_TRUE(compilation->succeeded) << compilation->log;
  const Result<std::vector<KernelFacts>> kernels = ReadAllCodeFacts(compilation->binary.cubin);
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  EXPECT_GT(kernels->size(), 10u);
  for (const KernelFacts& kernel : *kernels) {
    const bool indexes_a_table = kernel.name == "harness_fill";
    EXPECT_EQ(kernel.facts.local_bytes > 0, indexes_a_table) << kernel.name;
  }
}
INSTANTIATE_TEST_SUITE_P(, HarnessTextOn, testing::Values("a100", "l40s", "h200", "rtx5090"),
                         [](const auto& device) { return device.param; });

TEST(HarnessIdentity, NamesVersionAndSources) {
  EXPECT_TRUE(HarnessIdentity().starts_with("gemmsmith "));
  EXPECT_GT(HarnessIdentity().size(), std::string_view("gemmsmith 0.1.0 ").size());
}

TEST(Differences, ReadsItsPackedFields) {
  Differences differences;
  differences.worst = uint64_t(std::bit_cast<uint32_t>(0.25f)) << 32 | 17;
  differences.first_failure_complement = ~uint64_t{5};
  differences.largest_reference = std::bit_cast<uint32_t>(3.0f);
  EXPECT_EQ(differences.MaxAbsError(), 0.25f);
  EXPECT_EQ(differences.WorstIndex(), 17u);
  EXPECT_EQ(differences.FirstFailure(), 5u);
  EXPECT_EQ(differences.LargestReference(), 3.0f);
}

// A record of "nothing found" is what ResetReport() writes: zeros.
TEST(HarnessReport, StartsAsZeros) {
  using Bytes = std::array<uint8_t, sizeof(HarnessReport)>;
  EXPECT_EQ(std::bit_cast<Bytes>(HarnessReport{}), Bytes{});
}

TEST(Canary, AndPoisonAreNaNsInBothTypes) {
  for (uint16_t bits : {kCanary, kPoison}) {
    EXPECT_TRUE((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0) << "f16";
    EXPECT_TRUE((bits & 0x7f80) == 0x7f80 && (bits & 0x7f) != 0) << "bf16";
  }
  EXPECT_NE(kCanary, kPoison);
}

}  // namespace
}  // namespace gemmsmith
