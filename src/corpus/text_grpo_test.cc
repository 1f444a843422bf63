#include "corpus/text_grpo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "corpus/text_training.h"
#include "policy/train/fake_trainer.h"
#include "policy/train/trainer_library.h"
#include "policy/train/training_log.h"

namespace gemmsmith {
namespace {

Tokenizer SmallTokenizer() { return Tokenizer::Train(PieceCounts(), Tokenizer::kFewestWords); }

ModelConfig SmallTextConfig() {
  return {.words = SmallTokenizer().words(), .positions = 24, .width = 16, .layers = 1, .heads = 2, .hidden = 32};
}

std::vector<TextProblem> SomeTextProblems() {
  return {{.gemm = {.shape = {64, 64, 64}}, .prompt = "a"}, {.gemm = {.shape = {64, 64, 128}}, .prompt = "b"}};
}

// Likes bytes above 127.
class LetterJudge : public TextJudge {
 public:
  std::string name() const override { return "letters"; }
  Result<std::vector<std::vector<JudgedText>>> Judge(std::span<const WrittenTexts> written) override {
    std::vector<std::vector<JudgedText>> judged;
    for (const WrittenTexts& texts : written) {
      judged.emplace_back();
      for (const std::string& source : texts.sources) {
        const auto liked = std::count_if(source.begin(), source.end(), [](char c) { return c < 0; });
        const double share = double(liked) / double(source.size() + 1);
        judged.back().push_back({.kind = OutcomeKind::kMeasured, .reward = share, .speed_up = share});
        seen.push_back(source);
      }
    }
    if (fails) return Unavailable("no GPU any more");
    return judged;
  }

  std::vector<std::string> seen;
  bool fails = false;
};

TrainingHooks Quiet() {
  return {.stop = [] { return false; }, .watch = [](int64_t, std::optional<double>) {}, .note = nullptr};
}

// Small embeddings: all words are about equally likely.
PolicyModel BeginningModel() {
  PolicyModel model = NewModel(SmallTextConfig(), 1);
  for (float& value : model.embedding) value *= 0.1f;
  model.tokenizer = Fingerprint(SmallTokenizer());
  return model;
}

// Without torch: each kernel is its prompt.
TEST(TextGrpo, KernelsAreJudgedInTheOrderOfTheirPromptsAndLogged) {
  FakeTrainer trainer, reference;
  LetterJudge judge;
  const TemporaryFolder folder = *TemporaryFolder::Create("text-grpo");
  const Status learned =
      LearnToWrite(SomeTextProblems(), BeginningModel(), SmallTokenizer(), {.steps = 2, .problems = 3, .group = 2},
                   judge, trainer, reference, folder.path(), Quiet());
  ASSERT_TRUE(learned.ok()) << learned.message();
  ASSERT_EQ(judge.seen.size(), 12u);
  for (size_t i = 0; i < judge.seen.size(); i += 2) {
    EXPECT_EQ(judge.seen[i], judge.seen[i + 1]);
    EXPECT_TRUE(judge.seen[i] == "a" || judge.seen[i] == "b") << judge.seen[i];
  }
  const std::vector<nlohmann::ordered_json> lines = ReadLog(folder.path());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["finished"], 1.0);
  EXPECT_EQ(lines[0]["correct"], 1.0);
  EXPECT_EQ(lines[0]["completions/mean_length"], 4.0);
  EXPECT_EQ(lines[0]["reward_std"], 0.0);
  EXPECT_EQ(lines[0]["tokens"], 24.0);
  EXPECT_GE(lines[0]["seconds"].get<double>(), lines[0]["seconds/writing"].get<double>());
}

TEST(TextGrpo, AFailedJudgeEndsTheRunAndTheStepIsVoid) {
  FakeTrainer trainer, reference;
  LetterJudge judge;
  judge.fails = true;
  const TemporaryFolder folder = *TemporaryFolder::Create("text-grpo");
  const Status learned = LearnToWrite(SomeTextProblems(), BeginningModel(), SmallTokenizer(), {.steps = 2}, judge,
                                      trainer, reference, folder.path(), Quiet());
  EXPECT_EQ(learned.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(ReadLog(folder.path()).empty());
}

TEST(TextGrpo, WithoutAProblemThereIsNothingToLearn) {
  FakeTrainer trainer, reference;
  LetterJudge judge;
  EXPECT_EQ(LearnToWrite({}, BeginningModel(), SmallTokenizer(), {}, judge, trainer, reference, "/tmp", Quiet()).code(),
            StatusCode::kInvalidArgument);
}

TEST(TextGrpoWithTorch, WhatIsRewardedIsWrittenMoreOften) {
  Result<std::unique_ptr<Trainer>> trainer = OpenTorchTrainer(SmallTextConfig(), "cpu");
  if (!trainer.ok()) GTEST_SKIP() << trainer.status().message();
  const std::unique_ptr<Trainer> reference = *OpenTorchTrainer(SmallTextConfig(), "cpu");
  LetterJudge judge;
  const TemporaryFolder folder = *TemporaryFolder::Create("text-grpo");
  const Status learned = LearnToWrite(
      SomeTextProblems(), BeginningModel(), SmallTokenizer(),
      {.steps = 40, .problems = 4, .group = 16, .learning_rate = 1e-2, .most_words = 8, .policy = {.kl_weight = 0}},
      judge, **trainer, *reference, folder.path(), Quiet());
  ASSERT_TRUE(learned.ok()) << learned.message();
  const std::vector<nlohmann::ordered_json> lines = ReadLog(folder.path());
  ASSERT_EQ(lines.size(), 40u);
  EXPECT_LT(lines.front()["reward"].get<double>(), 0.5);
  EXPECT_GT(lines.back()["reward"].get<double>(), lines.front()["reward"].get<double>() + 0.1);
  EXPECT_GT(lines.back()["kl"].get<double>(), 0);
}

}  // namespace
}  // namespace gemmsmith
