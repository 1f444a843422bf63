// What the workers of a campaign share: the queue of its problems, what became of each, and the listener.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/work_queue.h"
#include "campaign/problem_run.h"

namespace gemmsmith {

// All functions but FindFinished() and Finish() may be called by many threads.
class Ledger {
 public:
  // All of them outlive it; the archive may be null. `on_event` is called by one thread at a time.
  Ledger(const CampaignOptions& options, Archive* archive, StopRule& stop,
         const std::function<void(const CampaignEvent&)>& on_event);

  // Before the first worker begins: problems that are finished in the archive are complete. InvalidArgument where the
  // archive holds trials of another device model under this name.
  Status FindFinished(const std::string& device_key);

  const CampaignOptions& options() const { return options_; }
  Archive* archive() const { return archive_; }
  // The problems by index; the layouts of a shape are one group, since one session judges them.
  WorkQueue& queue() { return queue_; }
  // Whether the archive had trials of the problem before this call.
  bool HasStored(const Gemm& gemm) const { return stored_.contains(gemm); }

  void TellOfTrial(const ProblemRun& run, const Trial& trial, bool resumed);
  void Complete(size_t problem, ProblemResult result);
  // Keeps the result of a problem that is not complete.
  void Leave(size_t problem, ProblemResult result);

  // After the last worker. The failure, where there was one and no problem is complete.
  Result<CampaignResult> Finish();

 private:
  // Both under the lock.
  void TellOfComplete(size_t problem);
  void Tell(CampaignEvent event, size_t problem);
  Status FirstFailure() const;

  const CampaignOptions& options_;
  Archive* const archive_;
  const std::function<void(const CampaignEvent&)>& on_event_;
  WorkQueue queue_;
  std::map<Gemm, int64_t> stored_;  // trials of this campaign before this call

  std::mutex mutex_;
  CampaignResult result_;
  size_t problems_complete_ = 0;
};

}  // namespace gemmsmith
