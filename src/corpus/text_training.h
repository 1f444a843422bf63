// Trains a text model on shards of texts: next-token loss over the kernels, with checkpoints that a run goes on from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "corpus/tokenizer.h"
#include "policy/train/trainer.h"
#include "policy/train/training_run.h"

namespace gemmsmith {

// Two kernels that a prompt shows, and a third: few of direct plans are longer.
inline constexpr int kTextPositions = 6400;
// Longer than every kernel that the tokenizer was trained on: what is longer has no end.
inline constexpr int kMostKernelWords = 2800;
// About 30 million parameters at 2,158 tokens.
ModelConfig TextModelConfig(const Tokenizer& tokenizer);
// A hash of the tokenizer file; a text model names it.
std::string Fingerprint(const Tokenizer& tokenizer);
// Begin, prompt, answer: what a kernel is drawn behind.
std::vector<Token> PromptTokens(const Tokenizer& tokenizer, std::string_view prompt);
// The kernel that was drawn.
std::string KernelOf(const SampledText& text, const Tokenizer& tokenizer);

// All texts as tokens, in memory. Every 50th is held out.
class EncodedTexts {
 public:
  // Leaves out texts longer than `positions`. NotFound where none is left to train on.
  static Result<EncodedTexts> Read(std::span<const std::filesystem::path> files, const Tokenizer& tokenizer,
                                   int positions);
  const std::vector<WeightedTokens>& train() const { return train_; }
  const std::vector<WeightedTokens>& held_out() const { return held_out_; }
  int64_t too_long() const { return too_long_; }

 private:
  std::vector<WeightedTokens> train_, held_out_;
  int64_t too_long_ = 0;
};

struct TextTrainingOptions {
  int steps = 2000;
  int batch = 64;                // texts a step
  double learning_rate = 1e-3;   // at its peak
  int64_t warm_up = 100;         // steps
  int64_t validate_every = 100;  // steps
  int validation_batch = 64;     // held-out texts
  uint64_t seed = 1;
  StepOptions adam;  // its learning rate is set for each step
};

// Untrained.
PolicyModel NewTextModel(const Tokenizer& tokenizer, const ModelConfig& config, uint64_t seed);

// As Pretrain() of pretraining.h does, from a model of the texts' tokenizer. Watched for its loss.
Status TrainOnTexts(const EncodedTexts& texts, const PolicyModel& begin, const TextTrainingOptions& options,
                    Trainer& trainer, const std::filesystem::path& folder, const TrainingHooks& hooks);

}  // namespace gemmsmith
