#include "campaign/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "campaign/trial_runner.h"

namespace gemmsmith {

namespace {

struct StoredFinals {
  std::vector<Trial> trials;  // where they decide on a standing kernel
  std::optional<Trial> best;
  int passed = 0;
  bool any_refused = false;

  void Add(const Trial& trial, const CampaignOptions& options) {
    if (options.standing) trials.push_back(trial);
    if (trial.outcome.kind != OutcomeKind::kMeasured) {
      any_refused = true;
      return;
    }
    ++passed;
    if (!best || CostOf(options.objective, trial) < CostOf(options.objective, *best)) best = trial;
  }
};

// Times of another device model must not decide here.
Status CheckDevice(const Archive& archive, const std::string& campaign, const std::string& device_key,
                   const std::map<Gemm, int64_t>& stored) {
  ASSIGN_OR_RETURN(const auto of_this_device, archive.CountByProblem({.campaign = campaign, .device_key = device_key}));
  // Another process may have stored more since the first count.
  const bool all_are = std::all_of(stored.begin(), stored.end(), [&](const auto& one) {
    const auto ours = of_this_device.find(one.first);
    return ours != of_this_device.end() && ours->second >= one.second;
  });
  if (all_are) return OkStatus();
  return InvalidArgument(
      fmt::format("the archive holds trials of another device than '{}' under the name '{}'", device_key, campaign));
}

}  // namespace

Ledger::Ledger(const CampaignOptions& options, Archive* archive, StopRule& stop,
               const std::function<void(const CampaignEvent&)>& on_event)
    : options_(options),
      archive_(archive),
      on_event_(on_event),
      queue_(GroupBy(options.problems, [](const Gemm& gemm) { return gemm.shape; }), stop) {
  for (const Gemm& gemm : options.problems) result_.problems.push_back({.gemm = gemm});
}

// Two queries, however many problems there are. A problem with fewer finals than asked for, or with a refused one, may
// have more to judge: it is loaded and continued, which costs only time.
Status Ledger::FindFinished(const std::string& device_key) {
  if (archive_ == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(stored_, archive_->CountByProblem({.campaign = options_.name}));
  RETURN_IF_ERROR(CheckDevice(*archive_, options_.name, device_key, stored_));
  if (!options_.finished_after || stored_.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const auto screened,
                   archive_->CountByProblem({.campaign = options_.name, .protocol = Protocol::kScreen}));
  std::map<Gemm, StoredFinals> finals;
  RETURN_IF_ERROR(archive_->ForEach({.campaign = options_.name, .protocol = Protocol::kShort},
                                    [&](const Trial& trial) { finals[trial.gemm].Add(trial, options_); }));
  // A recording may answer a screening in the short protocol, so finals alone say nothing.
  const int64_t enough_screened = std::max(*options_.finished_after, options_.finalists);
  for (size_t problem = 0; problem < result_.problems.size(); ++problem) {
    ProblemResult& result = result_.problems[problem];
    const auto found = finals.find(result.gemm);
    const auto count = screened.find(result.gemm);
    if (found == finals.end() || count == screened.end() || count->second < enough_screened) continue;
    if (found->second.any_refused || !found->second.best) continue;
    RETURN_IF_ERROR(CheckClock(*found->second.best));
    if (found->second.passed < options_.finalists) continue;
    if (options_.standing) RETURN_IF_ERROR(options_.standing->decide(result.gemm, found->second.trials));
    result.complete = result.found = true;
    result.best = found->second.best;
    queue_.Drop(problem);
  }
  for (size_t problem = 0; problem < result_.problems.size(); ++problem)
    if (result_.problems[problem].found) TellOfComplete(problem);
  return OkStatus();
}

void Ledger::TellOfTrial(const ProblemRun& run, const Trial& trial, bool resumed) {
  const std::lock_guard lock(mutex_);
  if (!resumed) queue_.CountEvaluations(1);
  Tell({.trial = &trial, .resumed = resumed, .best = run.Best(), .evaluations = run.evaluations()}, run.index());
}

void Ledger::Complete(size_t problem, ProblemResult result) {
  const std::lock_guard lock(mutex_);
  result_.problems[problem] = std::move(result);
  TellOfComplete(problem);
}

void Ledger::TellOfComplete(size_t problem) {
  ++problems_complete_;
  const ProblemResult& result = result_.problems[problem];
  Tell({.complete = &result,
        .best = result.best ? &*result.best : nullptr,
        .evaluations = result.evaluations + result.resumed},
       problem);
}

void Ledger::Tell(CampaignEvent event, size_t problem) {
  if (!on_event_) return;
  event.problem = problem;
  event.problems_complete = problems_complete_;
  event.judged = queue_.evaluations();
  event.seconds = queue_.seconds();
  on_event_(event);
}

void Ledger::Leave(size_t problem, ProblemResult result) {
  const std::lock_guard lock(mutex_);
  result_.problems[problem] = std::move(result);
}

Status Ledger::FirstFailure() const {
  for (const ProblemResult& problem : result_.problems) RETURN_IF_ERROR(problem.failure);
  return result_.failure;
}

Result<CampaignResult> Ledger::Finish() {
  result_.failure = queue_.failure();
  result_.stop_reason = queue_.stop_reason();
  const bool is_limited = !result_.stop_reason.empty() && result_.failure.ok();
  if (!result_.failure.ok()) result_.stop_reason = result_.failure.message();
  if (problems_complete_ == 0 && !is_limited) RETURN_IF_ERROR(FirstFailure());
  result_.judged = queue_.evaluations();
  result_.seconds = queue_.seconds();
  return std::move(result_);
}

}  // namespace gemmsmith
