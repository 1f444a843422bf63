#include "policy/inference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/reference_forward.h"

namespace gemmsmith {
namespace {

// Weights far larger than at the start of training, so that attention is anything but even.
PolicyModel SharpModel(ModelConfig config) {
  config.words = int(TokenVocabulary().size());
  PolicyModel model = NewModel(config, 7);
  for (const NamedWeights& weights : WeightsOf(model))
    for (size_t i = 0; i < weights.values->size(); ++i)
      (*weights.values)[i] *= weights.shape.size() == 1 ? 1 + 0.1f * float(i % 7) : 8;
  return model;
}

std::vector<Token> SomeTokens(size_t count, Random& random) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = Token(random.Below(TokenVocabulary().size()));
  return tokens;
}

std::vector<Token> AllWords() {
  std::vector<Token> words(TokenVocabulary().size());
  for (size_t i = 0; i < words.size(); ++i) words[i] = Token(i);
  return words;
}

void ExpectLogits(const std::vector<float>& logits, const std::vector<double>& expected, const std::string& where) {
  ASSERT_EQ(logits.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < logits.size(); ++i)
    ASSERT_NEAR(logits[i], expected[i], 2e-5 * largest) << where << ", word " << i;
}

// Contexts of different lengths, branches that go on at different times: every state is that of the plain definition.
void ExpectAsByDefinition(const PolicyModel& model) {
  Random random(3);
  const std::vector<std::vector<Token>> contexts = {SomeTokens(1, random), SomeTokens(17, random),
                                                    SomeTokens(40, random)};
  constexpr int kBranches = 3, kLongest = 5;
  Inference inference(model, contexts, kBranches, kLongest);
  for (size_t context = 0; context < contexts.size(); ++context)
    ExpectLogits(inference.Logits(inference.AfterContext(int(context)), AllWords()),
                 ReferenceLogits(model, contexts[context]).back(), "context");
  std::vector<std::vector<std::vector<Token>>> texts(contexts.size());
  for (size_t context = 0; context < contexts.size(); ++context) texts[context].assign(kBranches, contexts[context]);
  for (int step = 0; step < kLongest; ++step) {
    std::vector<NextWord> words;
    for (int context = 0; context < 3; ++context)
      for (int branch = 0; branch < kBranches; ++branch)
        if (random.Below(4) > 0) words.push_back({context, branch, SomeTokens(1, random)[0]});
    inference.Append(words);
    for (size_t row = 0; row < words.size(); ++row) {
      std::vector<Token>& text = texts[size_t(words[row].context)][size_t(words[row].branch)];
      text.push_back(words[row].token);
      ExpectLogits(inference.Logits(inference.AfterWord(int(row)), AllWords()), ReferenceLogits(model, text).back(),
                   "step " + std::to_string(step));
    }
  }
}

TEST(InferenceTest, EveryStateIsThatOfThePlainDefinition) {
  ExpectAsByDefinition(SharpModel({.positions = 64, .width = 32, .layers = 3, .heads = 4, .hidden = 48}));
}

TEST(InferenceTest, SoItIsWithOneHeadAndOneLayer) {
  ExpectAsByDefinition(SharpModel({.positions = 64, .width = 24, .layers = 1, .heads = 1, .hidden = 8}));
}

TEST(InferenceTest, TheDefaultModelToo) {
  PolicyModel model = NewModel(DefaultModelConfig(), 1);
  Random random(4);
  const std::vector<std::vector<Token>> contexts = {SomeTokens(12, random)};
  const Inference inference(model, contexts, 1, 1);
  ExpectLogits(inference.Logits(inference.AfterContext(0), AllWords()), ReferenceLogits(model, contexts[0]).back(), "");
}

}  // namespace
}  // namespace gemmsmith
