// libgemmsmith_trainer.so; built by tools/torch_trainer, apart from everything else. The model is that of
// docs/policy_model.md, in f32.
#include "policy/train/gemmsmith_trainer.h"

#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/GradMode.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/exception_guard.h"
#include "policy/train/torch_model.h"
#include "policy/train/torch_sampler.h"

namespace {

using at::Tensor;
using gemmsmith::Layer;
using gemmsmith::TorchModel;
using gemmsmith::TorchSampler;
using gemmsmith::WeightSlice;
using gemmsmith::WeightSlices;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

gemmsmith::ExceptionGuard guarded;

// Opens torch's CUDA library. It is not linked, so that training on the CPU works without CUDA's libraries.
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
  // TF32 has ten bits of mantissa, as many as the half precision of stored weights.
  at::globalContext().setAllowTF32CuBLAS(true);
}

// Some rows of a batch, and the words that were drawn in them.
struct Part {
  GemmsmithTrainerBatch batch = {};
  GemmsmithTrainerChoices choices = {};
  int64_t first_row = 0, first_choice = 0;
  int64_t length = 0;  // of its rows that counts: nothing was drawn behind it
};

// So many logits are computed at once on a device: a gibibyte, and some times that for what stands on them.
constexpr int64_t kMostLogits = int64_t{1} << 28;

// Lets torch choose algorithms that are not deterministic, for a while.
class AnyOrder {
 public:
  AnyOrder() { at::globalContext().setDeterministicAlgorithms(false, false); }
  AnyOrder(const AnyOrder&) = delete;
  AnyOrder& operator=(const AnyOrder&) = delete;
  ~AnyOrder() { at::globalContext().setDeterministicAlgorithms(was_deterministic_, false); }

 private:
  const bool was_deterministic_ = at::globalContext().deterministicAlgorithms();
};

// Where each of so many parts of the rows begins, all as long as can be, and the end of the last.
std::vector<int64_t> Shares(int64_t rows, size_t parts) {
  std::vector<int64_t> begins;
  for (size_t i = 0; i <= parts; ++i) begins.push_back(rows * int64_t(i) / int64_t(parts));
  return begins;
}

std::vector<Part> Split(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerChoices& choices, size_t parts) {
  const std::vector<int64_t> begins = Shares(batch.rows, parts);
  const int32_t* const rows_end = choices.rows + choices.count;
  if (!std::is_sorted(choices.rows, rows_end))
    throw std::runtime_error("words drawn are not in the order of their rows");
  std::vector<Part> split;
  for (size_t i = 0; i < parts; ++i) {
    const int64_t row = begins[i], words = row * batch.length;
    const int64_t choice = std::lower_bound(choices.rows, rows_end, row) - choices.rows;
    const int64_t end = std::lower_bound(choices.rows, rows_end, begins[i + 1]) - choices.rows;
    split.push_back({.batch = {batch.tokens + words, batch.weights + words, begins[i + 1] - row, batch.length},
                     .choices = choices,
                     .first_row = row,
                     .first_choice = choice,
                     .length = batch.length});
    GemmsmithTrainerChoices& own = split.back().choices;
    own.count = end - choice;
    own.rows += choice, own.positions += choice, own.weights += choice, own.advantages += choice;
    own.old_logs += choice, own.reference_logs += choice, own.allowed_from += choice;
    if (own.count > 0) split.back().length = *std::max_element(own.positions, own.positions + own.count) + 1;
  }
  return split;
}

std::vector<Part> Split(const GemmsmithTrainerBatch& batch, size_t parts) {
  static constexpr int64_t kNoChoice = 0;
  GemmsmithTrainerChoices none = {};
  none.allowed_from = &kNoChoice;
  return Split(batch, none, parts);
}

// The weight of all words that are predicted.
double WeightOf(const GemmsmithTrainerBatch& batch) {
  double sum = 0;
  for (int64_t row = 0; row < batch.rows; ++row)
    for (int64_t at = 1; at < batch.length; ++at) sum += double(batch.weights[row * batch.length + at]);
  return sum;
}

// The weights on one device, and what they make of texts there.
class Replica {
 public:
  Replica(const GemmsmithTrainerModel& sizes, const WeightSlices& slices, const at::Device& device, bool in_bf16)
      : device_(device) {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
    numbers = at::zeros({slices.count()}, options);
    gradients = at::zeros({slices.count()}, options);
    std::vector<Tensor> weights;
    for (const WeightSlice& slice : slices.all()) {
      Tensor weight = WeightSlices::Of(slice, numbers).detach().set_requires_grad(true);
      // Backward passes add to what is there.
      weight.mutable_grad() = WeightSlices::Of(slice, gradients);
      weights.push_back(std::move(weight));
    }
    model_.emplace(sizes, in_bf16 ? at::kBFloat16 : at::kFloat, weights);
    drawing_stream_ = TorchSampler::StreamOn(device_);
  }

  const TorchModel& model() const { return *model_; }
  const std::optional<c10::Stream>& drawing_stream() const { return drawing_stream_; }

  Tensor Logits(const Part& part) const { return model_->WordLogits(Hidden(part)); }

  // Behind the last layer.
  Tensor Hidden(const Part& part) const {
    const Tensor tokens = TokensOf(part);
    Tensor x = at::embedding(model_->embedding, tokens) + model_->position.slice(0, 0, part.length);
    for (const Layer& layer : model_->layers) x = model_->BehindCausalHeads(layer, x, model_->Heads(layer, x));
    return x;
  }

  // The part's share in the mean loss of a batch whose words weigh so much.
  Tensor Loss(const Part& part, double weight) const {
    const GemmsmithTrainerBatch& batch = part.batch;
    const Tensor logits = Logits(part).slice(1, 0, batch.length - 1);
    const Tensor next = TokensOf(part).slice(1, 1);
    const Tensor weights = at::from_blob(const_cast<float*>(batch.weights), {batch.rows, batch.length}, at::kFloat)
                               .to(device_)
                               .slice(1, 1);
    const Tensor losses = -logits.log_softmax(-1).gather(-1, next.unsqueeze(-1)).squeeze(-1);
    return (losses * weights).sum() / weight;
  }

  Tensor ChosenLogs(const Part& part) const { return ChosenLogs(AllLogs(part), part); }

  // Leaves gradients; the part's share in each number of the result.
  GemmsmithTrainerPolicyResult Learn(const Part& part, const GemmsmithTrainerPolicy& policy, int64_t all_choices) {
    const GemmsmithTrainerChoices& choices = part.choices;
    const Tensor all_logs = AllLogs(part), logs = ChosenLogs(all_logs, part);
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
    const Tensor outside = (ratios - clipped).abs().gt(0).to(at::kFloat).sum();
    loss.backward();
    return {.loss = loss.item<double>(),
            .kl = kl.item<double>(),
            .entropy = entropy.item<double>(),
            .clip_fraction = outside.item<double>() / double(all_choices)};
  }

  Tensor numbers, gradients;  // of all weights, as WeightSlices has them

 private:
  // By word drawn, the log probabilities of all words, minus infinity where one was not allowed. A part without any
  // allowed ones allows all.
  Tensor AllLogs(const Part& part) const {
    const GemmsmithTrainerChoices& choices = part.choices;
    const Tensor logits =
        model_->WordLogits(Hidden(part).index({RowsOf(part), Indices(choices.positions, choices.count) - 1}));
    if (choices.allowed_from[0] == choices.allowed_from[choices.count]) return logits.log_softmax(-1);
    Tensor log_prior = at::full({choices.count, model_->sizes.words}, -kInfinity, at::kFloat);
    auto log_prior_at = log_prior.accessor<float, 2>();
    for (int64_t i = 0; i < choices.count; ++i)
      for (int64_t at = choices.allowed_from[i]; at < choices.allowed_from[i + 1]; ++at)
        log_prior_at[i][choices.allowed[at]] = choices.log_prior[at];
    return (logits + log_prior.to(device_)).log_softmax(-1);
  }

  Tensor ChosenLogs(const Tensor& all_logs, const Part& part) const {
    const Tensor positions = Indices(part.choices.positions, part.choices.count);
    return all_logs.gather(-1, TokensOf(part).index({RowsOf(part), positions}).unsqueeze(-1)).squeeze(-1);
  }

  Tensor RowsOf(const Part& part) const { return Indices(part.choices.rows, part.choices.count) - part.first_row; }

  Tensor Indices(const int32_t* values, int64_t count) const {
    return at::from_blob(const_cast<int32_t*>(values), {count}, at::kInt).to(device_).to(at::kLong);
  }
  Tensor Numbers(const float* values, int64_t count) const {
    return at::from_blob(const_cast<float*>(values), {count}, at::kFloat).to(device_);
  }

  Tensor TokensOf(const Part& part) const {
    return at::from_blob(const_cast<int32_t*>(part.batch.tokens), {part.batch.rows, part.batch.length}, at::kInt)
        .slice(1, 0, part.length)
        .to(device_)
        .to(at::kLong);
  }

  const at::Device device_;
  std::optional<TorchModel> model_;
  std::optional<c10::Stream> drawing_stream_;
};

// "cpu", or "cuda:0" and others like it, separated by commas; "cuda" is every GPU there is.
std::vector<at::Device> DevicesOf(const std::string& names) {
  std::vector<at::Device> devices;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    const at::Device device(name);
    if (!device.is_cpu()) OpenCuda();
    const bool is_every_gpu = device.is_cuda() && !device.has_index();
    const int gpus = is_every_gpu ? int(at::detail::getCUDAHooks().deviceCount()) : 0;
    if (is_every_gpu && gpus == 0) throw std::runtime_error("no GPU is there");
    for (int gpu = 0; gpu < gpus; ++gpu) devices.emplace_back(at::kCUDA, at::DeviceIndex(gpu));
    if (!is_every_gpu) devices.push_back(device);
  }
  return devices;
}

// Data parallel: each device computes the gradients of some rows, the first one takes the step on their sum and hands
// the weights out again.
class Trainer {
 public:
  Trainer(const GemmsmithTrainerModel& model, const std::string& devices, bool in_bf16)
      : model_(model), slices_(model) {
    for (const at::Device& device : DevicesOf(devices))
      replicas_.push_back(std::make_unique<Replica>(model, slices_, device, in_bf16));
    first_ = at::zeros_like(replicas_.at(0)->numbers);
    second_ = at::zeros_like(first_);
    decaying_ = slices_.Decaying().to(first_.device());
  }

  // Behind "first." and "second.", AdamW's moments.
  Tensor Find(const std::string& name) {
    const size_t dot = name.find('.');
    const std::string prefix = name.substr(0, dot == std::string::npos ? 0 : dot);
    const bool is_moment = prefix == "first" || prefix == "second";
    const WeightSlice* const slice = slices_.Find(is_moment ? name.substr(dot + 1) : name);
    if (slice == nullptr) throw std::runtime_error("no tensor " + name);
    return WeightSlices::Of(*slice, prefix == "first" ? first_ : prefix == "second" ? second_ : replicas_[0]->numbers);
  }

  void Put(Tensor& tensor, const Tensor& values) {
    tensor.copy_(values);
    are_alike_ = false;
  }

  double Loss(const GemmsmithTrainerBatch& batch) {
    const double weight = WeightOf(batch);
    std::vector<double> losses(PartsOf(batch));
    OnEach(Split(batch, losses.size()), [&](size_t i, Replica& replica, const Part& part) {
      const c10::NoGradGuard no_gradients;
      losses[i] = replica.Loss(part, weight).item<double>();
    });
    return Sum(losses);
  }

  std::pair<double, double> Step(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerStep& step) {
    const double weight = WeightOf(batch);
    std::vector<double> losses(PartsOf(batch));
    OnEach(Split(batch, losses.size()), [&](size_t i, Replica& replica, const Part& part) {
      const Tensor loss = replica.Loss(part, weight);
      loss.backward();
      losses[i] = loss.item<double>();
    });
    return {Sum(losses), Descend(step)};
  }

  GemmsmithTrainerPolicyResult PolicyStep(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerChoices& choices,
                                          const GemmsmithTrainerStep& step, const GemmsmithTrainerPolicy& policy) {
    std::vector<GemmsmithTrainerPolicyResult> shares(PartsOf(batch));
    OnEach(Split(batch, choices, shares.size()), [&](size_t i, Replica& replica, const Part& part) {
      if (part.choices.count > 0) shares[i] = replica.Learn(part, policy, choices.count);
    });
    GemmsmithTrainerPolicyResult sum = {};
    for (const GemmsmithTrainerPolicyResult& share : shares) {
      sum.loss += share.loss, sum.kl += share.kl, sum.entropy += share.entropy;
      sum.clip_fraction += share.clip_fraction;
    }
    sum.gradient_norm = Descend(step);
    return sum;
  }

  void LogProbabilities(const GemmsmithTrainerBatch& batch, const GemmsmithTrainerChoices& choices, float* logs) {
    OnEach(Split(batch, choices, PartsOf(batch)), [&](size_t, Replica& replica, const Part& part) {
      const c10::NoGradGuard no_gradients;
      if (part.choices.count > 0) Write(replica.ChosenLogs(part), logs + part.first_choice);
    });
  }

  void Sample(const GemmsmithTrainerPrompts& prompts, const GemmsmithTrainerDraw& draw, GemmsmithTrainerTexts& texts) {
    for (int64_t row = 0; row < prompts.rows; ++row) {
      const int64_t length = prompts.from[row + 1] - prompts.from[row];
      if (length < 1 || length >= model_.positions)
        throw std::runtime_error("a prompt has no word, or as many as the model has positions");
    }
    const std::vector<int64_t> begins = Shares(prompts.rows, replicas_.size());
    // Here torch's ways of being deterministic are slow ones: it sorts the places that numbers are copied to.
    const AnyOrder any_order;
    OnEachReplica([&](size_t i, Replica& replica) {
      const c10::NoGradGuard no_gradients;
      const TorchSampler sampler(replica.model(), prompts, draw, replica.drawing_stream());
      const int64_t rows = TorchSampler::RowsAtOnce(replica.model());
      for (int64_t begin = begins[i]; begin < begins[i + 1]; begin += rows)
        sampler.Sample(begin, std::min(begins[i + 1], begin + rows), texts);
    });
  }

  void Logits(const GemmsmithTrainerBatch& batch, float* logits) {
    OnEach(Split(batch, PartsOf(batch)), [&](size_t, Replica& replica, const Part& part) {
      const c10::NoGradGuard no_gradients;
      Write(replica.Logits(part), logits + part.first_row * batch.length * model_.words);
    });
  }

 private:
  // So many for each device that the logits of a part fit.
  size_t PartsOf(const GemmsmithTrainerBatch& batch) const {
    const int64_t devices = int64_t(replicas_.size()), logits = batch.rows * batch.length * model_.words;
    return size_t(devices * std::max<int64_t>(1, logits / (devices * kMostLogits) + 1));
  }

  // Side by side, a thread a device, each with as many parts one after the other. They are dealt out in turn: longer
  // rows may stand behind shorter ones.
  template <typename Work>
  void OnEach(const std::vector<Part>& parts, const Work& work) {
    OnEachReplica([&](size_t i, Replica& replica) {
      for (size_t at = i; at < parts.size(); at += replicas_.size())
        if (parts[at].batch.rows > 0) work(at, replica, parts[at]);
    });
  }

  template <typename Work>
  void OnEachReplica(const Work& work) {
    MakeAlike();
    const auto run = [&](size_t i) { work(i, *replicas_[i]); };
    std::vector<std::future<void>> others;
    std::exception_ptr failure;
    const auto guard = [&](const auto& part) {
      try {
        part();
      } catch (...) {
        failure = std::current_exception();
      }
    };
    guard([&] {
      for (size_t i = 1; i < replicas_.size(); ++i) others.push_back(std::async(std::launch::async, run, i));
      run(0);
    });
    for (std::future<void>& other : others) guard([&] { other.get(); });
    if (!failure) return;
    for (const std::unique_ptr<Replica>& replica : replicas_) replica->gradients.zero_();
    std::rethrow_exception(failure);
  }

  void MakeAlike() {
    if (are_alike_) return;
    for (size_t i = 1; i < replicas_.size(); ++i) replicas_[i]->numbers.copy_(replicas_[0]->numbers);
    are_alike_ = true;
  }

  // One step down the gradients that all devices have, which are used up; gives their norm.
  double Descend(const GemmsmithTrainerStep& step) {
    const c10::NoGradGuard no_gradients;
    Replica& leader = *replicas_[0];
    Tensor gradient = leader.gradients.clone();
    for (size_t i = 1; i < replicas_.size(); ++i) gradient.add_(replicas_[i]->gradients.to(gradient.device()));
    for (const std::unique_ptr<Replica>& replica : replicas_) replica->gradients.zero_();
    const double norm = std::sqrt(gradient.square().sum().item<double>());
    if (!std::isfinite(norm)) throw std::runtime_error("the gradients are not finite: a lower learning rate may do");
    if (norm > step.largest_norm) gradient.mul_(step.largest_norm / norm);
    first_.mul_(step.beta1).add_(gradient, 1 - step.beta1);
    second_.mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
    const double first_scale = 1 / (1 - std::pow(step.beta1, double(step.number)));
    const double second_scale = 1 / (1 - std::pow(step.beta2, double(step.number)));
    leader.numbers.mul_(1 - decaying_ * (step.learning_rate * step.weight_decay));
    leader.numbers.addcdiv_(first_, (second_ * second_scale).sqrt().add_(step.epsilon),
                            -step.learning_rate * first_scale);
    are_alike_ = false;
    return norm;
  }

  static double Sum(const std::vector<double>& shares) { return std::accumulate(shares.begin(), shares.end(), 0.0); }

  static void Write(const Tensor& from, float* to) { at::from_blob(to, from.sizes(), at::kFloat).copy_(from); }

  const GemmsmithTrainerModel model_;
  const WeightSlices slices_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  bool are_alike_ = true;             // all have the first one's weights
  Tensor first_, second_, decaying_;  // on the first device
};

// The tensor's numbers, with room for as many on the other side.
Tensor FindOfSize(void* trainer, const char* name, int64_t count) {
  Tensor tensor = static_cast<Trainer*>(trainer)->Find(name);
  if (tensor.numel() != count) throw std::runtime_error(std::string(name) + " has another size");
  return tensor;
}

Tensor OnCpu(float* values, const Tensor& like) { return at::from_blob(values, like.sizes(), at::kFloat); }

}  // namespace

extern "C" {

int gemmsmith_trainer_abi(void) { return GEMMSMITH_TRAINER_ABI; }

const char* gemmsmith_trainer_version(void) { return "torch " TORCH_VERSION; }

void* gemmsmith_trainer_open(const GemmsmithTrainerModel* model, const char* device, int in_bf16) {
  return guarded([&]() -> void* { return new Trainer(*model, device, in_bf16 != 0); }, nullptr);
}

void gemmsmith_trainer_close(void* trainer) { delete static_cast<Trainer*>(trainer); }

int gemmsmith_trainer_put(void* trainer, const char* name, const float* values, int64_t count) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        Tensor tensor = FindOfSize(trainer, name, count);
        static_cast<Trainer*>(trainer)->Put(tensor, OnCpu(const_cast<float*>(values), tensor));
        return 0;
      },
      1);
}

int gemmsmith_trainer_get(void* trainer, const char* name, float* values, int64_t count) {
  return guarded(
      [&] {
        const c10::NoGradGuard no_gradients;
        const Tensor tensor = FindOfSize(trainer, name, count);
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
        static_cast<Trainer*>(trainer)->LogProbabilities(*batch, *choices, logs);
        return 0;
      },
      1);
}

int gemmsmith_trainer_loss(void* trainer, const GemmsmithTrainerBatch* batch, double* loss) {
  return guarded(
      [&] {
        *loss = static_cast<Trainer*>(trainer)->Loss(*batch);
        return 0;
      },
      1);
}

int gemmsmith_trainer_logits(void* trainer, const GemmsmithTrainerBatch* batch, float* logits) {
  return guarded(
      [&] {
        static_cast<Trainer*>(trainer)->Logits(*batch, logits);
        return 0;
      },
      1);
}

int gemmsmith_trainer_sample(void* trainer, const GemmsmithTrainerPrompts* prompts, const GemmsmithTrainerDraw* draw,
                             GemmsmithTrainerTexts* texts) {
  return guarded(
      [&] {
        static_cast<Trainer*>(trainer)->Sample(*prompts, *draw, *texts);
        return 0;
      },
      1);
}

const char* gemmsmith_trainer_error(void) { return guarded.last_error().c_str(); }

}  // extern "C"
