#include "corpus/text_training.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "corpus/text_shards.h"
#include "policy/train/fake_trainer.h"
#include "policy/train/trainer_library.h"
#include "policy/train/training_log.h"

namespace gemmsmith {
namespace {

class TextTraining : public testing::Test {
 protected:
  void SetUp() override {
    TextShard shard{.origin = "a test", .examples = {}};
    for (int i = 0; i < 60; ++i)
      shard.examples.push_back(
          {.prompt = "p", .text = i == 7 ? std::string(100, 'x') : "kernel", .plan = "", .problem = ""});
    ASSERT_TRUE(WriteTextShard(shard, folder.path() / "texts_00000.jsonl").ok());
  }

  Result<EncodedTexts> Read(int positions) const {
    const std::filesystem::path files[] = {folder.path() / "texts_00000.jsonl"};
    return EncodedTexts::Read(files, tokenizer, positions);
  }

  Status Train(const char* output, Trainer& trainer, int steps, int stop_after = 1000) const {
    int taken = 0;
    const TrainingHooks hooks{.stop = [&] { return taken >= stop_after; },
                              .watch = [&](int64_t, std::optional<double>) { ++taken; },
                              .note = [](const std::string&) {},
                              .count = [&](int64_t tokens) { counted.push_back(tokens); }};
    return TrainOnTexts(*Read(24), begin,
                        {.steps = steps, .batch = 4, .learning_rate = 1e-2, .warm_up = 5, .validate_every = 2}, trainer,
                        folder.path() / output, hooks);
  }

  std::vector<nlohmann::ordered_json> LogWithoutSeconds(const char* output) const {
    std::vector<nlohmann::ordered_json> lines = ReadLog(folder.path() / output);
    for (nlohmann::ordered_json& line : lines) line.erase("seconds");
    return lines;
  }

  mutable std::vector<int64_t> counted;
  const Tokenizer tokenizer = Tokenizer::Train(PieceCounts(), Tokenizer::kFewestWords);
  const ModelConfig config = {
      .words = tokenizer.words(), .positions = 24, .width = 16, .layers = 1, .heads = 2, .hidden = 32};
  PolicyModel begin = NewTextModel(tokenizer, config, 1);
  const TemporaryFolder folder = *TemporaryFolder::Create("text-training");
};

TEST_F(TextTraining, OnlyTheKernelAndItsEndAreLearned) {
  const Result<EncodedTexts> texts = Read(24);
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  EXPECT_EQ(texts->train().size(), 58u);
  EXPECT_EQ(texts->held_out().size(), 1u);
  EXPECT_EQ(texts->too_long(), 1);
  const WeightedTokens& text = texts->train().front();
  ASSERT_EQ(text.tokens.size(), 10u);  // begin, p, answer, six letters, end
  EXPECT_EQ(text.weights, (std::vector<float>{0, 0, 0, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(text.tokens.back(), tokenizer.end());
  EXPECT_EQ(KernelOf({.words = {text.tokens.begin() + 3, text.tokens.end()}, .logs = {}}, tokenizer), "kernel");
}

TEST_F(TextTraining, TextsThatAreAllTooLongAreRefused) { EXPECT_EQ(Read(5).status().code(), StatusCode::kNotFound); }

TEST_F(TextTraining, AStoppedRunEndsInTheSameWeights) {
  FakeTrainer whole, first, second;
  ASSERT_TRUE(Train("whole", whole, 6).ok());
  ASSERT_TRUE(Train("parts", first, 6, 3).ok());
  ASSERT_FALSE(ReadModel(folder.path() / "parts" / "weights.safetensors", Fingerprint(tokenizer)).ok());
  ASSERT_TRUE(Train("parts", second, 6).ok());
  EXPECT_EQ(*ReadFile(folder.path() / "whole" / "weights.safetensors"),
            *ReadFile(folder.path() / "parts" / "weights.safetensors"));
  EXPECT_EQ(LogWithoutSeconds("whole"), LogWithoutSeconds("parts"));
  EXPECT_EQ(ReadLog(folder.path() / "whole")[1]["validation_loss"], 0.5);
}

TEST_F(TextTraining, ARunGoesOnWithItsOwnTextsOnly) {
  FakeTrainer first, second;
  ASSERT_TRUE(Train("parts", first, 6, 3).ok());
  TextShard others = *ReadTextShard(folder.path() / "texts_00000.jsonl");
  others.examples[3].text = "kernal";
  ASSERT_TRUE(WriteTextShard(others, folder.path() / "texts_00000.jsonl").ok());
  EXPECT_EQ(Train("parts", second, 6).code(), StatusCode::kInvalidArgument);
}

TEST_F(TextTraining, AStepLogsItsTokensItsPaddingAndItsSeconds) {
  FakeTrainer trainer;
  ASSERT_TRUE(Train("model", trainer, 2).ok());
  for (const nlohmann::ordered_json& line : ReadLog(folder.path() / "model")) {
    EXPECT_EQ(line["tokens"], 40);  // four texts of ten
    EXPECT_EQ(line["padding"], 0.0);
    EXPECT_GE(line["seconds"].get<double>(), 0);
  }
  EXPECT_EQ(counted, (std::vector<int64_t>{40, 40}));
}

TEST_F(TextTraining, WeightsAreReadWithTheirTokenizerAlone) {
  FakeTrainer trainer;
  ASSERT_TRUE(Train("model", trainer, 1).ok());
  const std::filesystem::path weights = folder.path() / "model" / "weights.safetensors";
  EXPECT_TRUE(ReadModel(weights, Fingerprint(tokenizer)).ok());
  EXPECT_FALSE(ReadModel(weights, "00000000").ok());
  EXPECT_FALSE(ReadModel(weights).ok());
}

TEST_F(TextTraining, ARunGoesOnOnlyFromTheWeightsItBeganWith) {
  FakeTrainer trainer;
  ASSERT_TRUE(Train("model", trainer, 4, 2).ok());
  const PolicyModel first = begin;
  begin = NewTextModel(tokenizer, config, 2);
  EXPECT_FALSE(Train("model", trainer, 4).ok());
  begin = first;
  EXPECT_TRUE(Train("model", trainer, 4).ok());
}

TEST_F(TextTraining, WithTorchAFewTextsAreLearnedByHeart) {
  Result<std::unique_ptr<Trainer>> trainer = OpenTorchTrainer(config, "cpu");
  if (!trainer.ok()) GTEST_SKIP() << trainer.status().message();
  ASSERT_TRUE(Train("torch", **trainer, 150).ok());
  const Result<std::vector<SampledText>> texts = (*trainer)->Sample(
      {.prompts = {PromptTokens(tokenizer, "p")}, .most_words = 20, .end = Token(tokenizer.end()), .temperature = 0});
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  EXPECT_EQ(KernelOf(texts->front(), tokenizer), "kernel");
  EXPECT_TRUE(texts->front().is_finished);
}

}  // namespace
}  // namespace gemmsmith
