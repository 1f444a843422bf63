#include "campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "campaign/compile_ahead.h"
#include "campaign/interrupt.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

namespace {

using Seconds = std::chrono::duration<double>;
// How often a campaign that waits for the compiler looks at its stop rules.
constexpr std::chrono::milliseconds kPatience{50};

bool Faster(const Trial& first, const Trial& second) {
  return std::pair(first.outcome.TimeNs(), first.plan) < std::pair(second.outcome.TimeNs(), second.plan);
}

class CampaignRun {
 public:
  CampaignRun(const CampaignOptions& options, Proposer& proposer, Evaluator& evaluator, Compiler* compiler,
              Archive* archive, StopRule& stop, const std::function<void(const CampaignEvent&)>& on_event)
      : options_(options),
        proposer_(proposer),
        archive_(archive),
        stop_(stop),
        on_event_(on_event),
        run_trial_(evaluator, compiler, archive, options.name),
        ahead_(evaluator.device(), compiler, options.compile_threads) {}

  Result<CampaignResult> Run() {
    RETURN_IF_ERROR(Resume());
    RETURN_IF_ERROR(Search());
    ahead_.Abandon();
    std::sort(measured_.begin(), measured_.end(), Faster);
    if (!measured_.empty()) result_.best = measured_.front();
    if (HasFinals() && !InterruptArrived()) RETURN_IF_ERROR(JudgeFinalists());
    for (const auto& [kind, count] : by_outcome_) result_.by_outcome.emplace_back(kind, count);
    result_.seconds = SecondsSinceStart();
    return std::move(result_);
  }

 private:
  bool HasFinals() const { return options_.finalists > 0 && options_.search_protocol == Protocol::kScreen; }

  double SecondsSinceStart() const { return Seconds(std::chrono::steady_clock::now() - start_).count(); }

  EvaluationRequest RequestFor(const Plan& plan, Protocol protocol) const {
    return {.gemm = options_.gemm,
            .plan = plan,
            .protocol = protocol,
            .offline_clock = protocol == Protocol::kShort,
            .seed = options_.seed};
  }

  Status Resume() {
    if (archive_ == nullptr) return OkStatus();
    ASSIGN_OR_RETURN(const std::vector<Trial> trials,
                     archive_->Load({.campaign = options_.name, .gemm = options_.gemm}));
    for (const Trial& trial : trials) {
      if (HasFinals() && trial.outcome.protocol == Protocol::kShort) {
        finals_.emplace(trial.plan, trial);
      } else {
        ++result_.resumed;
        Account(trial, true);
      }
    }
    return OkStatus();
  }

  // What a search trial means for the proposer, the ranking and the budgets.
  void Account(const Trial& trial, bool resumed) {
    proposer_.Observe(trial.plan, trial.outcome);
    ++by_outcome_[trial.outcome.kind];
    ++evaluations_;
    ++since_best_;
    if (trial.outcome.kind == OutcomeKind::kMeasured) {
      measured_.push_back(trial);
      if (measured_.size() == 1 || Faster(trial, measured_[best_])) {
        best_ = measured_.size() - 1;
        since_best_ = 0;
      }
    }
    Tell(trial, resumed, false, measured_.empty() ? nullptr : &measured_[best_]);
  }

  void Tell(const Trial& trial, bool resumed, bool finalist, const Trial* best) {
    if (!on_event_) return;
    on_event_({.trial = &trial,
               .resumed = resumed,
               .finalist = finalist,
               .best = best,
               .evaluations = evaluations_,
               .seconds = SecondsSinceStart()});
  }

  Status Search() {
    while (true) {
      if (std::optional<std::string> reason = stop_.ShouldStop({evaluations_, SecondsSinceStart(), since_best_})) {
        result_.stop_reason = *std::move(reason);
        return OkStatus();
      }
      FillWindow();
      if (ahead_.pending() == 0) {
        result_.stop_reason = "every plan of the space is judged";
        return OkStatus();
      }
      if (const std::optional<CompileAhead::Candidate> candidate = ahead_.Take(kPatience)) {
        RETURN_IF_ERROR(JudgeOne(*candidate));
      }
    }
  }

  void FillWindow() {
    if (ahead_.pending() >= ahead_.window()) return;
    for (const Plan& plan : proposer_.Propose(int(ahead_.window() - ahead_.pending()))) {
      ahead_.Add(RequestFor(plan, options_.search_protocol));
    }
  }

  Status JudgeOne(const CompileAhead::Candidate& candidate) {
    RETURN_IF_ERROR(candidate.prepared.status());
    const Result<Trial> trial = run_trial_(candidate.request, *candidate.prepared);
    if (trial.ok()) {
      ++result_.evaluations;
      Account(*trial, false);
    } else if (trial.status().code() == StatusCode::kNotFound) {
      ++result_.misses;
    } else {
      return trial.status();
    }
    return OkStatus();
  }

  // From the fastest on, until enough have passed: one that the careful protocol refuses makes room for the next.
  Status JudgeFinalists() {
    std::optional<Trial> best;
    int passed = 0;
    for (const Trial& searched : measured_) {
      if (passed == options_.finalists) break;
      if (InterruptArrived()) return OkStatus();
      const bool resumed = finals_.contains(searched.plan);
      if (!resumed) {
        Result<Trial> judged = JudgeFinalist(searched.plan);
        if (judged.status().code() == StatusCode::kNotFound) continue;
        if (!judged.ok()) return judged.status();
        finals_.emplace(searched.plan, *std::move(judged));
      }
      const Trial& final = finals_.at(searched.plan);
      if (final.outcome.kind == OutcomeKind::kMeasured) {
        ++passed;
        if (!best || Faster(final, *best)) best = final;
      }
      Tell(final, resumed, true, best ? &*best : nullptr);
    }
    result_.best = best;
    return OkStatus();
  }

  Result<Trial> JudgeFinalist(const Plan& plan) {
    const EvaluationRequest request = RequestFor(plan, Protocol::kShort);
    ASSIGN_OR_RETURN(const PreparedCandidate candidate, ahead_.PrepareNow(request));
    return run_trial_(request, candidate);
  }

  const CampaignOptions& options_;
  Proposer& proposer_;
  Archive* const archive_;
  StopRule& stop_;
  const std::function<void(const CampaignEvent&)>& on_event_;
  TrialRunner run_trial_;
  CompileAhead ahead_;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  CampaignResult result_;
  std::map<OutcomeKind, int> by_outcome_;
  std::vector<Trial> measured_;
  std::map<Plan, Trial> finals_;
  size_t best_ = 0;  // in measured_ while searching
  int evaluations_ = 0, since_best_ = 0;
};

}  // namespace

Result<CampaignResult> RunCampaign(const CampaignOptions& options, Proposer& proposer, Evaluator& evaluator,
                                   Compiler* compiler, Archive* archive, StopRule& stop,
                                   const std::function<void(const CampaignEvent&)>& on_event) {
  return CampaignRun(options, proposer, evaluator, compiler, archive, stop, on_event).Run();
}

}  // namespace gemmsmith
