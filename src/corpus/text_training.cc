#include "corpus/text_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/all_cores.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/seconds.h"
#include "corpus/text_batches.h"
#include "corpus/text_shards.h"
#include "policy/train/learning_rate.h"

namespace gemmsmith {

namespace {

constexpr int64_t kHeldOutEvery = 50;

WeightedTokens Document(const Tokenizer& tokenizer, const TextExample& example) {
  const std::vector<Token> prompt = PromptTokens(tokenizer, example.prompt);
  const std::vector<int32_t> kernel = tokenizer.Encode(example.text);
  WeightedTokens document{.tokens = prompt, .weights = {}};
  document.tokens.insert(document.tokens.end(), kernel.begin(), kernel.end());
  document.tokens.push_back(Token(tokenizer.end()));
  document.weights.assign(document.tokens.size(), 1);
  std::fill_n(document.weights.begin(), prompt.size(), 0.0f);
  return document;
}

// Draws batch after batch.
class TextDeck {
 public:
  TextDeck(const std::vector<WeightedTokens>& texts, int rows, const Random& random)
      : texts_(texts), batches_(LengthsOf(texts), rows, random) {}

  // `number` counts from 0.
  TokenBatch Batch(int64_t number) {
    std::vector<WeightedTokens> drawn;
    for (const size_t text : batches_.At(number)) drawn.push_back(texts_[text]);
    tokens_ = 0;
    for (const WeightedTokens& text : drawn) tokens_ += int64_t(text.tokens.size());
    return BatchOf(drawn);
  }
  // Tokens of the last batch, without padding.
  int64_t tokens() const { return tokens_; }

 private:
  static std::vector<size_t> LengthsOf(const std::vector<WeightedTokens>& texts) {
    std::vector<size_t> lengths;
    for (const WeightedTokens& text : texts) lengths.push_back(text.tokens.size());
    return lengths;
  }

  const std::vector<WeightedTokens>& texts_;
  TextBatches batches_;
  int64_t tokens_ = 0;
};

// Eight digits that tell these texts, in their order, apart from others.
std::string FingerprintOfTexts(const std::vector<WeightedTokens>& texts) {
  std::string hashes;
  for (const WeightedTokens& text : texts) {
    const auto* bytes = reinterpret_cast<const char*>(text.tokens.data());
    hashes += HashBytes({bytes, text.tokens.size() * sizeof(Token)}).Hex();
  }
  return HashBytes(hashes).Hex().substr(0, 8);
}

std::string OptionsOf(const TextTrainingOptions& options, const EncodedTexts& texts, const PolicyModel& begin) {
  const ModelConfig& config = begin.config;
  return fmt::format(
      "text_model steps={} batch={} learning_rate={} warm_up={} seed={} beta1={} beta2={} decay={} norm={} "
      "config={}x{}x{}x{}x{} texts={}:{} tokenizer={} from={}",
      options.steps, options.batch, options.learning_rate, options.warm_up, options.seed, options.adam.beta1,
      options.adam.beta2, options.adam.weight_decay, options.adam.largest_norm, config.positions, config.layers,
      config.width, config.heads, config.hidden, texts.train().size(), FingerprintOfTexts(texts.train()),
      begin.tokenizer, Fingerprint(begin));
}

}  // namespace

ModelConfig TextModelConfig(const Tokenizer& tokenizer) {
  return {
      .words = tokenizer.words(), .positions = kTextPositions, .width = 512, .layers = 8, .heads = 8, .hidden = 2048};
}

std::string Fingerprint(const Tokenizer& tokenizer) { return HashBytes(PrintTokenizer(tokenizer)).Hex().substr(0, 8); }

std::vector<Token> PromptTokens(const Tokenizer& tokenizer, std::string_view prompt) {
  std::vector<Token> tokens = {Token(tokenizer.begin())};
  const std::vector<int32_t> encoded = tokenizer.Encode(prompt);
  tokens.insert(tokens.end(), encoded.begin(), encoded.end());
  tokens.push_back(Token(tokenizer.answer()));
  return tokens;
}

std::string KernelOf(const SampledText& text, const Tokenizer& tokenizer) {
  return tokenizer.Decode(std::vector<int32_t>(text.words.begin(), text.words.end()));
}

Result<EncodedTexts> EncodedTexts::Read(std::span<const std::filesystem::path> files, const Tokenizer& tokenizer,
                                        int positions) {
  constexpr size_t kEncodedTogether = 4096;
  EncodedTexts texts;
  int64_t number = 0;
  std::vector<TextExample> waiting;
  const auto encode = [&] {
    std::vector<WeightedTokens> documents(waiting.size());
    ForEachOnAllCores(waiting.size(), [&](size_t i) { documents[i] = Document(tokenizer, waiting[i]); });
    waiting.clear();
    for (WeightedTokens& document : documents) {
      const bool is_held_out = ++number % kHeldOutEvery == 0;
      if (document.tokens.size() > size_t(positions)) {
        ++texts.too_long_;
      } else {
        (is_held_out ? texts.held_out_ : texts.train_).push_back(std::move(document));
      }
    }
  };
  RETURN_IF_ERROR(ForEachText(files, [&](const TextExample& example) {
    waiting.push_back(example);
    if (waiting.size() == kEncodedTogether) encode();
    return OkStatus();
  }));
  encode();
  if (texts.train_.empty()) return NotFound(fmt::format("no text has {} tokens or fewer", positions));
  return texts;
}

PolicyModel NewTextModel(const Tokenizer& tokenizer, const ModelConfig& config, uint64_t seed) {
  PolicyModel model = NewModel(config, seed);
  model.tokenizer = Fingerprint(tokenizer);
  return model;
}

Status TrainOnTexts(const EncodedTexts& texts, const PolicyModel& begin, const TextTrainingOptions& options,
                    Trainer& trainer, const std::filesystem::path& folder, const TrainingHooks& hooks) {
  constexpr int64_t kKeepEvery = 50;  // a checkpoint of this model takes longer than a step
  const TrainingRun run = {
      .folder = folder, .steps = options.steps, .options = OptionsOf(options, texts, begin), .keep_every = kKeepEvery};
  const Random random(options.seed);
  std::optional<TokenBatch> held_out;
  if (!texts.held_out().empty())
    held_out = TextDeck(texts.held_out(), options.validation_batch, random.Fork("held-out texts")).Batch(0);
  TextDeck deck(texts.train(), options.batch, random.Fork("texts"));
  return RunSteps(run, begin, trainer, hooks, [&](int64_t step) -> Result<nlohmann::ordered_json> {
    const std::chrono::steady_clock::time_point begin_of_step = std::chrono::steady_clock::now();
    const TokenBatch batch = deck.Batch(step - 1);
    StepOptions adam = options.adam;
    adam.learning_rate = WarmedUp(options.learning_rate, options.warm_up, options.steps, step);
    ASSIGN_OR_RETURN(const StepResult result, trainer.Step(batch, step, adam));
    nlohmann::ordered_json line = {{"step", step},
                                   {"loss", result.loss},
                                   {"grad_norm", result.gradient_norm},
                                   {"learning_rate", adam.learning_rate},
                                   {"tokens", deck.tokens()},
                                   {"padding", 1 - double(deck.tokens()) / double(batch.tokens.size())},
                                   {"seconds", SecondsSince(begin_of_step)}};
    if (hooks.count) hooks.count(deck.tokens());
    if (held_out && (step % options.validate_every == 0 || step == options.steps)) {
      ASSIGN_OR_RETURN(const double loss, trainer.Loss(*held_out));
      line["validation_loss"] = loss;
    }
    hooks.watch(step, result.loss);
    return line;
  });
}

}  // namespace gemmsmith
