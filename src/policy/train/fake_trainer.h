// Without torch, for tests: weights walk by what they are shown, so that a batch or a step too many or too few shows in
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "policy/train/trainer.h"
#include "policy/vocabulary.h"

namespace gemmsmith {

// A model small enough to take no time.
inline ModelConfig SmallConfig() {
  return {.words = int(TokenVocabulary().size()), .positions = 512, .width = 16, .layers = 1, .heads = 2, .hidden = 32};
}

class FakeTrainer : public Trainer {
 public:
  std::string Version() const override { return "fake"; }
  Result<StepResult> Step(const TokenBatch& batch, int64_t number, const StepOptions& options) override {
    double sum = 0;
    for (size_t i = 0; i < batch.tokens.size(); ++i) sum += batch.tokens[i] * double(batch.weights[i]) * double(i % 17);
    for (auto& [name, values] : tensors_)
      for (float& value : values) value = 0.5f * value + float(options.learning_rate * std::sin(sum + double(number)));
    return StepResult{std::abs(std::sin(sum)), 1};
  }
  Result<double> Loss(const TokenBatch&) override { return 0.5; }
  Result<PolicyResult> PolicyStep(const PolicyBatch&, int64_t, const StepOptions&, const PolicyOptions&) override {
    return PolicyResult();
  }
  Result<std::vector<float>> LogProbabilities(const PolicyBatch& batch) override {
    return std::vector<float>(batch.rows.size());
  }
  // Each text is its prompt, and the end.
  Result<std::vector<SampledText>> Sample(const TextRequest& request) override {
    std::vector<SampledText> texts;
    for (const std::vector<Token>& prompt : request.prompts) {
      SampledText& text = texts.emplace_back(SampledText{.words = prompt, .is_finished = true});
      text.words.push_back(request.end);
      text.logs.resize(text.words.size());
    }
    return texts;
  }
  Result<std::vector<float>> Logits(const TokenBatch&) override { return std::vector<float>(); }
  Status Put(const std::string& name, const std::vector<float>& values) override {
    tensors_[name] = values;
    return OkStatus();
  }
  Status Get(const std::string& name, std::span<float> values) override {
    const std::vector<float>& held = tensors_[name];
    std::copy_n(held.begin(), std::min(held.size(), values.size()), values.begin());
    return OkStatus();
  }

 private:
  std::map<std::string, std::vector<float>> tensors_;
};

}  // namespace gemmsmith
