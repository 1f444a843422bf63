#include "policy/train/trainer.h"

#include <algorithm>

namespace gemmsmith {

TokenBatch BatchOf(const std::vector<WeightedTokens>& rows) {
  TokenBatch batch{.rows = int(rows.size())};
  for (const WeightedTokens& row : rows) batch.length = std::max(batch.length, int(row.tokens.size()));
  batch.tokens.resize(size_t(batch.rows) * batch.length);
  batch.weights.resize(batch.tokens.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    GEMMSMITH_CHECK(rows[i].weights.size() == rows[i].tokens.size(), "{} weights", rows[i].weights.size());
    std::copy(rows[i].tokens.begin(), rows[i].tokens.end(), batch.tokens.begin() + long(i * size_t(batch.length)));
    std::copy(rows[i].weights.begin(), rows[i].weights.end(), batch.weights.begin() + long(i * size_t(batch.length)));
  }
  return batch;
}

Status PutModel(const PolicyModel& model, Trainer& trainer) {
  PolicyModel copy = model;
  for (const NamedWeights& weights : WeightsOf(copy)) {
    RETURN_IF_ERROR(trainer.Put(weights.name, *weights.values));
    const std::vector<float> zeros(weights.values->size());
    RETURN_IF_ERROR(trainer.Put("first." + weights.name, zeros));
    RETURN_IF_ERROR(trainer.Put("second." + weights.name, zeros));
  }
  return OkStatus();
}

Result<PolicyModel> GetModel(const ModelConfig& config, Trainer& trainer) {
  PolicyModel model = EmptyModel(config);
  for (const NamedWeights& weights : WeightsOf(model)) {
    RETURN_IF_ERROR(trainer.Get(weights.name, *weights.values));
  }
  return model;
}

}  // namespace gemmsmith
