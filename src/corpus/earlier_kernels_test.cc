#include "corpus/earlier_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "base/files.h"

namespace gemmsmith {
namespace {

EarlierKernel Timed(const std::string& problem, const std::string& text, double time_ns) {
  return {problem, text, {.kind = OutcomeKind::kMeasured, .reward = 1, .time_ns = time_ns}};
}
EarlierKernel Refused(const std::string& problem, const std::string& text) {
  return {problem, text, {.kind = OutcomeKind::kWrong, .reward = -0.5}};
}

class EarlierKernelsTest : public testing::Test {
 protected:
  std::vector<std::string> Chosen(const EarlierKernels& kernels, const std::string& problem, uint64_t seed) const {
    Random random(seed);
    std::vector<std::string> texts;
    for (const ShownKernel& kernel : kernels.Choose(problem, 2, random)) texts.push_back(kernel.text);
    return texts;
  }

  const TemporaryFolder folder = *TemporaryFolder::Create("earlier-kernels");
};

TEST_F(EarlierKernelsTest, TwoOfDifferentSpeedAreChosenTheFasterMoreOftenFirst) {
  EarlierKernels kernels(folder.path());
  const std::vector<EarlierKernel> first = {Timed("p", "slow", 4000), Timed("p", "fast", 1000), Timed("q", "other", 1)};
  ASSERT_TRUE(kernels.Keep(1, first).ok());
  int fast_first = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const std::vector<std::string> texts = Chosen(kernels, "p", seed);
    ASSERT_EQ(texts.size(), 2u);
    EXPECT_NE(texts[0], texts[1]);
    fast_first += texts[0] == "fast" ? 1 : 0;
  }
  EXPECT_NEAR(fast_first / 400.0, 0.80, 0.07);  // two means are 1.41 deviations apart
}

TEST_F(EarlierKernelsTest, WhatIsNotRightIsSlowestAndShownAsSuch) {
  EarlierKernels kernels(folder.path());
  EarlierKernel cheat = Timed("p", "cheat", 1);
  cheat.judged.kind = OutcomeKind::kCheated;
  const std::vector<EarlierKernel> some = {Timed("p", "right", 1000), Refused("p", "wrong"), cheat};
  ASSERT_TRUE(kernels.Keep(1, some).ok());
  Random random(1);
  int right_first = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<ShownKernel> shown = kernels.Choose("p", 2, random);
    ASSERT_EQ(shown.size(), 2u);
    right_first += shown[0].text == "right" ? 1 : 0;
    for (const ShownKernel& kernel : shown) EXPECT_EQ(kernel.time_ns.has_value(), kernel.text == "right");
  }
  EXPECT_GT(right_first, 130);
}

TEST_F(EarlierKernelsTest, WithoutTwoBucketsNothingIsShown) {
  EarlierKernels kernels(folder.path());
  const std::vector<EarlierKernel> one = {Timed("p", "a", 1000), Timed("p", "a", 2000)};  // one text
  ASSERT_TRUE(kernels.Keep(1, one).ok());
  EXPECT_TRUE(Chosen(kernels, "p", 1).empty());
  EXPECT_TRUE(Chosen(kernels, "unknown", 1).empty());
}

TEST_F(EarlierKernelsTest, ARunThatGoesOnChoosesTheSame) {
  EarlierKernels kernels(folder.path());
  const std::vector<EarlierKernel> first = {Timed("p", "\xff no utf-8", 4000), Timed("p", "b", 1000)};
  const std::vector<EarlierKernel> second = {Timed("p", "c", 500), Refused("p", "d")};
  ASSERT_TRUE(kernels.Keep(1, first).ok() && kernels.Keep(2, second).ok());
  EarlierKernels again(folder.path()), earlier(folder.path());
  ASSERT_TRUE(again.ReadBefore(3).ok() && earlier.ReadBefore(2).ok());
  std::map<std::string, int> before;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(Chosen(again, "p", seed), Chosen(kernels, "p", seed));
    for (const std::string& text : Chosen(earlier, "p", seed)) ++before[text];
  }
  EXPECT_EQ(before.count("c"), 0u);
  EXPECT_EQ(before["b"], 50);
}

TEST_F(EarlierKernelsTest, AMissingOrCutFileIsNamed) {
  EarlierKernels kernels(folder.path());
  const std::vector<EarlierKernel> one = {Timed("p", "a", 1000)};
  ASSERT_TRUE(kernels.Keep(1, one).ok());
  Status status = EarlierKernels(folder.path()).ReadBefore(3);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("step_00002.jsonl is missing"), std::string::npos) << status.message();
  const std::filesystem::path path = folder.path() / "step_00001.jsonl";
  const std::string content = *ReadFile(path);
  for (size_t size = 1; size + 1 < content.size(); ++size) {
    ASSERT_TRUE(WriteFileAtomic(path, content.substr(0, size)).ok());
    status = EarlierKernels(folder.path()).ReadBefore(2);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << size;
  }
  EXPECT_NE(status.message().find("step_00001.jsonl: no kernel; cut off?"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace gemmsmith
