#include "policy/train/trainer_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <span>

#include "policy/inference.h"

namespace gemmsmith {
namespace {

ModelConfig SmallConfig() {
  return {.words = int(TokenVocabulary().size()), .positions = 48, .width = 32, .layers = 2, .heads = 4, .hidden = 64};
}

class TrainerLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Trainer>> opened = OpenTorchTrainer(SmallConfig(), "cpu");
    if (!opened.ok()) GTEST_SKIP() << opened.status().message();
    trainer = *std::move(opened);
  }

  std::unique_ptr<Trainer> trainer;
};

TokenBatch SomeBatch(int rows, int length, uint64_t seed) {
  Random random(seed);
  std::vector<WeightedTokens> texts;
  for (int row = 0; row < rows; ++row) {
    texts.emplace_back();
    for (int at = 0; at < length - row; ++at) {
      texts.back().tokens.push_back(Token(random.Below(TokenVocabulary().size())));
      texts.back().weights.push_back(at % 3 == 0 ? 0.0f : 1.0f);
    }
  }
  return BatchOf(texts);
}

TEST_F(TrainerLibraryTest, InferenceComputesWhatIsTrained) {
  PolicyModel model = NewModel(SmallConfig(), 3);
  for (const NamedWeights& weights : WeightsOf(model))
    for (float& value : *weights.values) value *= weights.shape.size() == 1 ? 1.2f : 6;
  ASSERT_TRUE(PutModel(model, *trainer).ok());
  const TokenBatch batch = SomeBatch(1, 40, 1);
  const std::vector<Token> tokens(batch.tokens.begin(), batch.tokens.end());
  const Result<std::vector<float>> logits = trainer->Logits(batch);
  ASSERT_TRUE(logits.ok()) << logits.status().message();
  const size_t words = TokenVocabulary().size();
  std::vector<Token> all(words);
  for (size_t word = 0; word < words; ++word) all[word] = Token(word);
  for (size_t length = 1; length <= tokens.size(); length += 13) {
    const std::vector<std::vector<Token>> contexts = {{tokens.begin(), tokens.begin() + long(length)}};
    const Inference inference(model, contexts, 1, 1);
    const std::vector<float> ours = inference.Logits(inference.AfterContext(0), all);
    float largest = 0;
    for (const float logit : ours) largest = std::max(largest, std::abs(logit));
    for (size_t word = 0; word < words; ++word)
      ASSERT_NEAR(ours[word], (*logits)[(length - 1) * words + word], 1e-4 * largest) << length << ", word " << word;
  }
}

TEST_F(TrainerLibraryTest, TensorsComeBackExactlyAndWrongOnesAreRefused) {
  const PolicyModel model = NewModel(SmallConfig(), 4);
  ASSERT_TRUE(PutModel(model, *trainer).ok());
  const Result<PolicyModel> read = GetModel(SmallConfig(), *trainer);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->layers[1].down, model.layers[1].down);
  EXPECT_EQ(trainer->Put("no_such", {1}).message(), "torch: no tensor no_such");
  EXPECT_EQ(trainer->Put("final_norm", {1}).message(), "torch: final_norm has another size");
}

TEST_F(TrainerLibraryTest, StepsLowerTheLossAndAreTheSameEveryTime) {
  const auto train = [&] {
    EXPECT_TRUE(PutModel(NewModel(SmallConfig(), 5), *trainer).ok());
    std::vector<double> losses;
    for (int number = 1; number <= 20; ++number)
      losses.push_back(trainer->Step(SomeBatch(4, 20, 1), number, {.learning_rate = 3e-3})->loss);
    return losses;
  };
  const std::vector<double> losses = train();
  EXPECT_NEAR(losses[0], std::log(double(TokenVocabulary().size())), 0.3);
  EXPECT_LT(losses.back(), 0.7 * losses[0]);
  EXPECT_EQ(train(), losses);
}

TEST_F(TrainerLibraryTest, WordsWithoutWeightDoNotCount) {
  ASSERT_TRUE(PutModel(NewModel(SmallConfig(), 6), *trainer).ok());
  TokenBatch batch = SomeBatch(1, 20, 2);
  const double loss = *trainer->Loss(batch);
  batch.tokens[18] = batch.tokens[18] == 0 ? 1 : 0;  // the weight of every third is 0, and nothing that counts follows
  batch.weights[19] = 0;
  const double without_last = *trainer->Loss(batch);
  batch.tokens[18] = 7;
  EXPECT_EQ(*trainer->Loss(batch), without_last);
  EXPECT_NE(loss, without_last);
}

// Some words drawn in every row but the second.
PolicyBatch SomeChoices(int rows, int length, uint64_t seed) {
  Random random(seed);
  PolicyBatch batch{.texts = SomeBatch(rows, length, seed)};
  for (int row = 0; row < rows; ++row) {
    for (int at = 3; row != 1 && at < length - row; at += 4) {
      batch.rows.push_back(row), batch.positions.push_back(at);
      const size_t drawn = size_t(row) * size_t(length) + size_t(at);
      batch.weights.push_back(0.02f * float(1 + at)), batch.advantages.push_back(at % 8 == 3 ? 1.5f : -0.5f);
      batch.allowed.push_back(batch.texts.tokens[drawn]), batch.log_prior.push_back(-0.3f);
      for (int other = 0; other < 1 + at % 3; ++other) {
        const int32_t word = int32_t(random.Below(TokenVocabulary().size()));
        if (word != batch.texts.tokens[drawn]) batch.allowed.push_back(word), batch.log_prior.push_back(0.1f);
      }
      batch.allowed_from.push_back(int64_t(batch.allowed.size()));
      batch.old_logs.push_back(-1), batch.reference_logs.push_back(-1.2f);
    }
  }
  return batch;
}

// Data parallel: what several devices make of a batch together is what one makes of it.
class SharedTrainingTest : public TrainerLibraryTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    TrainerLibraryTest::SetUp();
    if (IsSkipped()) return;
    Result<std::unique_ptr<Trainer>> opened = OpenTorchTrainer(SmallConfig(), GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    shared = *std::move(opened);
    const PolicyModel model = NewModel(SmallConfig(), 7);
    ASSERT_TRUE(PutModel(model, *trainer).ok() && PutModel(model, *shared).ok());
  }

  void ExpectSameWeights() {
    PolicyModel one = *GetModel(SmallConfig(), *trainer), both = *GetModel(SmallConfig(), *shared);
    const std::vector<NamedWeights> ours = WeightsOf(one), theirs = WeightsOf(both);
    for (size_t i = 0; i < ours.size(); ++i)
      for (size_t j = 0; j < ours[i].values->size(); ++j)
        ASSERT_NEAR((*ours[i].values)[j], (*theirs[i].values)[j], 1e-4) << ours[i].name << " " << j;
  }

  std::unique_ptr<Trainer> shared;
};

TEST_P(SharedTrainingTest, StepsOnTextsAreThoseOfOneDevice) {
  for (int number = 1; number <= 10; ++number) {
    const TokenBatch batch = SomeBatch(number == 5 ? 1 : 7, 30, uint64_t(number));
    EXPECT_NEAR(*trainer->Loss(batch), *shared->Loss(batch), 1e-4);
    const Result<StepResult> one = trainer->Step(batch, number, {}), both = shared->Step(batch, number, {});
    ASSERT_TRUE(one.ok() && both.ok());
    EXPECT_NEAR(one->loss, both->loss, 1e-4) << number;
    EXPECT_NEAR(one->gradient_norm / both->gradient_norm, 1, 1e-3) << number;
  }
  ExpectSameWeights();
}

TEST_P(SharedTrainingTest, StepsOnWordsDrawnAreThoseOfOneDevice) {
  for (int number = 1; number <= 10; ++number) {
    const PolicyBatch batch = SomeChoices(number == 5 ? 1 : 7, 30, uint64_t(number));
    const Result<std::vector<float>> logs = trainer->LogProbabilities(batch), theirs = shared->LogProbabilities(batch);
    ASSERT_TRUE(logs.ok() && theirs.ok());
    for (size_t i = 0; i < logs->size(); ++i) ASSERT_NEAR((*logs)[i], (*theirs)[i], 1e-4) << i;
    const PolicyOptions options{.entropy_weight = 0.01};
    const Result<PolicyResult> one = trainer->PolicyStep(batch, number, {}, options);
    const Result<PolicyResult> both = shared->PolicyStep(batch, number, {}, options);
    ASSERT_TRUE(one.ok() && both.ok());
    EXPECT_NEAR(one->loss, both->loss, 1e-4);
    EXPECT_NEAR(one->kl, both->kl, 1e-4);
    EXPECT_NEAR(one->entropy, both->entropy, 1e-4);
    EXPECT_NEAR(one->clip_fraction, both->clip_fraction, 1e-6);
    EXPECT_GT(one->clip_fraction, 0);
    EXPECT_NEAR(one->gradient_norm / both->gradient_norm, 1, 1e-3);
  }
  ExpectSameWeights();
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedTrainingTest, testing::Values("cpu,cpu", "cpu,cpu,cpu,cpu"),
                         [](const auto& devices) { return devices.index == 0 ? "Two" : "Four"; });

TEST_F(TrainerLibraryTest, WordsDrawnThatAreNotInTheOrderOfTheirRowsAreRefused) {
  PolicyBatch batch = SomeChoices(4, 20, 1);
  std::swap(batch.rows.front(), batch.rows.back());
  EXPECT_EQ(trainer->LogProbabilities(batch).status().message(),
            "torch: words drawn are not in the order of their rows");
}

TEST_F(TrainerLibraryTest, ADeviceThatIsNotThereIsRefused) {
  const auto opened = OpenTorchTrainer(SmallConfig(), "sundial");
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(opened.status().message().starts_with("torch does not train on sundial: ")) << opened.status().message();
  EXPECT_EQ(opened.status().message().find('\n'), std::string::npos);
}

// Prompts of different lengths, and weights that make some words much likelier than others.
TextRequest SomeRequest(const TokenBatch& batch, double temperature) {
  TextRequest request{.most_words = 12, .end = 3, .temperature = temperature, .seed = 7};
  for (int row = 0; row < batch.rows; ++row) {
    const auto begin = batch.tokens.begin() + row * batch.length;
    request.prompts.push_back({begin, begin + 5 + 3 * row});
  }
  return request;
}

PolicyModel DecidedModel() {
  PolicyModel model = NewModel(SmallConfig(), 3);
  for (const NamedWeights& weights : WeightsOf(model))
    for (float& value : *weights.values) value *= weights.shape.size() == 1 ? 1.2f : 6;
  return model;
}

// Prompts and their answers as rows whose words are all choices.
PolicyBatch ChoicesOf(const TextRequest& request, const std::vector<SampledText>& texts) {
  PolicyBatch batch;
  std::vector<WeightedTokens> rows;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<Token> row = request.prompts[i];
    for (const Token word : texts[i].words) {
      batch.rows.push_back(int32_t(i)), batch.positions.push_back(int32_t(row.size()));
      row.push_back(word);
    }
    rows.push_back({row, std::vector<float>(row.size(), 0.0f)});
  }
  batch.texts = BatchOf(rows);
  batch.AllowAll();
  return batch;
}

TEST_F(TrainerLibraryTest, ATextIsDrawnWordByWordAsTheModelSays) {
  ASSERT_TRUE(PutModel(DecidedModel(), *trainer).ok());
  const TokenBatch batch = SomeBatch(3, 20, 5);
  const TextRequest request = SomeRequest(batch, 0);
  const Result<std::vector<SampledText>> texts = trainer->Sample(request);
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  ASSERT_EQ(texts->size(), 3u);
  const size_t words = TokenVocabulary().size();
  for (size_t i = 0; i < texts->size(); ++i) {
    std::vector<Token> row = request.prompts[i];
    for (const Token word : (*texts)[i].words) {
      const std::vector<float> logits = *trainer->Logits(BatchOf({{row, std::vector<float>(row.size())}}));
      EXPECT_EQ(word, std::max_element(logits.end() - long(words), logits.end()) - (logits.end() - long(words)));
      row.push_back(word);
    }
    EXPECT_TRUE((*texts)[i].is_finished || (*texts)[i].words.size() == 12) << i;
  }
}

// The numbers in [0, 1) that a seed draws for the words of a row.
class RowChances {
 public:
  RowChances(uint64_t seed, uint32_t row) : seeds_{uint32_t(seed), uint32_t(seed >> 32), row}, random_(seeds_) {}
  double Next() { return double(random_() >> 11) * 0x1p-53; }

 private:
  std::seed_seq seeds_;
  std::mt19937_64 random_;
};

Token DrawnFrom(std::span<const float> logits, double temperature, double chance) {
  double largest = logits[0], sum = 0;
  for (const float logit : logits) largest = std::max(largest, double(logit));
  std::vector<double> parts;
  for (const float logit : logits) parts.push_back(std::exp((double(logit) - largest) / temperature));
  for (const double part : parts) sum += part;
  double before = 0;
  for (size_t word = 0; word < parts.size(); ++word)
    if (before += parts[word]; before > chance * sum) return Token(word);
  return Token(parts.size() - 1);
}

// A row by itself, a word at a time, from the whole text before it.
std::vector<Token> DrawnNaively(const TextRequest& request, size_t row, Trainer& trainer) {
  RowChances chances(request.seed, uint32_t(row));
  std::vector<Token> text = request.prompts[row], answer;
  while (int(answer.size()) < request.most_words && text.size() < size_t(SmallConfig().positions)) {
    const std::vector<float> logits = *trainer.Logits(BatchOf({{text, std::vector<float>(text.size())}}));
    const std::span<const float> last = std::span(logits).last(TokenVocabulary().size());
    answer.push_back(DrawnFrom(last, request.temperature, chances.Next()));
    if (answer.back() == request.end) break;
    text.push_back(answer.back());
  }
  return answer;
}

// Prompts of 1 to 47 words, the model's positions less one. Some stand twice; rows end early, late and not at all.
TEST_F(TrainerLibraryTest, RowsOfAllLengthsGetTheTextsThatEachGetsAlone) {
  ASSERT_TRUE(PutModel(DecidedModel(), *trainer).ok());
  const TokenBatch batch = SomeBatch(1, 47, 5);
  TextRequest request{.most_words = 40, .end = 3, .temperature = 2.5, .seed = 11};
  for (const int length : {9, 1, 30, 9, 47, 20, 9, 30, 2, 46, 9, 5})
    request.prompts.push_back({batch.tokens.begin(), batch.tokens.begin() + length});
  request.prompts[6][0] = 8;
  const std::vector<SampledText> first = *trainer->Sample(request);
  std::map<Token, int> drawn;
  for (const SampledText& text : first)
    for (const Token word : text.words) ++drawn[word];
  request.end = std::max_element(drawn.begin(), drawn.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  const Result<std::vector<SampledText>> texts = trainer->Sample(request);
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  size_t early = 0, late = 0;
  for (size_t row = 0; row < texts->size(); ++row) {
    EXPECT_EQ((*texts)[row].words, DrawnNaively(request, row, *trainer)) << row;
    ((*texts)[row].words.size() <= 32 ? early : late) += 1;
  }
  EXPECT_GE(early, 6u);  // so many that rows are dropped
  EXPECT_GE(late, 1u);
}

TEST_F(TrainerLibraryTest, ADrawnWordHasItsLogProbabilityAmongAllWords) {
  ASSERT_TRUE(PutModel(DecidedModel(), *trainer).ok());
  TextRequest request = SomeRequest(SomeBatch(3, 20, 5), 2);
  request.top_p = 0.9;
  const std::vector<SampledText> texts = *trainer->Sample(request);
  const Result<std::vector<float>> logs = trainer->LogProbabilities(ChoicesOf(request, texts));
  ASSERT_TRUE(logs.ok()) << logs.status().message();
  size_t next = 0;
  for (const SampledText& text : texts)
    for (const float log : text.logs) EXPECT_NEAR(log, (*logs)[next++], 1e-3);
  EXPECT_EQ(next, logs->size());
}

TEST_F(TrainerLibraryTest, ASeedDrawsTheSameTextsAndAnotherOthers) {
  ASSERT_TRUE(PutModel(NewModel(SmallConfig(), 3), *trainer).ok());
  TextRequest request = SomeRequest(SomeBatch(3, 20, 5), 10);
  const std::vector<SampledText> once = *trainer->Sample(request), again = *trainer->Sample(request);
  request.seed = 8;
  const std::vector<SampledText> other = *trainer->Sample(request);
  EXPECT_EQ(once[1].words, again[1].words);
  EXPECT_NE(once[1].words, other[1].words);
}

TEST_F(TrainerLibraryTest, WordsAreDrawnAsOftenAsTheModelSays) {
  ASSERT_TRUE(PutModel(DecidedModel(), *trainer).ok());
  TextRequest request = SomeRequest(SomeBatch(1, 20, 5), 1);
  request.most_words = 1, request.prompts.assign(600, std::vector<Token>(request.prompts[0]));
  std::map<Token, int> drawn;
  std::map<Token, double> share;
  const std::vector<SampledText> texts = *trainer->Sample(request);
  for (const SampledText& text : texts) {
    ++drawn[text.words[0]];
    share[text.words[0]] = std::exp(text.logs[0]);
  }
  ASSERT_GT(drawn.size(), 1u);
  for (const auto& [word, count] : drawn) EXPECT_NEAR(count / 600.0, share[word], 0.08) << word;
}

TEST_F(TrainerLibraryTest, ASmallShareOfTheProbabilityLeavesTheLikeliestWord) {
  ASSERT_TRUE(PutModel(DecidedModel(), *trainer).ok());
  TextRequest request = SomeRequest(SomeBatch(3, 20, 5), 1);
  request.top_p = 1e-6;
  const std::vector<SampledText> drawn = *trainer->Sample(request);
  request.top_p = 1, request.temperature = 0;
  const std::vector<SampledText> likeliest = *trainer->Sample(request);
  for (size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(drawn[i].words, likeliest[i].words) << i;
}

TEST_F(TrainerLibraryTest, APromptThatLeavesNoRoomIsRefused) {
  TextRequest request{.prompts = {std::vector<Token>(48)}, .most_words = 1};
  EXPECT_NE(trainer->Sample(request).status().message().find("positions"), std::string::npos);
  request.prompts = {{}};
  EXPECT_FALSE(trainer->Sample(request).ok());
}

TEST_F(TrainerLibraryTest, ProductsInBf16AreNearThoseInF32) {
  const std::unique_ptr<Trainer> half = *OpenTorchTrainer(SmallConfig(), "cpu", ProductType::kBf16);
  const TokenBatch batch = SomeBatch(4, 40, 2);
  std::vector<double> losses;
  for (Trainer* each : {trainer.get(), half.get()}) {
    ASSERT_TRUE(PutModel(NewModel(SmallConfig(), 1), *each).ok());
    for (int64_t step = 1; step <= 20; ++step) ASSERT_TRUE(each->Step(batch, step, {.learning_rate = 3e-3}).ok());
    losses.push_back(*each->Loss(batch));
  }
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_NEAR(losses[1], losses[0], 0.05 * losses[0]);
}

}  // namespace
}  // namespace gemmsmith
