#include "policy/inference.h"

#include <algorithm>
#include <cmath>

#include "policy/dense_product.h"
#include "policy/float_rows.h"

namespace gemmsmith {

namespace {

// y[rows, outputs] = x[rows, inputs] * matrix[inputs, outputs]
void Apply(const std::vector<float>& matrix, const float* x, int rows, int inputs, float* y, bool adds = false) {
  const int outputs = int(matrix.size()) / inputs;
  Multiply({rows, outputs, inputs, x, inputs, matrix.data(), outputs, false, y, outputs, adds});
}

}  // namespace

Inference::Inference(const PolicyModel& model, std::span<const std::vector<Token>> contexts, int branches, int longest)
    : model_(model), config_(model.config), longest_(longest), contexts_(contexts.size()) {
  const size_t layers = model.layers.size(), branch_numbers = size_t(branches) * longest * config_.width;
  int rows = 0;
  for (size_t i = 0; i < contexts.size(); ++i) {
    Context& context = contexts_[i];
    context.first_row = rows;
    context.length = int(contexts[i].size());
    GEMMSMITH_CHECK(context.length > 0 && context.length + longest <= config_.positions,
                    "{} words and {} more, of {} positions", context.length, longest, config_.positions);
    const size_t numbers = size_t(context.length) * config_.width;
    context.layers.assign(layers, {std::vector<float>(numbers), std::vector<float>(numbers)});
    context.branch_layers.assign(layers, {std::vector<float>(branch_numbers), std::vector<float>(branch_numbers)});
    context.branch_lengths.assign(size_t(branches), 0);
    rows += context.length;
  }
  ReadContexts(contexts);
}

void Inference::PutWord(Token token, int position, float* row) const {
  const float* const embedding = &model_.embedding[size_t(token) * config_.width];
  const float* const at = &model_.position[size_t(position) * config_.width];
  for (int i = 0; i < config_.width; ++i) row[i] = embedding[i] + at[i];
}

template <class Attend>
void Inference::RunLayers(int rows, const Attend& attend) {
  const int width = config_.width;
  normed_.resize(size_t(rows) * width);
  qkv_.resize(size_t(rows) * 3 * width);
  attended_.resize(size_t(rows) * width);
  hidden_.resize(size_t(rows) * config_.hidden);
  const float query_scale = 1 / std::sqrt(float(config_.head_width()));
  for (size_t i = 0; i < model_.layers.size(); ++i) {
    const LayerWeights& layer = model_.layers[i];
    for (int row = 0; row < rows; ++row)
      Norm(&x_[size_t(row) * width], layer.attention_norm, &normed_[size_t(row) * width]);
    Apply(layer.qkv, normed_.data(), rows, width, qkv_.data());
    for (int row = 0; row < rows; ++row) Scale(query_scale, width, &qkv_[size_t(row) * 3 * width]);
    attend(int(i));
    Apply(layer.out, attended_.data(), rows, width, x_.data(), true);
    AddHidden(layer, rows);
  }
}

void Inference::AddHidden(const LayerWeights& layer, int rows) {
  const int width = config_.width;
  for (int row = 0; row < rows; ++row) Norm(&x_[size_t(row) * width], layer.hidden_norm, &normed_[size_t(row) * width]);
  Apply(layer.up, normed_.data(), rows, width, hidden_.data());
  SquarePositive(hidden_);
  Apply(layer.down, hidden_.data(), rows, config_.hidden, x_.data(), true);
}

void Inference::ReadContexts(std::span<const std::vector<Token>> contexts) {
  const int width = config_.width;
  const int rows = contexts_.empty() ? 0 : contexts_.back().first_row + contexts_.back().length;
  x_.resize(size_t(rows) * width);
  for (size_t i = 0; i < contexts.size(); ++i)
    for (int at = 0; at < contexts_[i].length; ++at)
      PutWord(contexts[i][size_t(at)], at, &x_[size_t(contexts_[i].first_row + at) * width]);
  RunLayers(rows, [&](int layer) {
    for (Context& context : contexts_) AttendWithin(context, layer);
  });
  after_contexts_.resize(contexts_.size() * size_t(width));
  for (size_t i = 0; i < contexts_.size(); ++i)
    Norm(&x_[size_t(contexts_[i].first_row + contexts_[i].length - 1) * width], model_.final_norm,
         &after_contexts_[i * size_t(width)]);
}

// Every word of a context attends to those up to itself; keys and values are kept for the branches.
void Inference::AttendWithin(Context& context, int layer) {
  const int width = config_.width, head_width = config_.head_width(), length = context.length;
  const float* const qkv = &qkv_[size_t(context.first_row) * 3 * width];
  KeysAndValues& kept = context.layers[size_t(layer)];
  for (int at = 0; at < length; ++at) {
    const float* const row = qkv + size_t(at) * 3 * width;
    std::copy_n(row + width, width, &kept.keys[size_t(at) * width]);
    std::copy_n(row + 2 * width, width, &kept.values[size_t(at) * width]);
  }
  weights_.resize(size_t(length) * length);
  for (int head = 0; head < config_.heads; ++head) {
    const int column = head * head_width;
    Multiply({length, length, head_width, qkv + column, 3 * width, &kept.keys[size_t(column)], width, true,
              weights_.data(), length});
    for (int at = 0; at < length; ++at) {
      float* const weights = &weights_[size_t(at) * length];
      Softmax(weights, at + 1);
      std::fill(weights + at + 1, weights + length, 0.0f);
    }
    Multiply({length, head_width, length, weights_.data(), length, &kept.values[size_t(column)], width, false,
              &attended_[size_t(context.first_row) * width + column], width});
  }
}

void Inference::Append(std::span<const NextWord> words) {
  const int width = config_.width, rows = int(words.size());
  x_.resize(size_t(rows) * width);
  for (int row = 0; row < rows; ++row) {
    const NextWord& word = words[size_t(row)];
    const Context& context = contexts_[size_t(word.context)];
    const int length = context.branch_lengths[size_t(word.branch)];
    GEMMSMITH_CHECK(length < longest_, "a branch of {} words already", length);
    GEMMSMITH_CHECK(row == 0 || words[size_t(row) - 1].context <= word.context, "contexts are not in order");
    PutWord(word.token, context.length + length, &x_[size_t(row) * width]);
  }
  RunLayers(rows, [&](int layer) {
    KeepKeysAndValues(words, layer);
    for (size_t first = 0, next; first < words.size(); first = next) {
      for (next = first; next < words.size() && words[next].context == words[first].context;) ++next;
      AttendFrom(words.subspan(first, next - first), int(first), layer);
    }
  });
  for (int row = 0; row < rows; ++row) {
    const NextWord& word = words[size_t(row)];
    ++contexts_[size_t(word.context)].branch_lengths[size_t(word.branch)];
    Norm(&x_[size_t(row) * width], model_.final_norm, &normed_[size_t(row) * width]);
  }
}

void Inference::Fork(int context, int from, int to) {
  Context& of = contexts_[size_t(context)];
  const size_t stride = size_t(longest_) * config_.width;
  const size_t numbers = size_t(of.branch_lengths[size_t(from)]) * config_.width;
  for (KeysAndValues& kept : of.branch_layers)
    for (std::vector<float>* const values : {&kept.keys, &kept.values})
      std::copy_n(values->begin() + long(size_t(from) * stride), numbers, values->begin() + long(size_t(to) * stride));
  of.branch_lengths[size_t(to)] = of.branch_lengths[size_t(from)];
}

void Inference::KeepKeysAndValues(std::span<const NextWord> words, int layer) {
  const int width = config_.width;
  for (size_t row = 0; row < words.size(); ++row) {
    Context& context = contexts_[size_t(words[row].context)];
    const int branch = words[row].branch;
    const size_t at = (size_t(branch) * longest_ + context.branch_lengths[size_t(branch)]) * width;
    KeysAndValues& kept = context.branch_layers[size_t(layer)];
    const float* const qkv = &qkv_[row * 3 * width];
    std::copy_n(qkv + width, width, &kept.keys[at]);
    std::copy_n(qkv + 2 * width, width, &kept.values[at]);
  }
}

// Words of branches of one context attend to all of it, which is two products a head, and to their own branch up to
// themselves, which is read once for all heads.
void Inference::AttendFrom(std::span<const NextWord> words, int first_row, int layer) {
  const int width = config_.width, head_width = config_.head_width(), rows = int(words.size());
  const Context& context = contexts_[size_t(words[0].context)];
  const KeysAndValues& of_context = context.layers[size_t(layer)];
  const KeysAndValues& of_branches = context.branch_layers[size_t(layer)];
  const int length = context.length, most = length + longest_;
  const float* const queries = &qkv_[size_t(first_row) * 3 * width];
  float* const attended = &attended_[size_t(first_row) * width];
  weights_.resize(size_t(config_.heads) * rows * most);
  const auto weights_of = [&](int head, int row) { return &weights_[(size_t(head) * rows + row) * most]; };
  const auto for_each_branch = [&](const auto& attend) {
    for (int row = 0; row < rows; ++row) {
      const int branch = words[size_t(row)].branch, own = context.branch_lengths[size_t(branch)] + 1;
      for (int head = 0; head < config_.heads; ++head)
        attend(row, head, own, size_t(branch) * longest_ * width + size_t(head) * head_width);
    }
  };
  for (int head = 0; head < config_.heads; ++head)
    Multiply({rows, length, head_width, queries + head * head_width, 3 * width,
              &of_context.keys[size_t(head) * head_width], width, true, weights_of(head, 0), most});
  for_each_branch([&](int row, int head, int own, size_t first) {
    float* const weights = weights_of(head, row);
    DotRows(queries + size_t(row) * 3 * width + head * head_width, head_width, &of_branches.keys[first], width, own,
            weights + length);
    Softmax(weights, length + own);
  });
  for (int head = 0; head < config_.heads; ++head)
    Multiply({rows, head_width, length, weights_of(head, 0), most, &of_context.values[size_t(head) * head_width], width,
              false, attended + head * head_width, width});
  for_each_branch([&](int row, int head, int own, size_t first) {
    AddScaledRows(weights_of(head, row) + length, &of_branches.values[first], width, own, head_width,
                  attended + size_t(row) * width + head * head_width);
  });
}

std::span<const float> Inference::AfterContext(int context) const {
  return std::span(after_contexts_).subspan(size_t(context) * config_.width, size_t(config_.width));
}

std::span<const float> Inference::AfterWord(int row) const {
  return std::span(normed_).subspan(size_t(row) * config_.width, size_t(config_.width));
}

std::vector<float> Inference::Logits(std::span<const float> state, std::span<const Token> tokens) const {
  std::vector<float> logits;
  for (const Token token : tokens)
    logits.push_back(Dot(&model_.embedding[size_t(token) * config_.width], state.data(), config_.width));
  return logits;
}

}  // namespace gemmsmith
