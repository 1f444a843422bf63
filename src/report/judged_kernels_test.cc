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

JudgedKernel Looked(int m, bool is_novel) {
  JudgedKernel kernel = Right(m, 1);
  kernel.is_novel = is_novel;
  return kernel;
}

JudgedKernel Final(int m, double speed_up) {
  JudgedKernel kernel = Right(m, 1);
  kernel.final_speed_up = speed_up;
  return kernel;
}

TEST(JudgedKernels, ComeBackAsTheyWereWritten) {
  const TemporaryFolder folder = *TemporaryFolder::Create("judged");
  const std::filesystem::path path = folder.path() / "judged.jsonl";
  const std::vector<JudgedKernel> kernels = {Right(64, 0.75),
                                             Kernel(64, OutcomeKind::kWrong),
                                             {.file = "kernel_00002.cu", .gemm = *ParseGemm("gemm 8x64x64 tn f16 f32")},
                                             Looked(64, true),
                                             Looked(64, false),
                                             Final(64, 1.25)};
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
      Looked(64, true),
      Looked(64, false),
  };
  const KernelShares shares = SharesOf(kernels);
  EXPECT_EQ(shares.all, 7u);
  EXPECT_EQ(shares.finished, 6u);
  EXPECT_EQ(shares.compiled, 5u);
  EXPECT_EQ(shares.right, 3u);
  EXPECT_EQ(shares.cheats, 1u);
  EXPECT_EQ(shares.looked_up, 2u);
  EXPECT_EQ(shares.novel, 1u);
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

TEST(JudgedKernels, TheFastestRightOneOfAProblemWins) {
  const std::vector<JudgedKernel> kernels = {Right(64, 1), Right(128, 0.5), Kernel(256, OutcomeKind::kWrong),
                                             Right(64, 2), Right(128, 0.25)};
  const std::map<Gemm, size_t> fastest = FastestKernels(kernels);
  EXPECT_EQ(fastest, (std::map<Gemm, size_t>{{kernels[0].gemm, 3}, {kernels[1].gemm, 1}}));
}

TEST(JudgedKernels, FinalSpeedUpsMeetInTheirGeometricMean) {
  const std::vector<JudgedKernel> kernels = {Final(64, 0.5), Final(128, 2), Right(256, 9)};
  const std::optional<FinalSpeedUp> speed_up = FinalSpeedUpOf(kernels);
  ASSERT_TRUE(speed_up);
  EXPECT_EQ(speed_up->problems, 2u);
  EXPECT_DOUBLE_EQ(speed_up->mean, 1);
  EXPECT_DOUBLE_EQ(speed_up->interval.low, 0.5);
  EXPECT_DOUBLE_EQ(speed_up->interval.high, 2);
  EXPECT_FALSE(FinalSpeedUpOf({&kernels[2], 1}));
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
