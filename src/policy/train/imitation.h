// Supervised learning of the best plans that were recorded: what a policy would draw, were it to know all measurements.
#pragma once

#include <filesystem>
#include <string>

#include "policy/train/groups.h"
#include "policy/train/training_run.h"
#include "search/experience.h"

namespace gemmsmith {

struct ImitationOptions {
  int steps = 2000;
  int problems = 8;  // a step, each with one context
  int plans = 16;    // of each, the most likely of those that are left
  double learning_rate = 3e-4;
  int64_t warm_up = 50;
  int64_t validate_every = 100;  // where problems are held out
  int validation_problems = 32;
  uint64_t seed = 1;
  Ablations ablations;    // besides what it begins with
  Experience experience;  // what the prior knows of other shapes
  StepOptions adam;
};
std::string Describe(const ImitationOptions& options);

// Goes on from `begin` and leaves in the folder what Pretrain() leaves there, with the same promises. The plans of a
// context that are left are wanted as a prior that predicts without error would draw them; the loss is the cross
// entropy of whole plans under the mask, with the prior, and logged beside what the prior alone has. Watched for it.
Status Imitate(const std::vector<RecordedProblem>& problems, const std::vector<RecordedProblem>& held_out,
               const PolicyModel& begin, const ImitationOptions& options, Trainer& trainer,
               const std::filesystem::path& folder, const TrainingHooks& hooks);

}  // namespace gemmsmith
