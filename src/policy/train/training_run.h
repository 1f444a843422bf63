// The loop that all training shares. Steps are kept in a folder, so that a stopped run resumes as if it had not
// stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "policy/train/trainer.h"

namespace gemmsmith {

struct TrainingRun {
  std::filesystem::path folder;
  int64_t steps = 0;
  std::string options;  // what must be the same for a checkpoint to be gone on from
  // Behind each of these steps a checkpoint is kept; it is brought to the disk as often as this share of the time
  // allows, and behind the last step.
  double sync_share = 0.1;
  int64_t keep_every = 1;  // steps between two checkpoints; the last step has one
};

// Callbacks of a run.
struct TrainingHooks {
  std::function<bool()> stop;                                      // between two steps
  std::function<void(int64_t step, std::optional<double>)> watch;  // what was trained for; nothing: unknown this time
  std::function<void(const std::string&)> note;                    // a line for whoever watches
  std::function<void(int64_t tokens)> count = nullptr;             // of a step of texts, before it is watched
};

// Begins from these weights, or goes on from the folder's checkpoint, and takes one step after the other until all are
// done or, between two of them, `stop` says so. `step` is given its number, from 1, trains, and returns its line of the
// log, a JSON object with that number as "step". Leaves in the folder: checkpoints (checkpoint.h), the log
// (training_log.h; what was logged behind the checkpoint comes again) and, behind the last step, weights.safetensors.
// InvalidArgument where a checkpoint was made with other options or words, DataLoss where none is sound.
Status RunSteps(const TrainingRun& run, const PolicyModel& begin, Trainer& trainer, const TrainingHooks& hooks,
                const std::function<Result<nlohmann::ordered_json>(int64_t)>& step);

}  // namespace gemmsmith
