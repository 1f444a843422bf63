// The state of a run on disk. Two files, checkpoint_a and checkpoint_b, hold the last two states that were kept: the
// new one is written over the older, whole or not at all, so that at every moment one of them is sound, and where
// the later one is damaged there is the one before it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "policy/train/trainer.h"

namespace gemmsmith {

class Checkpoints {
 public:
  // `options`: what must be the same for a checkpoint to be gone on from.
  Checkpoints(std::filesystem::path folder, const ModelConfig& config, std::string options)
      : folder_(std::move(folder)), config_(config), options_(std::move(options)) {}

  // Puts the later state into the trainer and gives its step; nothing where there are no checkpoints. What is damaged
  // is told to `note` with what takes its place. DataLoss where only damaged ones are there, InvalidArgument where one
  // was made with other options or words; both say what to do. Removes what was left half-written.
  Result<std::optional<int64_t>> Restore(Trainer& trainer, const std::function<void(const std::string&)>& note);

  // Weights, both moments and the step, with a sum of all bytes.
  Status Keep(Trainer& trainer, int64_t step);

 private:
  const std::filesystem::path folder_;
  const ModelConfig config_;
  const std::string options_;
  size_t next_ = 0;  // which file is written next
};

// Whether another checkpoint leaves checkpoints within their share of the time: after so many seconds of work, where
// the last one took so long (0: none yet).
bool CheckpointIsDue(double work_seconds, double last_seconds, double share);

}  // namespace gemmsmith
