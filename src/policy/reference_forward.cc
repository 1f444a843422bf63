#include "policy/reference_forward.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

namespace {

using Row = std::vector<double>;

Row Normalised(const Row& x, const std::vector<float>& weights) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / double(x.size()) + double(kNormEpsilon));
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * double(weights[i]);
  return y;
}

// x times matrix [x.size(), outputs].
Row Times(const Row& x, const std::vector<float>& matrix) {
  Row y(matrix.size() / x.size());
  for (size_t i = 0; i < y.size(); ++i)
    for (size_t j = 0; j < x.size(); ++j) y[i] += x[j] * double(matrix[j * y.size() + i]);
  return y;
}

// By word, how well its embedding meets x.
Row LogitsOf(const Row& x, const std::vector<float>& embedding) {
  Row logits(embedding.size() / x.size());
  for (size_t word = 0; word < logits.size(); ++word)
    for (size_t i = 0; i < x.size(); ++i) logits[word] += x[i] * double(embedding[word * x.size() + i]);
  return logits;
}

void Add(Row& x, const Row& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Attention of one head at one position: the values of all positions up to it, weighted by their keys' match with the
// query.
void Attend(const std::vector<Row>& qkv, size_t position, size_t head, const ModelConfig& config, Row& attended) {
  const size_t width = size_t(config.width), head_width = size_t(config.head_width()), at = head * head_width;
  Row weights(position + 1);
  for (size_t other = 0; other <= position; ++other) {
    for (size_t i = 0; i < head_width; ++i) weights[other] += qkv[position][at + i] * qkv[other][width + at + i];
    weights[other] /= std::sqrt(double(head_width));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  for (size_t other = 0; other <= position; ++other)
    for (size_t i = 0; i < head_width; ++i) attended[at + i] += weights[other] / sum * qkv[other][2 * width + at + i];
}

void AddAttention(const LayerWeights& layer, const ModelConfig& config, std::vector<Row>& x) {
  std::vector<Row> qkv;
  for (const Row& row : x) qkv.push_back(Times(Normalised(row, layer.attention_norm), layer.qkv));
  for (size_t position = 0; position < x.size(); ++position) {
    Row attended(size_t(config.width), 0.0);
    for (size_t head = 0; head < size_t(config.heads); ++head) Attend(qkv, position, head, config, attended);
    Add(x[position], Times(attended, layer.out));
  }
}

void AddHidden(const LayerWeights& layer, std::vector<Row>& x) {
  for (Row& row : x) {
    Row hidden = Times(Normalised(row, layer.hidden_norm), layer.up);
    for (double& value : hidden) value = value > 0 ? value * value : 0;
    Add(row, Times(hidden, layer.down));
  }
}

}  // namespace

std::vector<std::vector<double>> ReferenceLogits(const PolicyModel& model, std::span<const Token> tokens) {
  const size_t width = size_t(model.config.width);
  std::vector<Row> x(tokens.size(), Row(width));
  for (size_t position = 0; position < tokens.size(); ++position)
    for (size_t i = 0; i < width; ++i)
      x[position][i] =
          double(model.embedding[tokens[position] * width + i]) + double(model.position[position * width + i]);
  for (const LayerWeights& layer : model.layers) {
    AddAttention(layer, model.config, x);
    AddHidden(layer, x);
  }
  std::vector<std::vector<double>> logits;
  for (const Row& row : x) logits.push_back(LogitsOf(Normalised(row, model.final_norm), model.embedding));
  return logits;
}

}  // namespace gemmsmith
