#include "harness/harness_kernels.h"

#include <gtest/gtest.h>

#include <bit>

#include "harness/harness_text.h"

namespace gemmsmith {
namespace {

TEST(HarnessText, CompilesForEveryKnownDevice) {
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const auto compile = [&](const char* key, const char* entry) {
    const Result<Compilation> compilation =
        (*compiler)->Compile({std::string(HarnessText()), entry}, FindDevice(key)->Architecture());
    ASSERT_TRUE(compilation.ok()) << compilation.status().message();
    EXPECT_TRUE(compilation->succeeded) << key << ": " << compilation->log;
    EXPECT_EQ(compilation->binary.facts.local_bytes, 0) << key << " " << entry;
  };
  for (const char* key : {"a100", "l40s", "rtx5090"}) compile(key, "harness_ring_compare_many");
  for (const char* entry : {"harness_inspect", "harness_reference", "harness_ring_checksum", "harness_ring_spread",
                            "harness_ring_compare", "harness_ring_compare_many"})
    compile("h200", entry);
}

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
