// Reinforcement learning on recorded problems, judged by their records or on a GPU: group-relative policy optimisation
// with the reward of rewards.h. docs/policy_training.md says what it does.
#pragma once

#include <filesystem>
#include <string>

#include "policy/train/plan_judge.h"
#include "policy/train/training_run.h"
#include "search/experience.h"

namespace gemmsmith {

struct GrpoOptions {
  int steps = 300;
  int problems = 8;  // a step, each with one context
  int group = 16;    // plans drawn from it
  int epochs = 2;    // gradient steps on them
  double learning_rate = 3e-5;
  int warm_up = 10;  // steps
  uint64_t seed = 1;
  Ablations ablations;    // besides what the reference was trained without
  Experience experience;  // what the prior knows of other shapes
  PolicyOptions policy;
  StepOptions adam = {.weight_decay = 0};  // its learning rate is set for each step
};
std::string Describe(const GrpoOptions& options);

// Goes on from the reference (weights of pretraining, or new ones) and leaves in the folder what Pretrain() leaves
// there, with the same promises: a run that was stopped ends as one that was not, as far as its judge says of one plan
// the same twice. Both trainers hold models of the reference's configuration; `reference_trainer` gives the log
// probabilities that the KL is taken to. Watched for the mean reward, which is unknown where nothing that was drawn has
// one.
Status LearnByReward(const std::vector<RecordedProblem>& problems, const PolicyModel& reference,
                     const GrpoOptions& options, PlanJudge& judge, Trainer& trainer, Trainer& reference_trainer,
                     const std::filesystem::path& folder, const TrainingHooks& hooks);

}  // namespace gemmsmith
