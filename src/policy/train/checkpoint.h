// The state of training as a file, and a log that keeps step with it.
#pragma once

#include <filesystem>
#include <string>

#include "policy/train/trainer.h"

namespace gemmsmith {

// Weights and moments in single precision behind the `step`-th step. `options`: what must be the same to go on.
Result<std::string> EncodeState(const ModelConfig& config, Trainer& trainer, int64_t step, const std::string& options);

// Puts the checkpoint's state into the trainer and gives its step; where there is no such file, `begin` and 0.
// InvalidArgument where it was made with other options or words, DataLoss where it is damaged.
Result<int64_t> BeginOrGoOn(const std::filesystem::path& checkpoint, const PolicyModel& begin,
                            const std::string& options, Trainer& trainer);

// The lines of a log up to a step: what was logged behind a checkpoint comes again.
Result<std::string> LogUpTo(const std::filesystem::path& path, int64_t step);

}  // namespace gemmsmith
