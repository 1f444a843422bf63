#include "corpus/flat_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "corpus/text_prompt.h"
#include "problem/example_device.h"
#include "program/flat_form.h"
#include "program/legality.h"
#include "program/random_plan.h"

namespace gemmsmith {
namespace {

Gemm ProblemOf(Shape shape, Layout layout) { return {.shape = shape, .kind = {.layout = layout}}; }

class FlatTextsTest : public testing::Test {
 protected:
  FlatTextsTest() {
    options_ = {.problems = {ProblemOf({64, 128, 256}, kNn), ProblemOf({256, 64, 1024}, kTn)},
                .device = H200(),
                .count = 25,
                .origin = "a test",
                .shard_texts = 10};
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  Status Write(const std::string& name) { return WriteFlatTexts(options_, Path(name), {}).status(); }
  std::vector<TextExample> TextsOf(const std::string& name) const {
    std::vector<TextExample> texts;
    const std::filesystem::path files[] = {Path(name)};
    const Status status = ForEachText(files, [&](const TextExample& example) {
      texts.push_back(example);
      return OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return texts;
  }

  FlatTextOptions options_;
  const TemporaryFolder folder_ = *TemporaryFolder::Create("flat_texts");
};

TEST_F(FlatTextsTest, AreDifferentKernelsOfLegalPlans) {
  ASSERT_TRUE(Write("a").ok());
  const std::vector<TextExample> texts = TextsOf("a");
  ASSERT_EQ(texts.size(), 25u);
  std::set<std::string> kernels;
  for (const TextExample& example : texts) {
    const Gemm gemm = *ParseGemm(example.problem);
    EXPECT_TRUE(IsLegal(*ParsePlan(example.plan), gemm, H200())) << example.plan;
    EXPECT_EQ(example.prompt, TextPrompt(gemm, H200()));
    EXPECT_NE(example.text.find("__global__"), std::string::npos);
    kernels.insert(example.text);
  }
  EXPECT_EQ(kernels.size(), 25u);
}

TEST_F(FlatTextsTest, DoNotTellTheirPlan) {
  ASSERT_TRUE(Write("a").ok());
  int commented = 0;
  for (const TextExample& example : TextsOf("a")) {
    EXPECT_EQ(example.text.find("warps_m="), std::string::npos);
    EXPECT_EQ(example.text.find("by the plan"), std::string::npos);
    commented += example.text.starts_with("// A CTA of") ? 1 : 0;
  }
  EXPECT_GT(commented, 0);
}

TEST_F(FlatTextsTest, DependOnTheSeedAlone) {
  ASSERT_TRUE(Write("a").ok());
  ASSERT_TRUE(Write("b").ok());
  EXPECT_EQ(TextsOf("a"), TextsOf("b"));
  options_.seed = 2;
  ASSERT_TRUE(Write("c").ok());
  EXPECT_NE(TextsOf("a"), TextsOf("c"));
}

// The kernels that a prompt shows, by their verdicts.
std::vector<std::pair<std::string, std::string>> ShownIn(const std::string& prompt) {
  std::vector<std::pair<std::string, std::string>> shown;
  for (size_t at = prompt.find("// kernel "); at != std::string::npos;) {
    const size_t verdict = prompt.find(": ", at) + 2, code = prompt.find('\n', at) + 1;
    at = prompt.find("// kernel ", code);
    shown.emplace_back(prompt.substr(verdict, code - 1 - verdict), prompt.substr(code, at - code));
  }
  return shown;
}

// By problem, all direct plans among some that are legal.
std::map<Gemm, std::vector<MeasuredPlan>> SomeMeasured(const std::vector<Gemm>& problems) {
  std::map<Gemm, std::vector<MeasuredPlan>> measured;
  for (const Gemm& gemm : problems) {
    Random random(7);
    for (int i = 0; i < 4; ++i)
      measured[gemm].push_back({*RandomPlan(GetFamily(FamilyId::kDirect), {}, gemm, H200(), random), 1000.0 * (i + 1)});
  }
  return measured;
}

bool IsKernelOf(const Plan& plan, const Gemm& gemm, const std::string& text) {
  for (uint64_t style = 0; style < kFlatStyles; ++style)
    if (EmitFlat(plan, gemm, FlatStyleOf(style))->ends_with(text)) return true;
  return false;
}

TEST_F(FlatTextsTest, EveryOtherPromptShowsTwoKernelsAndTheTextsStayTheSame) {
  ASSERT_TRUE(Write("without").ok());
  options_.contrast = 2;
  ASSERT_TRUE(Write("with").ok());
  const std::vector<TextExample> without = TextsOf("without"), with = TextsOf("with");
  int showing = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i].text, without[i].text);
    EXPECT_TRUE(with[i].prompt.starts_with(without[i].prompt));
    const auto shown = ShownIn(with[i].prompt);
    if (shown.empty()) continue;
    ++showing;
    ASSERT_EQ(shown.size(), 2u);
    for (const auto& [verdict, code] : shown) {
      EXPECT_EQ(verdict, "not judged");
      EXPECT_NE(code.find("__global__"), std::string::npos);
      EXPECT_EQ(code.find("warps_m="), std::string::npos);
    }
  }
  EXPECT_GT(showing, 6);
  EXPECT_LT(showing, 19);
}

TEST_F(FlatTextsTest, ATimeIsThatOfTheMeasuredPlanWhoseKernelIsShown) {
  options_.contrast = 2;
  options_.measured = SomeMeasured({options_.problems[0]});
  ASSERT_TRUE(Write("a").ok());
  int timed = 0, untimed = 0;
  for (const TextExample& example : TextsOf("a")) {
    const Gemm gemm = *ParseGemm(example.problem);
    for (const auto& [verdict, code] : ShownIn(example.prompt)) {
      if (verdict == "not judged" && ++untimed) continue;
      ++timed;
      ASSERT_TRUE(verdict.starts_with("right, ")) << verdict;
      const size_t which = size_t(std::stod(verdict.substr(7))) - 1;
      EXPECT_TRUE(IsKernelOf(options_.measured[gemm].at(which).plan, gemm, code)) << verdict;
    }
  }
  EXPECT_GT(timed, 0);
  EXPECT_GT(untimed, 0);
}

TEST_F(FlatTextsTest, AStoppedRunGoesOnToTheSameTexts) {
  ASSERT_TRUE(Write("whole").ok());
  int shards = 0;
  const FlatTextHooks stops{.stop = [&] { return ++shards > 1; }};
  const Result<FlatTextSummary> stopped = WriteFlatTexts(options_, Path("parts"), stops);
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->texts, 10);
  const Result<FlatTextSummary> rest = WriteFlatTexts(options_, Path("parts"), {});
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  EXPECT_EQ(rest->texts, 25);
  EXPECT_EQ(rest->found, 10);
  EXPECT_EQ(TextsOf("parts"), TextsOf("whole"));
}

TEST_F(FlatTextsTest, ALargerCountAddsTexts) {
  options_.count = 12;
  ASSERT_TRUE(Write("a").ok());
  const std::vector<TextExample> before = TextsOf("a");
  options_.count = 25;
  ASSERT_TRUE(Write("a").ok());
  const std::vector<TextExample> after = TextsOf("a");
  ASSERT_EQ(after.size(), 25u);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  options_.count = 12;
  EXPECT_EQ(Write("a").code(), StatusCode::kInvalidArgument);
}

TEST_F(FlatTextsTest, TextsOfOthersAreRefused) {
  ASSERT_TRUE(Write("a").ok());
  options_.origin = "another";
  const Status status = Write("a");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("texts_00000.jsonl is of other texts (a test)"), std::string::npos);
}

TEST_F(FlatTextsTest, ADamagedShardIsNamed) {
  ASSERT_TRUE(Write("a").ok());
  const std::string content = *ReadFile(Path("a/texts_00001.jsonl"));
  ASSERT_TRUE(WriteFileAtomic(Path("a/texts_00001.jsonl"), content.substr(0, content.size() / 2)).ok());
  const Status status = Write("a");
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("texts_00001.jsonl:"), std::string::npos);
}

TEST_F(FlatTextsTest, AFolderThatCannotBeIsAnError) {
  ASSERT_TRUE(WriteFileAtomic(Path("file"), "x").ok());
  EXPECT_EQ(Write("file").code(), StatusCode::kIoError);
  EXPECT_EQ(WriteFlatTexts(options_, "/dev/full", {}).status().code(), StatusCode::kIoError);
}

TEST(TextPromptTest, SaysTheProblemAndItsFloor) {
  EXPECT_EQ(TextPrompt(ProblemOf({4096, 4096, 16384}, kTn), H200()).substr(0, 54),
            "// m 4096 n 4096 k 16384 tn f16 f32\n// NVIDIA H200, fl");
}

}  // namespace
}  // namespace gemmsmith
