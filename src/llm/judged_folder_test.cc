#include "llm/judged_folder.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "llm/fake_writer.h"
#include "llm/queue_text_judge.h"

namespace gemmsmith {
namespace {

constexpr Gemm kFirst{.shape = {64, 64, 64}}, kSecond{.shape = {128, 64, 64}};

struct Written {
  Gemm gemm;
  std::string fate;
  std::optional<double> screened;  // its speed-up
};

JudgedFolder FolderOf(const std::vector<Written>& all) {
  JudgedFolder folder;
  for (const auto& [gemm, fate, screened] : all) {
    folder.samples.push_back({.source = SourceThat(fate), .gemm = gemm, .is_finished = true});
    folder.kernels.push_back(
        {.gemm = gemm, .outcome = screened ? OutcomeKind::kMeasured : OutcomeKind::kWrong, .speed_up = screened});
  }
  return folder;
}

TEST(RaceWinners, TheFastestOfEachProblemOfEachFolderIsRaced) {
  std::vector<JudgedFolder> folders = {
      FolderOf({{kFirst, "takes 500", 1.5}, {kFirst, "takes 400", 1.2}, {kSecond, "is wrong", {}}}),
      FolderOf({{kSecond, "takes 2000", 0.4}, {kFirst, "takes 250", 3}})};
  FakeSourceJudge source_judge;
  QueueTextJudge judge(source_judge, "fake");
  ASSERT_TRUE(RaceWinners(folders, judge).ok());
  EXPECT_EQ(source_judge.judged().size(), 3u);
  EXPECT_EQ(folders[0].kernels[0].final_speed_up, 2);
  EXPECT_EQ(folders[0].kernels[1].final_speed_up, std::nullopt);
  EXPECT_EQ(folders[0].kernels[2].final_speed_up, std::nullopt);
  EXPECT_EQ(folders[1].kernels[0].final_speed_up, 0.5);
  EXPECT_EQ(folders[1].kernels[1].final_speed_up, 4);
}

TEST(RaceWinners, EqualSourcesOfAProblemRaceOnceAndBothHaveTheResult) {
  std::vector<JudgedFolder> folders(2, FolderOf({{kFirst, "takes 500", 1.5}, {kSecond, "takes 500", 1.5}}));
  FakeSourceJudge source_judge;
  QueueTextJudge judge(source_judge, "fake");
  ASSERT_TRUE(RaceWinners(folders, judge).ok());
  EXPECT_EQ(source_judge.judged().size(), 2u);
  for (const JudgedFolder& folder : folders)
    for (const JudgedKernel& kernel : folder.kernels) EXPECT_EQ(kernel.final_speed_up, 2);
}

TEST(RaceWinners, AWinnerThatIsRefusedInTheEndLosesAnEarlierResult) {
  std::vector<JudgedFolder> folders = {FolderOf({{kFirst, "is wrong after all", 1.5}})};
  folders[0].kernels[0].final_speed_up = 1.4;
  FakeSourceJudge source_judge;
  QueueTextJudge judge(source_judge, "fake");
  ASSERT_TRUE(RaceWinners(folders, judge).ok());
  EXPECT_EQ(folders[0].kernels[0].final_speed_up, std::nullopt);
}

TEST(JudgedFolder, IsOfItsOwnKernels) {
  const TemporaryFolder folder = *TemporaryFolder::Create("judged-folder");
  const JudgedFolder written = FolderOf({{kFirst, "a", 1}, {kSecond, "b", {}}});
  ASSERT_TRUE(WriteSamples(written.samples, folder.path()).ok());
  ASSERT_TRUE(WriteJudgedKernels(written.kernels, folder.path() / "judged.jsonl").ok());
  const Result<JudgedFolder> read = ReadJudgedFolder(folder.path());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->samples, written.samples);
  EXPECT_EQ(read->kernels, written.kernels);
  ASSERT_TRUE(WriteJudgedKernels({written.kernels[0]}, folder.path() / "judged.jsonl").ok());
  EXPECT_EQ(ReadJudgedFolder(folder.path()).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace gemmsmith
