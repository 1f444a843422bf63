// libgemmsmith_trainer.so; built by tools/torch_trainer, apart from everything else. The model is that of
// docs/policy_model.md, in f32.
#include "policy/train/gemmsmith_trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/exception_guard.h"

namespace {

using at::Tensor;

constexpr double kNormEpsilon = 1e-5;

gemmsmith::ExceptionGuard guarded;

// What torch_cpu does not need is not linked, so that training on the CPU works where CUDA's libraries are not.
void OpenCuda() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&at::globalContext), &info) == 0)
    throw std::runtime_error("no place is known of torch's libraries");
  const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
  if (dlopen((folder / "libtorch_cuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw std::runtime_error(std::string("torch without CUDA: ") + dlerror());
  // The same seed is to give the same run: products of cuBLAS in an order that stays.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  at::globalContext().setDeterministicAlgorithms(true, false);
  // Of ten bits, as the half precision that weights end in.
  at::globalContext().setAllowTF32CuBLAS(true);
}

struct Weight {
  std::string name;
  Tensor value, first, second;  // the moments are AdamW's
  bool decays = false;          // matrices of layers do; norms and embeddings do not
};

struct Layer {
  Tensor attention_norm, qkv, out, hidden_norm, up, down;
};

Tensor Norm(const Tensor& x, const Tensor& weights) {
  return x * at::rsqrt(x.square().mean(-1, true) + kNormEpsilon) * weights;
}

class Trainer {
 public:
  Trainer(const GemmsmithTrainerModel& model, const std::string& device) : model_(model), device_(device) {
    if (!device_.is_cpu()) OpenCuda();
    embedding_ = Add("embedding", {model.words, model.width});
    position_ = Add("position", {model.positions, model.width});
    for (int i = 0; i < model.layers; ++i) {
      const std::string prefix = "layers." + std::to_string(i) + ".";
      layers_.push_back(
          {Add(prefix + "attention_norm", {model.width}), Add(prefix + "qkv", {model.width, 3 * model.width}),
           Add(prefix + "out", {model.width, model.width}), Add(prefix + "hidden_norm", {model.width}),
           Add(prefix + "up", {model.width, model.hidden}), Add(prefix + "down", {model.hidden, model.width})});
    }
    final_norm_ = Add("final_norm", {model.width});
  }

  Tensor& Find(const std::string& name) {
    for (Weight& weight : weights_) {
      if (name == weight.name) return weight.value;
      if (name == "first." + weight.name) return weight.first;
      if (name == "second." + weight.name) return weight.second;
    }
    throw std::runtime_error("no tensor " + name);
  }

  Tensor Logits(const GemmsmithTrainerBatch& batch) const {
    const Tensor tokens = TokensOf(batch);
    const Tensor ahead = at::ones({batch.length, batch.length}, position_.options().dtype(at::kBool)).triu(1);
    Tensor x = at::embedding(embedding_, tokens) + position_.slice(0, 0, batch.length);
    for (const Layer& layer : layers_) {
      x = x + Attention(layer, Norm(x, layer.attention_norm), ahead).matmul(layer.out);
      x = x + Norm(x, layer.hidden_norm).matmul(layer.up).relu().square().matmul(layer.down);
    }
    return Norm(x, final_norm_).matmul(embedding_.t());
  }

  Tensor Loss(const GemmsmithTrainerBatch& batch) const {
    const Tensor logits = Logits(batch).slice(1, 0, batch.length - 1);
    const Tensor next = TokensOf(batch).slice(1, 1);
    const Tensor weights = at::from_blob(const_cast<float*>(batch.weights), {batch.rows, batch.length}, at::kFloat)
                               .to(device_)
                               .slice(1, 1);
    const Tensor losses = -logits.log_softmax(-1).gather(-1, next.unsqueeze(-1)).squeeze(-1);
    return (losses * weights).sum() / weights.sum();
  }

  std::pair<double, double> Step(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerStep& step) {
    const Tensor loss = Loss(batch);
    return {loss.item<double>(), Descend(loss, step)};
  }

  // By word drawn, the log probabilities of all words, minus infinity where one was not allowed.
  Tensor AllLogs(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerChoices& choices) const {
    Tensor beliefs = at::full({choices.count, model_.words}, -std::numeric_limits<double>::infinity(), at::kFloat);
    auto belief_at = beliefs.accessor<float, 2>();
    for (int64_t i = 0; i < choices.count; ++i)
      for (int64_t at = choices.allowed_from[i]; at < choices.allowed_from[i + 1]; ++at)
        belief_at[i][choices.allowed[at]] = choices.beliefs[at];
    const Tensor rows = Indices(choices.rows, choices.count), before = Indices(choices.positions, choices.count) - 1;
    return (Logits(batch).index({rows, before}) + beliefs.to(device_)).log_softmax(-1);
  }

  Tensor ChosenLogs(const Tensor& all_logs, const GemmsmithTrainerBatch& batch,
                    const GemmsmithTrainerChoices& choices) const {
    const Tensor rows = Indices(choices.rows, choices.count), positions = Indices(choices.positions, choices.count);
    return all_logs.gather(-1, TokensOf(batch).index({rows, positions}).unsqueeze(-1)).squeeze(-1);
  }

  GemmsmithTrainerPolicyResult PolicyStep(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerChoices& choices,
                                          const GemmsmithTrainerStep& step, const GemmsmithTrainerPolicy& policy) {
    const Tensor all_logs = AllLogs(batch, choices), logs = ChosenLogs(all_logs, batch, choices);
    const Tensor weights = Numbers(choices.weights, choices.count);
    const Tensor advantages = Numbers(choices.advantages, choices.count);
    const Tensor ratios = (logs - Numbers(choices.old_logs, choices.count)).exp();
    const Tensor clipped = ratios.clamp(1 - policy.clip, 1 + policy.clip);
    const Tensor gain = (at::min(ratios * advantages, clipped * advantages) * weights).sum();
    const Tensor beyond = Numbers(choices.reference_logs, choices.count) - logs;
    const Tensor kl = ((beyond.exp() - beyond - 1) * weights).sum();
    // A word that was ruled out has probability 0, and 0 times minus infinity is no number.
    const Tensor known_logs = all_logs.masked_fill(all_logs.isinf(), 0);
    const Tensor entropy = -((all_logs.exp() * known_logs).sum(-1) * weights).sum();
    const Tensor loss = policy.kl_weight * kl - gain - policy.entropy_weight * entropy;
    const Tensor outside = (ratios - clipped).abs().gt(0).to(at::kFloat).mean();
    const double norm = Descend(loss, step);
    return {loss.item<double>(), norm, kl.item<double>(), entropy.item<double>(), outside.item<double>()};
  }

 private:
  // One step down a loss; gives the norm of its gradients.
  double Descend(const Tensor& loss, const GemmsmithTrainerStep& step) {
    for (Weight& weight : weights_) weight.value.mutable_grad() = Tensor();
    loss.backward();
    const c10::NoGradGuard no_gradients;
    Tensor squares = at::zeros({}, position_.options());
    for (const Weight& weight : weights_) squares += weight.value.grad().square().sum();
    const double norm = std::sqrt(squares.item<double>());
    if (!std::isfinite(norm)) throw std::runtime_error("the gradients are not finite: a lower learning rate may do");
    const double scale = norm > step.largest_norm ? step.largest_norm / norm : 1;
    for (Weight& weight : weights_) Descend(weight, weight.value.grad() * scale, step);
    return norm;
  }

  Tensor Indices(const int32_t* values, int64_t count) const {
    return at::from_blob(const_cast<int32_t*>(values), {count}, at::kInt).to(device_).to(at::kLong);
  }
  Tensor Numbers(const float* values, int64_t count) const {
    return at::from_blob(const_cast<float*>(values), {count}, at::kFloat).to(device_);
  }

  Tensor Add(std::string name, std::vector<int64_t> shape) {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
    const bool decays = shape.size() == 2 && name.rfind("layers.", 0) == 0;
    Tensor value = at::zeros(shape, options).set_requires_grad(true);
    weights_.push_back({std::move(name), value, at::zeros(shape, options), at::zeros(shape, options), decays});
    return value;
  }

  Tensor TokensOf(const GemmsmithTrainerBatch& batch) const {
    return at::from_blob(const_cast<int32_t*>(batch.tokens), {batch.rows, batch.length}, at::kInt)
        .to(device_)
        .to(at::kLong);
  }

  Tensor Attention(const Layer& layer, const Tensor& x, const Tensor& ahead) const {
    const int64_t rows = x.size(0), length = x.size(1), head_width = model_.width / model_.heads;
    const Tensor qkv = x.matmul(layer.qkv).view({rows, length, 3, model_.heads, head_width}).permute({2, 0, 3, 1, 4});
    const Tensor scores = (qkv[0] / std::sqrt(double(head_width))).matmul(qkv[1].transpose(-1, -2));
    const Tensor weights = scores.masked_fill(ahead, -std::numeric_limits<double>::infinity()).softmax(-1);
    return weights.matmul(qkv[2]).transpose(1, 2).reshape({rows, length, model_.width});
  }

  static void Descend(Weight& weight, const Tensor& gradient, const GemmsmithTrainerStep& step) {
    weight.first.mul_(step.beta1).add_(gradient, 1 - step.beta1);
    weight.second.mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
    const double first_scale = 1 / (1 - std::pow(step.beta1, double(step.number)));
    const double second_scale = 1 / (1 - std::pow(step.beta2, double(step.number)));
    if (weight.decays) weight.value.mul_(1 - step.learning_rate * step.weight_decay);
    weight.value.addcdiv_(weight.first, (weight.second * second_scale).sqrt().add_(step.epsilon),
                          -step.learning_rate * first_scale);
  }

  GemmsmithTrainerModel model_;
  at::Device device_;
  std::vector<Weight> weights_;
  Tensor embedding_, position_, final_norm_;
  std::vector<Layer> layers_;
};

// The tensor's numbers, with room for as many on the other side.
Tensor& FindOfSize(void* trainer, const char* name, int64_t count) {
  Tensor& tensor = static_cast<Trainer*>(trainer)->Find(name);
  if (tensor.numel() != count) throw std::runtime_error(std::string(name) + " has another size");
  return tensor;
}

Tensor OnCpu(float* values, const Tensor& like) { return at::from_blob(values, like.sizes(), at::kFloat); }

}  // namespace

extern "C" {

int gemmsmith_trainer_abi(void) { return GEMMSMITH_TRAINER_ABI; }

const char* gemmsmith_trainer_version(void) { return "torch " TORCH_VERSION; }

void* gemmsmith_trainer_open(const GemmsmithTrainerModel* model, const char* device) {
  return guarded([&]() -> void* { return new Trainer(*model, device); }, nullptr);
}

void gemmsmith_trainer_close(void* trainer) { delete static_cast<Trainer*>(trainer); }

int gemmsmith_trainer_put(void* trainer, const char* name, const float* values, int64_t count) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        Tensor& tensor = FindOfSize(trainer, name, count);
        tensor.copy_(OnCpu(const_cast<float*>(values), tensor));
        return 0;
      },
      1);
}

int gemmsmith_trainer_get(void* trainer, const char* name, float* values, int64_t count) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        const Tensor& tensor = FindOfSize(trainer, name, count);
        OnCpu(values, tensor).copy_(tensor);
        return 0;
      },
      1);
}

int gemmsmith_trainer_step(void* trainer, const GemmsmithTrainerBatch* batch, const GemmsmithTrainerStep* step,
                           double* loss, double* gradient_norm) {
  return guarded(
      [&] {
        std::tie(*loss, *gradient_norm) = static_cast<Trainer*>(trainer)->Step(*batch, *step);
        return 0;
      },
      1);
}

int gemmsmith_trainer_policy_step(void* trainer, const GemmsmithTrainerBatch* batch,
                                  const GemmsmithTrainerChoices* choices, const GemmsmithTrainerStep* step,
                                  const GemmsmithTrainerPolicy* policy, GemmsmithTrainerPolicyResult* result) {
  return guarded(
      [&] {
        *result = static_cast<Trainer*>(trainer)->PolicyStep(*batch, *choices, *step, *policy);
        return 0;
      },
      1);
}

int gemmsmith_trainer_log_probabilities(void* trainer, const GemmsmithTrainerBatch* batch,
                                        const GemmsmithTrainerChoices* choices, float* logs) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        const Trainer& own = *static_cast<Trainer*>(trainer);
        const Tensor computed = own.ChosenLogs(own.AllLogs(*batch, *choices), *batch, *choices);
        OnCpu(logs, computed).copy_(computed);
        return 0;
      },
      1);
}

int gemmsmith_trainer_loss(void* trainer, const GemmsmithTrainerBatch* batch, double* loss) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        *loss = static_cast<Trainer*>(trainer)->Loss(*batch).item<double>();
        return 0;
      },
      1);
}

int gemmsmith_trainer_logits(void* trainer, const GemmsmithTrainerBatch* batch, float* logits) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        const Tensor computed = static_cast<Trainer*>(trainer)->Logits(*batch);
        OnCpu(logits, computed).copy_(computed);
        return 0;
      },
      1);
}

const char* gemmsmith_trainer_error(void) { return guarded.last_error().c_str(); }

}  // extern "C"
