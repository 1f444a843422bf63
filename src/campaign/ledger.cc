#include "campaign/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/seconds.h"

namespace gemmsmith {

namespace {

struct StoredFinals {
  std::vector<Trial> trials;  // where they are to be settled
  std::optional<Trial> best;
  int passed = 0;
  bool any_refused = false;

  void Take(const Trial& trial, const CampaignOptions& options) {
    if (options.standing) trials.push_back(trial);
    if (trial.outcome.kind != OutcomeKind::kMeasured) {
      any_refused = true;
      return;
    }
    ++passed;
    if (!best || CostOf(options.objective, trial.outcome) < CostOf(options.objective, best->outcome)) best = trial;
  }
};

// Times of another model would decide what is searched and named here.
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
    : options_(options), archive_(archive), stop_(stop), on_event_(on_event) {
  for (const Gemm& gemm : options.problems) {
    left_.push_back(result_.problems.size());
    result_.problems.push_back({.gemm = gemm});
  }
}

// Two queries, however many problems there are. They cannot tell whether a problem with fewer finals than asked for, or
// with a refused one, has more to judge: such a problem is loaded and gone on with, which costs nothing but time.
Status Ledger::FindFinished(const std::string& device_key) {
  if (archive_ == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(stored_, archive_->CountByProblem({.campaign = options_.name}));
  RETURN_IF_ERROR(CheckDevice(*archive_, options_.name, device_key, stored_));
  if (!options_.finished_after || stored_.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const auto screened,
                   archive_->CountByProblem({.campaign = options_.name, .protocol = Protocol::kScreen}));
  std::map<Gemm, StoredFinals> finals;
  RETURN_IF_ERROR(archive_->ForEach({.campaign = options_.name, .protocol = Protocol::kShort},
                                    [&](const Trial& trial) { finals[trial.gemm].Take(trial, options_); }));
  // A recording may answer a screening in the short protocol, so finals alone say nothing.
  const int64_t enough_screened = std::max(*options_.finished_after, options_.finalists);
  const std::lock_guard lock(mutex_);
  for (ProblemResult& result : result_.problems) {
    const auto found = finals.find(result.gemm);
    const auto count = screened.find(result.gemm);
    if (found == finals.end() || count == screened.end() || count->second < enough_screened) continue;
    if (found->second.any_refused || !found->second.best) continue;
    if (found->second.passed < FinalistsOf(options_, found->second.best->outcome.TimeNs())) continue;
    if (options_.standing) RETURN_IF_ERROR(options_.standing->settle(result.gemm, found->second.trials));
    result.complete = result.found = true;
    result.best = found->second.best;
  }
  std::erase_if(left_, [&](size_t problem) { return result_.problems[problem].complete; });
  for (size_t problem = 0; problem < result_.problems.size(); ++problem)
    if (result_.problems[problem].found) TellOfComplete(problem);
  return OkStatus();
}

double Ledger::seconds() const { return SecondsSince(start_); }

std::vector<size_t> Ledger::TakeShape() {
  const std::lock_guard lock(mutex_);
  std::vector<size_t> taken;
  const auto shape_of = [&](size_t problem) { return options_.problems[problem].shape; };
  while (!left_.empty() && (taken.empty() || shape_of(left_.front()) == shape_of(taken.front()))) {
    taken.push_back(left_.front());
    left_.pop_front();
  }
  return taken;
}

size_t Ledger::CountLeft() {
  const std::lock_guard lock(mutex_);
  return left_.size();
}

void Ledger::GiveBack(std::span<const size_t> problems) {
  const std::lock_guard lock(mutex_);
  left_.insert(left_.begin(), problems.begin(), problems.end());
}

bool Ledger::IsToStop() {
  const std::lock_guard lock(mutex_);
  if (!result_.stop_reason.empty()) return true;
  std::optional<std::string> reason = stop_.ShouldStop({int(result_.judged), seconds(), 0});
  if (reason) result_.stop_reason = *std::move(reason);
  return reason.has_value();
}

void Ledger::Fail(const Status& world) {
  const std::lock_guard lock(mutex_);
  if (result_.failure.ok()) result_.failure = world;
}

void Ledger::TellOfTrial(const ProblemRun& run, const Trial& trial, bool resumed) {
  const std::lock_guard lock(mutex_);
  if (!resumed) ++result_.judged;
  if (!on_event_) return;
  on_event_({.trial = &trial,
             .resumed = resumed,
             .best = run.Best(),
             .problem = run.index(),
             .problems_complete = problems_complete_,
             .evaluations = run.evaluations(),
             .judged = result_.judged,
             .seconds = seconds()});
}

void Ledger::Complete(size_t problem, ProblemResult result) {
  const std::lock_guard lock(mutex_);
  result_.problems[problem] = std::move(result);
  TellOfComplete(problem);
}

void Ledger::TellOfComplete(size_t problem) {
  ++problems_complete_;
  if (!on_event_) return;
  const ProblemResult& result = result_.problems[problem];
  on_event_({.complete = &result,
             .best = result.best ? &*result.best : nullptr,
             .problem = problem,
             .problems_complete = problems_complete_,
             .evaluations = result.evaluations + result.resumed,
             .judged = result_.judged,
             .seconds = seconds()});
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
  const std::lock_guard lock(mutex_);
  const bool is_limited = !result_.stop_reason.empty() && result_.failure.ok();
  if (!result_.failure.ok()) result_.stop_reason = result_.failure.message();
  if (problems_complete_ == 0 && !is_limited) RETURN_IF_ERROR(FirstFailure());
  result_.seconds = seconds();
  return std::move(result_);
}

}  // namespace gemmsmith
