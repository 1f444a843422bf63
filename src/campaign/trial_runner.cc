#include "campaign/trial_runner.h"

#include <fmt/format.h>

#include <chrono>

#include "archive/replay.h"
#include "archive/sound_trial.h"
#include "base/seconds.h"

namespace gemmsmith {

Status CheckDevice(const Trial& stored, std::string_view device_key) {
  if (stored.setting.device_key == device_key) return OkStatus();
  return InvalidArgument(fmt::format("the stored trials of '{}' are of another device, {}: choose another name",
                                     stored.campaign, stored.setting.device_key));
}

Status CheckClock(const Trial& stored) {
  if (IsReplayed(stored) || !stored.IsTimedPlan() || stored.outcome.LeadingClock() == Clock::kDeviceCold)
    return OkStatus();
  return InvalidArgument(fmt::format("the stored trials of '{}' are timed on {}, new ones on {}: choose another name",
                                     stored.campaign, Name(stored.outcome.LeadingClock()), Name(Clock::kDeviceCold)));
}

TrialRunner::TrialRunner(Evaluator& evaluator, const Compiler* compiler, Archive* archive, std::string campaign)
    : evaluator_(evaluator), archive_(archive), campaign_(std::move(campaign)), setting_(evaluator.setting()) {
  if (compiler != nullptr) setting_.toolchain = compiler->Identity();
}

std::vector<Result<Outcome>> TrialRunner::Judge(std::vector<Candidate>& candidates) {
  std::vector<Candidate> to_run;
  for (Candidate& candidate : candidates)
    if (!candidate.prepared.ended) to_run.push_back({candidate.request, std::move(candidate.prepared)});
  std::vector<Result<Outcome>> judged;
  if (!to_run.empty()) judged = evaluator_.EvaluateTogether(to_run);
  GEMMSMITH_CHECK(judged.size() == to_run.size(), "{} answers for {} candidates", judged.size(), to_run.size());
  std::vector<Result<Outcome>> outcomes;
  size_t next = 0;
  for (Candidate& candidate : candidates) {
    if (candidate.prepared.ended) {
      outcomes.push_back(*std::move(candidate.prepared.ended));
      outcomes.back()->protocol = candidate.request.protocol;
      continue;
    }
    const Compilation& compilation = to_run[next].prepared.compilation;
    outcomes.push_back(std::move(judged[next++]));
    if (outcomes.back().ok() && compilation.succeeded) outcomes.back()->compile_seconds = compilation.seconds;
  }
  return outcomes;
}

Result<Trial> TrialRunner::TrialOf(const EvaluationRequest& request, TrialSubject subject, Result<Outcome> outcome,
                                   int64_t unix_ms) const {
  Trial trial{.gemm = request.gemm,
              .subject = std::move(subject),
              .setting = setting_,
              .seed = request.seed,
              .unix_ms = unix_ms,
              .campaign = campaign_};
  ASSIGN_OR_RETURN(trial.outcome, std::move(outcome));
  // A reader would refuse it.
  if (const Status sound = CheckTimes(trial.outcome); !sound.ok())
    return IoError(fmt::format("judging {}: {}", Print(trial.gemm), sound.message()));
  return trial;
}

Result<JudgedList> TrialRunner::operator()(std::vector<Candidate> candidates) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Result<Outcome>> outcomes = Judge(candidates);
  const int64_t unix_ms = UnixMsNow();  // one moment for one race
  JudgedList list;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Result<Trial> trial =
        TrialOf(candidates[i].request, SubjectOf(candidates[i].request.subject), std::move(outcomes[i]), unix_ms);
    if (trial.ok())
      list.trials.push_back(*std::move(trial));
    else if (const Plan* plan = std::get_if<Plan>(&candidates[i].request.subject);
             plan != nullptr && trial.status().code() == StatusCode::kNotFound)
      list.missed.emplace_back(candidates[i].request.gemm, *plan);
    else if (list.failure.ok())
      list.failure = trial.status();
  }
  if (archive_ != nullptr) RETURN_IF_ERROR(archive_->Add(list.trials));
  list.seconds = SecondsSince(start);
  return list;
}

Result<JudgedList> TrialRunner::RaceBaselines(const EvaluationRequest& request) {
  Result<Trial> trial = TrialOf(request, Nobody(), evaluator_.RaceBaselines(request), UnixMsNow());
  if (!trial.ok()) return JudgedList{.failure = trial.status()};
  JudgedList list{.trials = {*std::move(trial)}};
  if (archive_ != nullptr) RETURN_IF_ERROR(archive_->Add(list.trials));
  return list;
}

}  // namespace gemmsmith
