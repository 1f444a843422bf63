#include <filesystem>

#include "base/stderr_text.h"
#include "evaluate/isolate/isolated_evaluator.h"
#include "gpu/gpu.h"

namespace gemmsmith {

namespace {

Result<FileLock> WaitForLock(int ordinal, const std::filesystem::path& path) {
  Result<FileLock> lock = FileLock::TryAcquire(path);
  if (lock.ok() || lock.status().code() != StatusCode::kUnavailable) return lock;
  WriteStderr(fmt::format("waiting for GPU {}: {}\n", ordinal, lock.status().message()));
  return FileLock::Acquire(path);
}

// One lock a GPU for every user of the machine; whoever creates the file lets the others open it.
Result<FileLock> LockGpu(int ordinal, const std::string& uuid) {
  const std::filesystem::path path = fmt::format("/tmp/gemmsmith-gpu-{}.lock", uuid);
  Result<FileLock> lock = WaitForLock(ordinal, path);
  using std::filesystem::perms;
  std::error_code not_our_file;
  if (lock.ok())
    std::filesystem::permissions(path,
                                 perms::owner_read | perms::owner_write | perms::group_read | perms::group_write |
                                     perms::others_read | perms::others_write,
                                 not_our_file);
  return lock;
}

}  // namespace

Result<std::unique_ptr<Evaluator>> MakeIsolatedEvaluator(const IsolationOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<GpuIdentity> gpus, ListGpus());
  if (options.gpu_ordinal < 0 || size_t(options.gpu_ordinal) >= gpus.size())
    return Unavailable(fmt::format("there is no GPU {}; the driver sees {}", options.gpu_ordinal, gpus.size()));
  ASSIGN_OR_RETURN(FileLock lock, LockGpu(options.gpu_ordinal, gpus[options.gpu_ordinal].uuid));
  const std::string program = options.worker_program.empty() ? "/proc/self/exe" : options.worker_program;
  WorkerLimits limits;
  limits.candidate_seconds = options.candidate_limit_seconds;
  limits.candidate_total_seconds = 60 * options.candidate_limit_seconds;
  ASSIGN_OR_RETURN(std::unique_ptr<IsolatedEvaluator> evaluator,
                   IsolatedEvaluator::Start({program, "worker", "--gpu", std::to_string(options.gpu_ordinal)}, limits,
                                            std::move(lock)));
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

}  // namespace gemmsmith
