#include "policy/train/trainer_library.h"

#include <fmt/format.h>

#include "base/companion_library.h"
#include "policy/train/gemmsmith_trainer.h"

namespace gemmsmith {

namespace {

// torch's part for CUDA is opened by the library itself, when it is to train there.
constexpr CompanionLibrary kLibrary = {.file = "libgemmsmith_trainer.so",
                                       .variable = "GEMMSMITH_TRAINER",
                                       .purpose = "what trains policies",
                                       .tool = "tools/torch_trainer",
                                       .version_name = "gemmsmith_trainer_abi",
                                       .version = GEMMSMITH_TRAINER_ABI,
                                       .root_variable = "GEMMSMITH_TORCH",
                                       .root_file = "lib/libtorch_cpu.so"};

struct Functions {
  decltype(&::gemmsmith_trainer_version) version = nullptr;
  decltype(&::gemmsmith_trainer_open) open = nullptr;
  decltype(&::gemmsmith_trainer_close) close = nullptr;
  decltype(&::gemmsmith_trainer_put) put = nullptr;
  decltype(&::gemmsmith_trainer_get) get = nullptr;
  decltype(&::gemmsmith_trainer_step) step = nullptr;
  decltype(&::gemmsmith_trainer_loss) loss = nullptr;
  decltype(&::gemmsmith_trainer_policy_step) policy_step = nullptr;
  decltype(&::gemmsmith_trainer_log_probabilities) log_probabilities = nullptr;
  decltype(&::gemmsmith_trainer_logits) logits = nullptr;
  decltype(&::gemmsmith_trainer_sample) sample = nullptr;
  decltype(&::gemmsmith_trainer_error) error = nullptr;
};

Result<Functions> Load() {
  ASSIGN_OR_RETURN(OpenCompanion library, OpenCompanion::Open(kLibrary));
  Functions functions;
  library.Find(functions.version, "gemmsmith_trainer_version");
  library.Find(functions.open, "gemmsmith_trainer_open");
  library.Find(functions.close, "gemmsmith_trainer_close");
  library.Find(functions.put, "gemmsmith_trainer_put");
  library.Find(functions.get, "gemmsmith_trainer_get");
  library.Find(functions.step, "gemmsmith_trainer_step");
  library.Find(functions.loss, "gemmsmith_trainer_loss");
  library.Find(functions.policy_step, "gemmsmith_trainer_policy_step");
  library.Find(functions.log_probabilities, "gemmsmith_trainer_log_probabilities");
  library.Find(functions.logits, "gemmsmith_trainer_logits");
  library.Find(functions.sample, "gemmsmith_trainer_sample");
  library.Find(functions.error, "gemmsmith_trainer_error");
  RETURN_IF_ERROR(library.FoundAll());
  return functions;
}

GemmsmithTrainerBatch Plain(const TokenBatch& batch) {
  return {batch.tokens.data(), batch.weights.data(), batch.rows, batch.length};
}

GemmsmithTrainerChoices Plain(const PolicyBatch& batch) {
  return {int64_t(batch.rows.size()), batch.rows.data(),     batch.positions.data(),      batch.weights.data(),
          batch.advantages.data(),    batch.old_logs.data(), batch.reference_logs.data(), batch.allowed_from.data(),
          batch.allowed.data(),       batch.log_prior.data()};
}

GemmsmithTrainerStep Plain(int64_t number, const StepOptions& options) {
  return {number,          options.learning_rate, options.beta1,       options.beta2,
          options.epsilon, options.weight_decay,  options.largest_norm};
}

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(const Functions& torch, const ModelConfig& config, void* trainer)
      : torch_(torch), words_(config.words), trainer_(trainer, torch.close) {}

  std::string Version() const override { return torch_.version(); }

  Result<StepResult> Step(const TokenBatch& batch, int64_t number, const StepOptions& options) override {
    const GemmsmithTrainerBatch plain = Plain(batch);
    const GemmsmithTrainerStep step = Plain(number, options);
    StepResult result;
    RETURN_IF_ERROR(Checked(torch_.step(trainer_.get(), &plain, &step, &result.loss, &result.gradient_norm)));
    return result;
  }

  Result<PolicyResult> PolicyStep(const PolicyBatch& batch, int64_t number, const StepOptions& options,
                                  const PolicyOptions& policy) override {
    const GemmsmithTrainerBatch texts = Plain(batch.texts);
    const GemmsmithTrainerChoices choices = Plain(batch);
    const GemmsmithTrainerStep step = Plain(number, options);
    const GemmsmithTrainerPolicy plain{policy.clip, policy.kl_weight, policy.entropy_weight};
    GemmsmithTrainerPolicyResult result;
    RETURN_IF_ERROR(Checked(torch_.policy_step(trainer_.get(), &texts, &choices, &step, &plain, &result)));
    return PolicyResult{result.loss, result.gradient_norm, result.kl, result.entropy, result.clip_fraction};
  }

  Result<std::vector<float>> LogProbabilities(const PolicyBatch& batch) override {
    const GemmsmithTrainerBatch texts = Plain(batch.texts);
    const GemmsmithTrainerChoices choices = Plain(batch);
    std::vector<float> logs(batch.rows.size());
    RETURN_IF_ERROR(Checked(torch_.log_probabilities(trainer_.get(), &texts, &choices, logs.data())));
    return logs;
  }

  Result<double> Loss(const TokenBatch& batch) override {
    const GemmsmithTrainerBatch plain = Plain(batch);
    double loss = 0;
    RETURN_IF_ERROR(Checked(torch_.loss(trainer_.get(), &plain, &loss)));
    return loss;
  }

  Result<std::vector<float>> Logits(const TokenBatch& batch) override {
    const GemmsmithTrainerBatch plain = Plain(batch);
    std::vector<float> logits(batch.tokens.size() * size_t(words_));
    RETURN_IF_ERROR(Checked(torch_.logits(trainer_.get(), &plain, logits.data())));
    return logits;
  }

  Result<std::vector<SampledText>> Sample(const TextRequest& request) override {
    if (request.most_words < 1) return InvalidArgument("an answer needs a word");
    std::vector<int64_t> from = {0};
    std::vector<int32_t> tokens;
    for (const std::vector<Token>& prompt : request.prompts) {
      tokens.insert(tokens.end(), prompt.begin(), prompt.end());
      from.push_back(int64_t(tokens.size()));
    }
    const size_t rows = request.prompts.size(), most = size_t(request.most_words);
    std::vector<int32_t> words(rows * most), lengths(rows);
    std::vector<float> logs(rows * most);
    const GemmsmithTrainerPrompts prompts{int64_t(rows), from.data(), tokens.data()};
    const GemmsmithTrainerDraw draw{request.most_words, request.end, request.temperature, request.top_p, request.seed};
    GemmsmithTrainerTexts drawn{words.data(), logs.data(), lengths.data()};
    RETURN_IF_ERROR(Checked(torch_.sample(trainer_.get(), &prompts, &draw, &drawn)));
    std::vector<SampledText> texts(rows);
    for (size_t i = 0; i < rows; ++i) {
      const size_t begin = i * most, end = begin + size_t(lengths[i]);
      texts[i].words.assign(words.begin() + long(begin), words.begin() + long(end));
      texts[i].logs.assign(logs.begin() + long(begin), logs.begin() + long(end));
      texts[i].is_finished = !texts[i].words.empty() && texts[i].words.back() == request.end;
    }
    return texts;
  }

  Status Put(const std::string& name, const std::vector<float>& values) override {
    return Checked(torch_.put(trainer_.get(), name.c_str(), values.data(), int64_t(values.size())));
  }

  Status Get(const std::string& name, std::span<float> values) override {
    return Checked(torch_.get(trainer_.get(), name.c_str(), values.data(), int64_t(values.size())));
  }

 private:
  Status Checked(int code) const { return code == 0 ? OkStatus() : IoError(fmt::format("torch: {}", torch_.error())); }

  const Functions& torch_;
  const int words_;
  std::unique_ptr<void, void (*)(void*)> trainer_;
};

}  // namespace

Result<std::unique_ptr<Trainer>> OpenTorchTrainer(const ModelConfig& config, const std::string& device,
                                                  ProductType products) {
  static const Result<Functions> functions = Load();
  if (!functions.ok()) return functions.status();
  const GemmsmithTrainerModel model{config.words,  config.positions, config.width,
                                    config.layers, config.heads,     config.hidden};
  void* const trainer = functions->open(&model, device.c_str(), products == ProductType::kBf16);
  if (trainer == nullptr) return Unavailable(fmt::format("torch does not train on {}: {}", device, functions->error()));
  return std::unique_ptr<Trainer>(std::make_unique<TorchTrainer>(*functions, config, trainer));
}

}  // namespace gemmsmith
