// Trains a model, one gradient step at a time. Implemented by libtorch (trainer_library.h) and by a fake of the tests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "policy/model.h"
#include "policy/vocabulary.h"

namespace gemmsmith {

// Rows of one length. The loss of predicting a word counts by its weight; that of a row's first word never does.
struct TokenBatch {
  int rows = 0, length = 0;
  std::vector<int32_t> tokens;
  std::vector<float> weights;
};
struct WeightedTokens {
  std::vector<Token> tokens;
  std::vector<float> weights;  // as many
};
// As long as the longest row; what follows the end of a shorter one has no weight.
TokenBatch BatchOf(const std::vector<WeightedTokens>& rows);

// AdamW, gradients cut to a norm.
struct StepOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1, largest_norm = 1;
};

struct StepResult {
  double loss = 0;
  double gradient_norm = 0;
};

// Words that a policy drew, each among those that its mask allowed there, and what came of it.
struct PolicyBatch {
  TokenBatch texts;                         // contexts and plans; their weights do not count
  std::vector<int32_t> rows, positions;     // of each word drawn, row by row
  std::vector<float> weights;               // its share in the loss
  std::vector<float> advantages;            // its plan's
  std::vector<float> old_logs;              // log probability when it was drawn
  std::vector<float> reference_logs;        // and under the reference policy
  std::vector<int64_t> allowed_from = {0};  // where in `allowed` its words begin, and behind the last one their end
  std::vector<int32_t> allowed;
  std::vector<float> log_prior;  // of each of these, added to the policy's logit
  // Every word of the model was allowed everywhere.
  void AllowAll() { allowed_from.assign(rows.size() + 1, 0); }
};

// Texts to go on with.
struct TextRequest {
  std::vector<std::vector<Token>> prompts;
  int most_words = 0;  // of an answer; the model's positions end it too
  Token end = 0;       // the last word of an answer
  double temperature = 1;
  double top_p = 1;  // the likeliest words that hold this share are drawn from
  uint64_t seed = 1;
};
struct SampledText {
  std::vector<Token> words;  // the end among them
  std::vector<float> logs;   // log probability of each among all words, at temperature 1
  bool is_finished = false;  // it came to the end
};

// PPO's clip on the ratio of new to old probability; KL to the reference (k3); a bonus for entropy.
struct PolicyOptions {
  double clip = 0.2;
  double kl_weight = 0.02;
  double entropy_weight = 0;
};

struct PolicyResult {
  double loss = 0;
  double gradient_norm = 0;
  double kl = 0;
  double entropy = 0;
  double clip_fraction = 0;
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual std::string Version() const = 0;
  // `number` counts from 1.
  virtual Result<StepResult> Step(const TokenBatch& batch, int64_t number, const StepOptions& options) = 0;
  virtual Result<double> Loss(const TokenBatch& batch) = 0;
  // One step up the advantages.
  virtual Result<PolicyResult> PolicyStep(const PolicyBatch& batch, int64_t number, const StepOptions& options,
                                          const PolicyOptions& policy) = 0;
  // The log probability of each drawn word among the allowed ones.
  virtual Result<std::vector<float>> LogProbabilities(const PolicyBatch& batch) = 0;
  // One text for each prompt. The same request draws the same texts.
  virtual Result<std::vector<SampledText>> Sample(const TextRequest& request) = 0;
  // By position and word.
  virtual Result<std::vector<float>> Logits(const TokenBatch& batch) = 0;
  // The tensors of WeightsOf(model) by their names; behind "first." and "second.", the moments.
  virtual Status Put(const std::string& name, const std::vector<float>& values) = 0;
  virtual Status Get(const std::string& name, std::span<float> values) = 0;
};

// Weights, and moments of 0.
Status PutModel(const PolicyModel& model, Trainer& trainer);
Result<PolicyModel> GetModel(const ModelConfig& config, Trainer& trainer);

}  // namespace gemmsmith
