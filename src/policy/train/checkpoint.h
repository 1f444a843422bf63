// What all training has in common: steps in a folder, that a run which was stopped goes on from as if it had never
// been.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "policy/train/trainer.h"

namespace gemmsmith {

struct TrainingRun {
  std::filesystem::path folder;
  int64_t steps = 0;
  int64_t checkpoint_every = 1;  // steps; the last one is always kept
  std::string options;           // what must be the same for a checkpoint to be gone on from
};

// Begins from these weights, or goes on from the folder's checkpoint, and takes one step after the other until all are
// done or, between two of them, `stop` says so. `step` is given its number, from 1, trains, and returns its line of the
// log, a JSON object with that number as "step". Leaves in the folder: checkpoint.safetensors (weights and moments in
// single precision), log.jsonl (a line a step; what was logged behind the checkpoint comes again) and, behind the last
// step, weights.safetensors. Every write is atomic. InvalidArgument where the checkpoint was made with other options or
// words, DataLoss where it is damaged.
Status TakeSteps(const TrainingRun& run, const PolicyModel& begin, Trainer& trainer, const std::function<bool()>& stop,
                 const std::function<Result<std::string>(int64_t)>& step);

}  // namespace gemmsmith
