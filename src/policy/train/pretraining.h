// Pretraining: next-word loss over documents drawn from trials, with checkpoints that a run goes on from as if it had
// never stopped. docs/policy_training.md describes the files.
#pragma once

#include <filesystem>
#include <string>

#include "policy/train/pretraining_set.h"
#include "policy/train/training_run.h"

namespace gemmsmith {

struct PretrainingOptions {
  int steps = 4000;
  int batch = 128;               // documents a step
  double learning_rate = 1e-3;   // at its peak
  int64_t warm_up = 100;         // steps from 0 to the peak; from there a cosine leads to a tenth at the end
  int64_t validate_every = 100;  // where problems are held out
  int validation_batch = 256;
  uint64_t seed = 1;
  Ablations ablations;
  StepOptions adam;  // its learning rate is set for each step
};
// The options that a checkpoint must share to be resumed.
std::string Describe(const PretrainingOptions& options);

// Trains from new weights, as RunSteps() does. The random numbers of a step follow from seed and step alone, so a run
// that was stopped anywhere ends with the same weights as one that was not. Watched for its loss.
Status Pretrain(const PretrainingSet& set, const ModelConfig& config, const PretrainingOptions& options,
                Trainer& trainer, const std::filesystem::path& folder, const TrainingHooks& hooks);

}  // namespace gemmsmith
