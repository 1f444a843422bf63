// Reinforcement learning of a model of texts: group-relative policy optimisation on the kernels that it writes.
// docs/text_model.md says what it does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "corpus/text_judge.h"
#include "corpus/text_training.h"
#include "corpus/tokenizer.h"
#include "policy/train/trainer.h"
#include "policy/train/training_run.h"

namespace gemmsmith {

// A problem to write kernels for, and how the model is asked.
struct TextProblem {
  Gemm gemm;
  std::string prompt;
};

struct TextGrpoOptions {
  int steps = 25;
  int problems = 16;  // a step, each with one prompt
  int group = 16;     // kernels written for it
  int epochs = 2;     // gradient steps on them
  double learning_rate = 2e-5;
  int warm_up = 3;                    // steps
  int most_words = kMostKernelWords;  // of a kernel
  int contrast = 2;                   // earlier kernels that a prompt shows; 0: none
  double temperature = 1;
  uint64_t seed = 1;
  PolicyOptions policy;
  StepOptions adam = {.weight_decay = 0};  // its learning rate is set for each step
};
std::string Describe(const TextGrpoOptions& options);

// Goes on from the reference and leaves in the folder what RunSteps() leaves there. Both trainers hold models of the
// reference's configuration; `reference_trainer` gives the log probabilities that the KL is taken to. A text without an
// end counts as an illegal one and is not judged. Judged kernels are kept under `folder`/kernels; prompts of later
// steps show `contrast` of them (earlier_kernels.h) where they leave room for a kernel. Watched for the mean reward.
Status LearnToWrite(const std::vector<TextProblem>& problems, const PolicyModel& reference, const Tokenizer& tokenizer,
                    const TextGrpoOptions& options, TextJudge& judge, Trainer& trainer, Trainer& reference_trainer,
                    const std::filesystem::path& folder, const TrainingHooks& hooks);

}  // namespace gemmsmith
