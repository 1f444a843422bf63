#include "policy/train/trainer_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/installation.h"
#include "base/text.h"
#include "policy/train/gemmsmith_trainer.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFile = "libgemmsmith_trainer.so";

struct Functions {
  decltype(&::gemmsmith_trainer_abi) abi = nullptr;
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
  decltype(&::gemmsmith_trainer_error) error = nullptr;
};

Result<void*> OpenLibraryOfOurs() {
  const std::vector<std::string> paths = TrainerLibraryPaths();
  std::error_code error;
  for (const std::string& path : paths) {
    if (!fs::is_regular_file(path, error)) continue;
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    return Unavailable(
        fmt::format("{} does not load: {}; build it again with tools/torch_trainer", path, LoaderError()));
  }
  return Unavailable(fmt::format(
      "training needs libtorch, and its library was not built here (looked for {}); run tools/torch_trainer",
      Join(paths, ", ")));
}

Result<Functions> Load() {
  ASSIGN_OR_RETURN(void* const handle, OpenLibraryOfOurs());
  Functions functions;
  const auto resolve = [handle](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  const bool is_whole =
      resolve(functions.abi, "gemmsmith_trainer_abi") && resolve(functions.version, "gemmsmith_trainer_version") &&
      resolve(functions.open, "gemmsmith_trainer_open") && resolve(functions.close, "gemmsmith_trainer_close") &&
      resolve(functions.put, "gemmsmith_trainer_put") && resolve(functions.get, "gemmsmith_trainer_get") &&
      resolve(functions.step, "gemmsmith_trainer_step") && resolve(functions.loss, "gemmsmith_trainer_loss") &&
      resolve(functions.policy_step, "gemmsmith_trainer_policy_step") &&
      resolve(functions.log_probabilities, "gemmsmith_trainer_log_probabilities") &&
      resolve(functions.logits, "gemmsmith_trainer_logits") && resolve(functions.error, "gemmsmith_trainer_error");
  if (!is_whole || functions.abi() != GEMMSMITH_TRAINER_ABI)
    return Unavailable(fmt::format("{} is of another version; build it again with tools/torch_trainer", kFile));
  return functions;
}

GemmsmithTrainerBatch Plain(const TokenBatch& batch) {
  return {batch.tokens.data(), batch.weights.data(), batch.rows, batch.length};
}

GemmsmithTrainerChoices Plain(const PolicyBatch& batch) {
  return {int64_t(batch.rows.size()),  batch.rows.data(),         batch.positions.data(),
          batch.weights.data(),        batch.advantages.data(),   batch.old_logs.data(),
          batch.reference_logs.data(), batch.allowed_from.data(), batch.allowed.data()};
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

  Status Put(const std::string& name, const std::vector<float>& values) override {
    return Checked(torch_.put(trainer_.get(), name.c_str(), values.data(), int64_t(values.size())));
  }

  Result<std::vector<float>> Get(const std::string& name, size_t count) override {
    std::vector<float> values(count);
    RETURN_IF_ERROR(Checked(torch_.get(trainer_.get(), name.c_str(), values.data(), int64_t(count))));
    return values;
  }

 private:
  Status Checked(int code) const { return code == 0 ? OkStatus() : IoError(fmt::format("torch: {}", torch_.error())); }

  const Functions& torch_;
  const int words_;
  std::unique_ptr<void, void (*)(void*)> trainer_;
};

}  // namespace

std::vector<std::string> TrainerLibraryPaths() {
  std::vector<std::string> paths;
  if (const char* const path = std::getenv("GEMMSMITH_TRAINER"); path != nullptr && *path != '\0')
    paths.emplace_back(path);
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return paths;
  for (const fs::path& place : {folder, folder / "lib", folder.parent_path() / "lib"})
    paths.push_back((place / kFile).string());
  return paths;
}

Result<std::unique_ptr<Trainer>> OpenTorchTrainer(const ModelConfig& config, const std::string& device) {
  static const Result<Functions> functions = Load();
  if (!functions.ok()) return functions.status();
  const GemmsmithTrainerModel model{config.words,  config.positions, config.width,
                                    config.layers, config.heads,     config.hidden};
  void* const trainer = functions->open(&model, device.c_str());
  if (trainer == nullptr) return Unavailable(fmt::format("torch does not train on {}: {}", device, functions->error()));
  return std::unique_ptr<Trainer>(std::make_unique<TorchTrainer>(*functions, config, trainer));
}

}  // namespace gemmsmith
