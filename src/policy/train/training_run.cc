#include "policy/train/training_run.h"

#include <chrono>

#include "base/files.h"
#include "base/seconds.h"
#include "policy/train/checkpoint.h"
#include "policy/train/training_log.h"

namespace gemmsmith {

namespace {

using Clock = std::chrono::steady_clock;

// Keeps states whenever the share of the time allows it.
class Keeper {
 public:
  Keeper(Checkpoints* checkpoints, TrainingLog* log, Trainer* trainer, double share)
      : checkpoints_(*checkpoints), log_(*log), trainer_(*trainer), share_(share) {}

  Status KeepIfDue(int64_t step) {
    if (!CheckpointIsDue(SecondsSince(work_began_), last_seconds_, share_)) return OkStatus();
    return Keep(step);
  }

  // The log first: it may say more than the checkpoint, never less.
  Status Keep(int64_t step) {
    if (kept_ == step) return OkStatus();
    const Clock::time_point begin = Clock::now();
    RETURN_IF_ERROR(log_.Sync());
    RETURN_IF_ERROR(checkpoints_.Keep(trainer_, step));
    kept_ = step;
    last_seconds_ = SecondsSince(begin);
    work_began_ = Clock::now();
    return OkStatus();
  }

 private:
  Checkpoints& checkpoints_;
  TrainingLog& log_;
  Trainer& trainer_;
  const double share_;
  Clock::time_point work_began_ = Clock::now();
  double last_seconds_ = 0;
  int64_t kept_ = -1;
};

}  // namespace

Status TakeSteps(const TrainingRun& run, const PolicyModel& begin, Trainer& trainer, const TrainingHooks& hooks,
                 const std::function<Result<nlohmann::ordered_json>(int64_t)>& step) {
  Checkpoints checkpoints(run.folder, begin.config, run.options);
  ASSIGN_OR_RETURN(const std::optional<int64_t> restored, checkpoints.Restore(trainer, hooks.note));
  if (!restored) RETURN_IF_ERROR(PutModel(begin, trainer));
  int64_t done = restored.value_or(0);
  ASSIGN_OR_RETURN(TrainingLog log, TrainingLog::Open(run.folder, done));
  Keeper keeper(&checkpoints, &log, &trainer, run.checkpoint_share);
  while (done < run.steps && !hooks.stop()) {
    ASSIGN_OR_RETURN(const nlohmann::ordered_json line, step(done + 1));
    RETURN_IF_ERROR(log.Append(line));
    ++done;
    RETURN_IF_ERROR(keeper.KeepIfDue(done));
  }
  if (done != restored) RETURN_IF_ERROR(keeper.Keep(done));
  if (done < run.steps) return OkStatus();
  ASSIGN_OR_RETURN(PolicyModel model, GetModel(begin.config, trainer));
  model.without = begin.without;
  return WriteFileAtomic(run.folder / "weights.safetensors", EncodeModel(model));
}

}  // namespace gemmsmith
