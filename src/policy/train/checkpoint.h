// The state of a run on disk, kept behind every step. Three files, checkpoint_a to checkpoint_c, alternate: a state is
// written in place, into the one that holds neither the last state nor the last that was synced, and is sealed with a
// sum of all bytes when it is whole. So whatever ends the process, the state before is there, and where the machine
// goes down, the one that was synced last. One process at a time.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "policy/train/file_in_place.h"
#include "policy/train/trainer.h"

namespace gemmsmith {

class Checkpoints {
 public:
  // `options`: what must be the same for a checkpoint to be gone on from.
  Checkpoints(std::filesystem::path folder, const ModelConfig& config, std::string options)
      : folder_(std::move(folder)), config_(config), options_(std::move(options)) {}

  // Puts the latest state into the trainer, syncs it and gives its step; nothing where there are no checkpoints. States
  // behind step `logged` count only where there is no other: the disk may have got a state before the log. What is
  // damaged is told to `note` with what takes its place; what was not sealed is passed over. DataLoss where only
  // damaged ones are there, InvalidArgument where one was made with other options or words; both say what to do.
  Result<std::optional<int64_t>> Restore(Trainer& trainer, const std::function<void(const std::string&)>& note,
                                         int64_t logged = std::numeric_limits<int64_t>::max());

  // Weights, both moments and the step; in the memory of the system, which outlives the process.
  Status Keep(Trainer& trainer, int64_t step);
  // The state that was kept last; to the disk.
  Status Sync();

 private:
  static constexpr size_t kFiles = 3;
  std::filesystem::path PathOf(size_t file) const;
  size_t NextFile() const;

  const std::filesystem::path folder_;
  const ModelConfig config_;
  const std::string options_;
  std::string state_;  // as it is written; all have one layout
  std::array<std::optional<FileInPlace>, kFiles> files_;
  std::optional<size_t> last_, synced_;
};

// Whether syncing once more leaves that within its share of the time: after so many seconds of work, where it last took
// so long (0: it never did).
bool SyncIsDue(double work_seconds, double last_seconds, double share);

}  // namespace gemmsmith
