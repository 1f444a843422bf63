// The model's forward pass on the calling thread. A context is read once; many branches then continue from it, a word
// at a time, over cached keys and values.
#pragma once

#include <span>
#include <vector>

#include "policy/model.h"
#include "policy/vocabulary.h"

namespace gemmsmith {

struct NextWord {
  int context = 0;
  int branch = 0;
  Token token = 0;
};

class Inference {
 public:
  // Reads the contexts, all of them with words. `branches` may go on from each, by at most `longest` words. The model
  // outlives this. CHECKs that everything fits into its positions.
  Inference(const PolicyModel& model, std::span<const std::vector<Token>> contexts, int branches, int longest);

  // The model's state after a context's last word. The logits of the next word are computed from it.
  std::span<const float> AfterContext(int context) const;
  // Appends a word to each of some branches: contexts in ascending order, no branch twice.
  void Append(std::span<const NextWord> words);
  // The same of the word that was `row`-th in the last Append().
  std::span<const float> AfterWord(int row) const;
  // Makes a branch of a context go on from where another one of it stands.
  void Fork(int context, int from, int to);

  // The logits of these words only; masked words cost nothing.
  std::vector<float> Logits(std::span<const float> state, std::span<const Token> tokens) const;

 private:
  // Keys and values of one layer, [positions, width].
  struct KeysAndValues {
    std::vector<float> keys, values;
  };
  struct Context {
    int first_row = 0;  // when the contexts were read
    int length = 0;
    std::vector<KeysAndValues> layers;
    std::vector<KeysAndValues> branch_layers;  // [branches * longest, width]
    std::vector<int> branch_lengths;
  };

  void PutWord(Token token, int position, float* row) const;
  void ReadContexts(std::span<const std::vector<Token>> contexts);
  // Runs all layers over the rows of x_; attend(layer, query_key_value, attended) is what differs.
  template <class Attend>
  void RunLayers(int rows, const Attend& attend);
  // x += down * relu(up * norm(x))^2
  void AddHidden(const LayerWeights& layer, int rows);
  void AttendWithin(Context& context, int layer);
  void KeepKeysAndValues(std::span<const NextWord> words, int layer);
  void AttendFrom(std::span<const NextWord> words, int first_row, int layer);

  const PolicyModel& model_;
  const ModelConfig& config_;
  const int longest_;
  std::vector<Context> contexts_;
  std::vector<float> after_contexts_;  // [contexts, width]
  // Scratch, row by row: the residual stream, what a norm made of it, queries with keys and values, what attention gave
  // back, the feed-forward part, weights of attention.
  std::vector<float> x_, normed_, qkv_, attended_, hidden_, weights_;
};

}  // namespace gemmsmith
