// The model of docs/policy_model.md on one device of torch.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "policy/train/gemmsmith_trainer.h"

namespace gemmsmith {

// The numbers of one weight within the numbers of all weights of a model.
struct WeightSlice {
  std::string name;
  std::vector<int64_t> shape;
  int64_t begin = 0, count = 0;
};

class WeightSlices {
 public:
  explicit WeightSlices(const GemmsmithTrainerModel& model) {
    Add("embedding", {model.words, model.width});
    Add("position", {model.positions, model.width});
    for (int i = 0; i < model.layers; ++i) {
      const std::string prefix = "layers." + std::to_string(i) + ".";
      Add(prefix + "attention_norm", {model.width});
      Add(prefix + "qkv", {model.width, 3 * model.width});
      Add(prefix + "out", {model.width, model.width});
      Add(prefix + "hidden_norm", {model.width});
      Add(prefix + "up", {model.width, model.hidden});
      Add(prefix + "down", {model.hidden, model.width});
    }
    Add("final_norm", {model.width});
  }

  const std::vector<WeightSlice>& all() const { return all_; }
  int64_t count() const { return all_.back().begin + all_.back().count; }
  const WeightSlice* Find(const std::string& name) const {
    for (const WeightSlice& slice : all_)
      if (slice.name == name) return &slice;
    return nullptr;
  }

  // 1 where AdamW lets weights decay: matrices of layers, not norms and embeddings.
  at::Tensor Decaying() const {
    at::Tensor decaying = at::zeros({count()}, at::kFloat);
    for (const WeightSlice& slice : all_)
      if (slice.shape.size() == 2 && slice.name.rfind("layers.", 0) == 0) Of(slice, decaying).fill_(1);
    return decaying;
  }

  static at::Tensor Of(const WeightSlice& slice, const at::Tensor& numbers) {
    return numbers.narrow(0, slice.begin, slice.count).view(slice.shape);
  }

 private:
  void Add(std::string name, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    const int64_t begin = all_.empty() ? 0 : this->count();
    all_.push_back({std::move(name), std::move(shape), begin, count});
  }

  std::vector<WeightSlice> all_;
};

struct Layer {
  at::Tensor attention_norm, qkv, out, hidden_norm, up, down;
};

// Weights in f32, and what a layer makes of its input x: [rows, length, width].
struct TorchModel {
  using Tensor = at::Tensor;

  // `weights` are those of WeightSlices, in its order.
  TorchModel(const GemmsmithTrainerModel& model_sizes, at::ScalarType product_type, const std::vector<Tensor>& weights)
      : sizes(model_sizes), products(product_type) {
    size_t next = 0;
    const auto take = [&] { return weights.at(next++); };
    embedding = take(), position = take();
    for (int i = 0; i < sizes.layers; ++i) {
      Layer& layer = layers.emplace_back();
      for (Tensor* tensor : {&layer.attention_norm, &layer.qkv, &layer.out, &layer.hidden_norm, &layer.up, &layer.down})
        *tensor = take();
    }
    final_norm = take();
  }

  static Tensor Norm(const Tensor& x, const Tensor& weights) { return at::rms_norm(x, weights.sizes(), weights, 1e-5); }

  Tensor Times(const Tensor& x, const Tensor& weights) const { return x.to(products).matmul(weights.to(products)); }

  // Queries, keys and values: [3, rows, heads, length, head width].
  Tensor Heads(const Layer& layer, const Tensor& x) const {
    return Times(Norm(x, layer.attention_norm), layer.qkv)
        .view({x.size(0), x.size(1), 3, sizes.heads, sizes.width / sizes.heads})
        .permute({2, 0, 3, 1, 4});
  }

  Tensor BehindHeads(const Layer& layer, const Tensor& x, const Tensor& heads) const {
    const Tensor attended = x + Times(heads.transpose(1, 2).flatten(2), layer.out);
    return attended + Times(Times(Norm(attended, layer.hidden_norm), layer.up).relu().square(), layer.down);
  }

  // Of whole texts: a word sees those before it.
  Tensor BehindCausalHeads(const Layer& layer, const Tensor& x, const Tensor& qkv) const {
    return BehindHeads(layer, x, at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {}, 0, true));
  }

  Tensor WordLogits(const Tensor& x) const { return Times(Norm(x, final_norm), embedding.t()).to(at::kFloat); }

  GemmsmithTrainerModel sizes;
  at::ScalarType products;  // what matrices are multiplied in; sums and everything else are in f32
  Tensor embedding, position, final_norm;
  std::vector<Layer> layers;
};

}  // namespace gemmsmith
