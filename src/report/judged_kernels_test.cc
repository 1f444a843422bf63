#include "report/judged_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace gemmsmith {
namespace {

JudgedKernel Kernel(int m, OutcomeKind outcome, std::optional<double> speed_up = std::nullopt) {
  return {.file = "kernel.cu",
          .gemm = *ParseGemm(fmt::format("gemm {}x64x64 nn f16 f32", m)),
          .outcome = outcome,
          .reward = 0.5,
          .speed_up = speed_up};
}

JudgedKernel Right(int m, double speed_up) { return Kernel(m, OutcomeKind::kMeasured, speed_up); }

TEST(JudgedKernels, ComeBackAsTheyWereWritten) {
  const TemporaryFolder folder = *TemporaryFolder::Create("judged");
  const std::filesystem::path path = folder.path() / "judged.jsonl";
  const std::vector<JudgedKernel> kernels = {
      Right(64, 0.75),
      Kernel(64, OutcomeKind::kWrong),
      {.file = "kernel_00002.cu", .gemm = *ParseGemm("gemm 8x64x64 tn f16 f32")}};
  ASSERT_TRUE(WriteJudgedKernels(kernels, path).ok());
  const Result<std::vector<JudgedKernel>> read = ReadJudgedKernels(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, kernels);
}

TEST(JudgedKernels, ADamagedLineIsNamed) {
  const TemporaryFolder folder = *TemporaryFolder::Create("judged");
  const std::filesystem::path path = folder.path() / "judged.jsonl";
  const std::string good = R"({"file":"a.cu","problem":"gemm 64x64x64 nn f16 f32","outcome":"wrong"})";
  for (const std::string& bad :
       {good.substr(0, 40), std::string(R"({"file":"a.cu","problem":"gemm 64x64x64 nn f16 f32","outcome":"fine"})"),
        std::string(R"({"file":"a.cu","outcome":"wrong"})")}) {
    ASSERT_TRUE(WriteFileAtomic(path, good + "\n" + bad + "\n").ok());
    EXPECT_NE(ReadJudgedKernels(path).status().message().find("judged.jsonl:2"), std::string::npos) << bad;
  }
  ASSERT_TRUE(WriteFileAtomic(path, "\n").ok());
  EXPECT_FALSE(ReadJudgedKernels(path).ok());
}

TEST(JudgedKernels, SharesCountStagesThatKernelsCameTo) {
  const std::vector<JudgedKernel> kernels = {
      Right(64, 1),
      Kernel(64, OutcomeKind::kCompileFailed),
      Kernel(64, OutcomeKind::kWrong),
      Kernel(64, OutcomeKind::kCheated),
      {.file = "", .gemm = Right(64, 1).gemm},
  };
  const KernelShares shares = SharesOf(kernels);
  EXPECT_EQ(shares.all, 5u);
  EXPECT_EQ(shares.finished, 4u);
  EXPECT_EQ(shares.compiled, 3u);
  EXPECT_EQ(shares.right, 1u);
  EXPECT_EQ(shares.cheats, 1u);
}

TEST(JudgedKernels, TheBestOfSeveralCountsWrongOnesAsNothing) {
  const std::vector<JudgedKernel> kernels = {Right(64, 1), Kernel(64, OutcomeKind::kWrong), Right(128, 0.5),
                                             Right(128, 0.5), Right(128, 0.5)};
  const std::vector<BestOf> best = BestOfKernels(kernels);
  ASSERT_EQ(best.size(), 2u);  // one problem has two kernels
  EXPECT_DOUBLE_EQ(best[0].mean, 0.5);
  EXPECT_DOUBLE_EQ(best[1].mean, 0.75);
  EXPECT_EQ(best[1].draws, 2u);
  EXPECT_DOUBLE_EQ(best[1].interval.low, 0.5);
  EXPECT_DOUBLE_EQ(best[1].interval.high, 1);
}

TEST(JudgedKernels, ARatioIsOfTheSameProblems) {
  std::vector<JudgedKernel> ours, theirs;
  for (int i = 1; i <= 40; ++i) {
    theirs.push_back(Right(8 * i, 0.1 * i));
    ours.push_back(Right(8 * i, 0.12 * i));
  }
  const Result<KernelRatio> ratio = CompareKernels(ours, theirs);
  ASSERT_TRUE(ratio.ok());
  EXPECT_NEAR(ratio->ratio, 1.2, 1e-9);
  EXPECT_NEAR(ratio->interval.low, 1.2, 1e-9);  // problems differ much, the ratio does not
  EXPECT_NEAR(ratio->interval.high, 1.2, 1e-9);
  ours.pop_back();
  EXPECT_FALSE(CompareKernels(ours, theirs).ok());
}

}  // namespace
}  // namespace gemmsmith
