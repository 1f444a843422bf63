// Reinforcement learning on recorded problems: group-relative policy optimisation with the reward of rewards.h.
// docs/policy_training.md says what it does.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "policy/train/recorded_rewards.h"
#include "policy/train/trainer.h"

namespace gemmsmith {

struct GrpoOptions {
  int steps = 300;
  int problems = 8;  // a step, each with one context
  int group = 16;    // plans drawn from it
  int epochs = 2;    // gradient steps on them
  double learning_rate = 3e-5;
  int warm_up = 10;  // steps
  int checkpoint_every = 20;
  uint64_t seed = 1;
  PolicyOptions policy;
  StepOptions adam = {.weight_decay = 0};  // its learning rate is set for each step
};
std::string Describe(const GrpoOptions& options);

struct GrpoProgress {
  int64_t step = 0;
  double reward = 0;  // the mean of what was drawn
};

// Goes on from the reference (weights of pretraining) and leaves in the folder what Pretrain() leaves there, with the
// same promises: a run that was stopped ends as one that was not. Both trainers hold models of the reference's
// configuration; `reference_trainer` gives the log probabilities that the KL is taken to.
Status LearnByReward(const std::vector<RecordedProblem>& problems, const PolicyModel& reference,
                     const GrpoOptions& options, Trainer& trainer, Trainer& reference_trainer,
                     const std::filesystem::path& folder, const std::function<bool()>& stop,
                     const std::function<void(const GrpoProgress&)>& watch);

}  // namespace gemmsmith
