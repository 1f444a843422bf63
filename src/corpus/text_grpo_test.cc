#include "corpus/text_grpo.h"

#include <fmt/format.h>
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

TEST(TextGrpo, ARunGoesOnWithItsOwnProblemsOnly) {
  FakeTrainer trainer, reference;
  LetterJudge judge;
  const TemporaryFolder folder = *TemporaryFolder::Create("text-grpo");
  TrainingHooks hooks = Quiet();
  hooks.note = [](const std::string&) {};
  const auto learn = [&](const std::vector<TextProblem>& problems) {
    return LearnToWrite(problems, BeginningModel(), SmallTokenizer(), {.steps = 1, .problems = 1, .group = 2}, judge,
                        trainer, reference, folder.path(), hooks);
  };
  ASSERT_TRUE(learn(SomeTextProblems()).ok());
  EXPECT_TRUE(learn(SomeTextProblems()).ok());
  std::vector<TextProblem> others = SomeTextProblems();
  others[0].prompt = "c";
  EXPECT_EQ(learn(others).code(), StatusCode::kInvalidArgument);
}

TEST(TextGrpo, WithoutAProblemThereIsNothingToLearn) {
  FakeTrainer trainer, reference;
  LetterJudge judge;
  EXPECT_EQ(LearnToWrite({}, BeginningModel(), SmallTokenizer(), {}, judge, trainer, reference, "/tmp", Quiet()).code(),
            StatusCode::kInvalidArgument);
}

// Without torch: row after row writes one more letter. It keeps what it was asked and taught.
class SpellingTrainer : public FakeTrainer {
 public:
  Result<std::vector<SampledText>> Sample(const TextRequest& request) override {
    prompts.push_back(request.prompts);
    std::vector<SampledText> texts;
    for (size_t i = 0; i < request.prompts.size(); ++i) {
      const Token letter = Token(SmallTokenizer().Encode(std::string(1, char('a' + written++ % 26)))[0]);
      texts.push_back({.words = {letter, request.end}, .logs = {-1, -1}, .is_finished = true});
    }
    return texts;
  }
  Result<PolicyResult> PolicyStep(const PolicyBatch& batch, int64_t, const StepOptions&,
                                  const PolicyOptions&) override {
    taught = batch;
    return PolicyResult();
  }

  std::vector<std::vector<std::vector<Token>>> prompts;  // by step
  PolicyBatch taught;
  int written = 0;
};

// A letter takes its place in the alphabet, in microseconds; vowels are wrong.
class AlphabetJudge : public TextJudge {
 public:
  std::string name() const override { return "alphabet"; }
  Result<std::vector<std::vector<JudgedText>>> Judge(std::span<const WrittenTexts> written) override {
    std::vector<std::vector<JudgedText>> judged;
    for (const WrittenTexts& texts : written) {
      judged.emplace_back();
      for (const std::string& source : texts.sources) {
        const double time_ns = 1000.0 * (source[0] - 'a' + 1);
        if (std::string("aeiou").find(source[0]) != std::string::npos) {
          judged.back().push_back({.kind = OutcomeKind::kWrong, .reward = -0.5});
        } else {
          judged.back().push_back({.kind = OutcomeKind::kMeasured, .reward = 1000 / time_ns, .time_ns = time_ns});
        }
      }
    }
    return judged;
  }
};

class TextContrast : public testing::Test {
 protected:
  Status Learn(SpellingTrainer& trainer, TextGrpoOptions options, const char* output = "run", int positions = 120,
               int stop_after = 1000) const {
    ModelConfig config = SmallTextConfig();
    config.positions = positions;
    int taken = 0;
    const TrainingHooks hooks{.stop = [&] { return taken >= stop_after; },
                              .watch = [&](int64_t, std::optional<double>) { ++taken; },
                              .note = [](const std::string&) {}};
    FakeTrainer reference;
    AlphabetJudge judge;
    return LearnToWrite({SomeTextProblems()[0]}, NewModel(config, 1), SmallTokenizer(), options, judge, trainer,
                        reference, folder.path() / output, hooks);
  }
  std::string PromptTextOf(const std::vector<Token>& prompt) const {
    return SmallTokenizer().Decode(std::vector<int32_t>(prompt.begin(), prompt.end()));
  }
  std::vector<double> Logged(const char* name) const {
    std::vector<double> values;
    for (const nlohmann::ordered_json& line : ReadLog(folder.path() / "run")) values.push_back(line[name]);
    return values;
  }

  const TextGrpoOptions few = {.steps = 3, .problems = 2, .group = 4, .most_words = 20};
  const TemporaryFolder folder = *TemporaryFolder::Create("text-contrast");
};

TEST_F(TextContrast, LaterPromptsShowEarlierKernelsWithTheirTimes) {
  SpellingTrainer trainer;
  const Status learned = Learn(trainer, few);
  ASSERT_TRUE(learned.ok()) << learned.message();
  EXPECT_EQ(Logged("shown"), (std::vector<double>{0, 1, 1}));
  for (const std::vector<Token>& prompt : trainer.prompts[0]) EXPECT_EQ(PromptTextOf(prompt), "a");
  for (size_t step : {1, 2})
    for (size_t row = 0; row < 8; ++row) {
      const std::vector<Token>& prompt = trainer.prompts[step][row];
      EXPECT_EQ(prompt, trainer.prompts[step][row / 4 * 4]);  // one prompt a group
      const std::string text = PromptTextOf(prompt);
      const size_t kernel = text.find("// kernel 1: "), code = text.find('\n', kernel) + 1;
      ASSERT_NE(kernel, std::string::npos) << text;
      ASSERT_NE(text.find("// kernel 2: "), std::string::npos) << text;
      const std::string verdict = text.substr(kernel + 13, code - 1 - kernel - 13);
      const bool is_vowel = std::string("aeiou").find(text[code]) != std::string::npos;
      EXPECT_EQ(verdict, is_vowel ? "wrong" : fmt::format("right, {}.00 us", text[code] - 'a' + 1)) << text;
      EXPECT_LT(text[code], char('a' + 8 * step)) << "of an earlier step";
    }
}

TEST_F(TextContrast, OnlyTheAnswersWordsAreTaught) {
  SpellingTrainer trainer;
  ASSERT_TRUE(Learn(trainer, few).ok());
  const PolicyBatch& taught = trainer.taught;
  ASSERT_EQ(taught.rows.size(), 16u);  // eight answers of a letter and the end
  for (size_t i = 0; i < taught.rows.size(); ++i) {
    const size_t row = size_t(taught.rows[i]), at = size_t(taught.positions[i]);
    const auto begin = taught.texts.tokens.begin() + long(row * size_t(taught.texts.length));
    const auto is_prompt = [&](const std::vector<Token>& prompt) {
      return at == prompt.size() + i % 2 && std::equal(prompt.begin(), prompt.end(), begin);
    };
    EXPECT_TRUE(std::ranges::any_of(trainer.prompts[2], is_prompt)) << i;
    EXPECT_EQ(*(begin + long(at)) == SmallTokenizer().end(), i % 2 == 1);
  }
}

TEST_F(TextContrast, APairThatIsTooLongIsLeftOut) {
  SpellingTrainer trainer;
  ASSERT_TRUE(Learn(trainer, few, "run", 60).ok());
  EXPECT_EQ(Logged("shown"), (std::vector<double>{0, 0, 0}));
}

TEST_F(TextContrast, WithoutContrastNothingIsShown) {
  SpellingTrainer trainer;
  TextGrpoOptions options = few;
  options.contrast = 0;
  ASSERT_TRUE(Learn(trainer, options).ok());
  EXPECT_EQ(Logged("shown"), (std::vector<double>{0, 0, 0}));
}

TEST_F(TextContrast, AStoppedRunShowsTheSameKernels) {
  SpellingTrainer whole, part;
  ASSERT_TRUE(Learn(whole, few, "whole").ok());
  ASSERT_TRUE(Learn(part, few, "parts", 120, 2).ok());
  ASSERT_TRUE(Learn(part, few, "parts").ok());
  EXPECT_EQ(part.prompts, whole.prompts);
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
