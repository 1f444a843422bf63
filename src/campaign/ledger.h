// What the lanes of a campaign share: which problems nobody has taken yet, what became of the others, when to stop and
// who is told. For many threads.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "campaign/problem_run.h"

namespace gemmsmith {

class Ledger {
 public:
  // All of them outlive it; the archive may be null. `on_event` is called by one thread at a time.
  Ledger(const CampaignOptions& options, Archive* archive, StopRule& stop,
         const std::function<void(const CampaignEvent&)>& on_event);

  // Before any lane begins: takes the problems that are finished in the archive for complete. InvalidArgument where it
  // holds trials of another device model under this name.
  Status FindFinished(const std::string& device_key);

  const CampaignOptions& options() const { return options_; }
  Archive* archive() const { return archive_; }
  double seconds() const;
  // Whether the archive had trials of it before this call.
  bool HasStored(const Gemm& gemm) const { return stored_.contains(gemm); }

  // The problems of the next shape that are not complete, by index: one session judges them all. None are left where it
  // is empty.
  std::vector<size_t> TakeShape();
  size_t CountLeft();  // problems that nobody has taken
  // For whoever asks next: a lane that took them cannot go on.
  void GiveBack(std::span<const size_t> problems);
  // Whether a rule says so, or said so before.
  bool IsToStop();
  void Fail(const Status& world);

  void TellOfTrial(const ProblemRun& run, const Trial& trial, bool resumed);
  void Complete(size_t problem, ProblemResult result);
  void Leave(size_t problem, ProblemResult result);  // as far as it came

  // When no lane is at work any more. Where the world failed and no problem is complete, its Status.
  Result<CampaignResult> Finish();

 private:
  // Under the lock.
  void TellOfComplete(size_t problem);
  Status FirstFailure() const;

  const CampaignOptions& options_;
  Archive* const archive_;
  StopRule& stop_;
  const std::function<void(const CampaignEvent&)>& on_event_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::map<Gemm, int64_t> stored_;  // trials of this campaign before this call

  std::mutex mutex_;
  CampaignResult result_;
  std::deque<size_t> left_;  // in the order of the options
  size_t problems_complete_ = 0;
};

}  // namespace gemmsmith
