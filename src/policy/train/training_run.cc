#include "policy/train/training_run.h"

#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/seconds.h"
#include "policy/train/checkpoint.h"
#include "policy/train/training_log.h"

namespace gemmsmith {

namespace {

using SteadyClock = std::chrono::steady_clock;

// Brings to the disk what was kept, as often as its share of the time allows.
class Syncing {
 public:
  Syncing(Checkpoints* checkpoints, TrainingLog* log, double share)
      : checkpoints_(*checkpoints), log_(*log), share_(share) {}

  Status SyncIfDue() {
    if (!SyncIsDue(SecondsSince(work_began_), last_seconds_, share_)) return OkStatus();
    return Sync();
  }

  // The log first: it may say more than the checkpoint. Where the machine goes down it may say less, and Restore() sees
  // to it.
  Status Sync() {
    const SteadyClock::time_point begin = SteadyClock::now();
    RETURN_IF_ERROR(log_.Sync());
    RETURN_IF_ERROR(checkpoints_.Sync());
    last_seconds_ = SecondsSince(begin);
    work_began_ = SteadyClock::now();
    return OkStatus();
  }

 private:
  Checkpoints& checkpoints_;
  TrainingLog& log_;
  const double share_;
  SteadyClock::time_point work_began_ = SteadyClock::now();
  double last_seconds_ = 0;
};

// None: as many as there are checkpoints.
int64_t LoggedSteps(const std::filesystem::path& folder) {
  const std::vector<nlohmann::ordered_json> log = ReadLog(folder);
  return log.empty() ? std::numeric_limits<int64_t>::max() : log.back()["step"].get<int64_t>();
}

}  // namespace

Status RunSteps(const TrainingRun& run, const PolicyModel& begin, Trainer& trainer, const TrainingHooks& hooks,
                const std::function<Result<nlohmann::ordered_json>(int64_t)>& step) {
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::TryAcquire(run.folder / ".lock"));
  Checkpoints checkpoints(run.folder, begin.config, run.options);
  ASSIGN_OR_RETURN(const std::optional<int64_t> restored,
                   checkpoints.Restore(trainer, hooks.note, LoggedSteps(run.folder)));
  if (!restored) RETURN_IF_ERROR(PutModel(begin, trainer));
  int64_t done = restored.value_or(0);
  ASSIGN_OR_RETURN(TrainingLog log, TrainingLog::Open(run.folder, done));
  Syncing syncing(&checkpoints, &log, run.sync_share);
  while (done < run.steps && !hooks.stop()) {
    ASSIGN_OR_RETURN(const nlohmann::ordered_json line, step(done + 1));
    RETURN_IF_ERROR(log.Append(line));
    const bool is_last = ++done == run.steps || hooks.stop();
    if (!is_last && done % run.keep_every != 0) continue;
    RETURN_IF_ERROR(checkpoints.Keep(trainer, done));
    RETURN_IF_ERROR(syncing.SyncIfDue());
    if (is_last) break;
  }
  if (done != restored.value_or(0)) RETURN_IF_ERROR(syncing.Sync());
  if (done < run.steps) return OkStatus();
  ASSIGN_OR_RETURN(PolicyModel model, GetModel(begin.config, trainer));
  model.ablations = begin.ablations;
  model.tokenizer = begin.tokenizer;
  return WriteFileAtomic(run.folder / "weights.safetensors", EncodeModel(model));
}

}  // namespace gemmsmith
