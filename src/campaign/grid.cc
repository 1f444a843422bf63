#include "campaign/grid.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/seconds.h"
#include "campaign/compile_ahead.h"
#include "campaign/trial_runner.h"
#include "search/pace.h"

namespace gemmsmith {

namespace {

class GridRun {
 public:
  GridRun(const GridOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive, StopRule& stop,
          const std::function<void(const GridEvent&)>& on_event)
      : options_(options),
        device_key_(evaluator.device().key),
        archive_(archive),
        stop_(stop),
        on_event_(on_event),
        run_trials_(evaluator, compiler, &archive, options.name),
        ahead_(evaluator.device(), compiler, options.compile_threads) {}

  Result<GridResult> Run() {
    result_.total = options_.problems.size() * options_.plans.size();
    RETURN_IF_ERROR(FindOpenCells());
    while (true) {
      FillWindow();
      RETURN_IF_ERROR(JudgeFinalistsOfCompleteProblems());
      if (ahead_.pending() == 0 || IsToStop()) break;
      const size_t most = std::min(kListSize, size_t(stop_.EvaluationsLeft(ProgressNow())));
      ASSIGN_OR_RETURN(CompileAhead::List list, ahead_.Take(most, kPatience));
      if (!list.contenders.empty()) RETURN_IF_ERROR(Judge(std::move(list)));
    }
    for (const auto& [kind, count] : by_outcome_) result_.by_outcome.emplace_back(kind, count);
    result_.seconds = SecondsSinceStart();
    return std::move(result_);
  }

 private:
  struct Cell {
    uint32_t problem;
    uint32_t plan;
  };

  double SecondsSinceStart() const { return SecondsSince(start_); }

  StopRule::Progress ProgressNow() const { return {int(result_.judged), SecondsSinceStart(), 0}; }

  bool IsToStop() {
    if (result_.stop_reason.empty()) result_.stop_reason = stop_.ShouldStop(ProgressNow()).value_or("");
    return !result_.stop_reason.empty();
  }

  Status FindOpenCells() {
    Status unlike;
    for (uint32_t problem = 0; problem < options_.problems.size(); ++problem) {
      TrialFilter filter{.gemm = options_.problems[problem]};
      if (!options_.skip_recorded) filter.campaign = options_.name;
      std::set<Plan> known;
      RETURN_IF_ERROR(archive_.ForEach(filter, [&](const Trial& trial) {
        if (trial.campaign == options_.name && unlike.ok()) unlike = CheckDevice(trial, device_key_);
        const bool is_of_here = trial.setting.device_key == device_key_;
        if (is_of_here && trial.HasPlan() && trial.outcome.protocol == options_.protocol) known.insert(trial.plan());
      }));
      RETURN_IF_ERROR(unlike);
      for (uint32_t plan = 0; plan < options_.plans.size(); ++plan) {
        if (!known.contains(options_.plans[plan])) open_.push_back({problem, plan});
      }
    }
    result_.skipped = result_.total - open_.size();
    return OkStatus();
  }

  // Where nothing but screenings comes, AutoTuning is a pace for them and nobody's rival: a brief race chooses it.
  // The window may reach into the next problem, so that the GPU finds kernels ready when it gets there.
  void FillWindow() {
    while (next_ < open_.size() && ahead_.pending() < ahead_.window()) {
      const Cell cell = open_[next_++];
      ++open_of_problem_[cell.problem];
      ahead_.Add(cell.problem, {{.gemm = options_.problems[cell.problem],
                                 .protocol = options_.protocol,
                                 .clocks = options_.clocks,
                                 .seed = options_.seed,
                                 .counters = options_.counters && options_.finalists == 0,
                                 .brief = options_.protocol == Protocol::kScreen && options_.finalists == 0},
                                options_.plans[cell.plan]});
    }
  }

  Status Judge(CompileAhead::List list) {
    ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(list.contenders)));
    RETURN_IF_ERROR(judged.world);
    GEMMSMITH_CHECK(judged.missed.empty(), "a grid is measured, not replayed");
    const auto problem = open_of_problem_.find(uint32_t(list.turn));
    problem->second -= int(judged.trials.size());
    if (problem->second == 0) open_of_problem_.erase(problem);
    for (const Trial& trial : judged.trials) {
      ++result_.judged;
      ++by_outcome_[trial.outcome.kind];
      if (!on_event_) continue;
      on_event_({.trial = &trial,
                 .done = result_.skipped + result_.judged,
                 .total = result_.total,
                 .problem = list.turn,
                 .seconds = SecondsSinceStart()});
    }
    return OkStatus();
  }

  // Every cell of the next problem without finals is stored.
  bool NextProblemIsComplete() const {
    return finals_done_ < options_.problems.size() && (next_ == open_.size() || open_[next_].problem > finals_done_) &&
           (open_of_problem_.empty() || open_of_problem_.begin()->first > finals_done_);
  }

  Status JudgeFinalistsOfCompleteProblems() {
    for (; options_.finalists > 0 && NextProblemIsComplete(); ++finals_done_) {
      ASSIGN_OR_RETURN(const std::vector<EvaluationRequest> finals, FinalsLeft(finals_done_));
      if (finals.empty()) continue;
      if (IsToStop()) return OkStatus();
      ASSIGN_OR_RETURN(std::vector<Contender> contenders, ahead_.PrepareNow(finals));
      ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(contenders)));
      RETURN_IF_ERROR(judged.world);
    }
    return OkStatus();
  }

  Result<std::vector<EvaluationRequest>> FinalsLeft(uint32_t problem) const {
    std::vector<std::pair<double, Plan>> screened;
    Pace pace(true);
    std::set<Plan> judged;
    const TrialFilter filter{.campaign = options_.name, .gemm = options_.problems[problem]};
    RETURN_IF_ERROR(archive_.ForEach(filter, [&](const Trial& trial) {
      if (trial.HasPlan() && trial.outcome.protocol == Protocol::kShort)
        judged.insert(trial.plan());
      else if (trial.IsTimedPlan())
        screened.emplace_back(pace.TimeNs(trial.plan(), trial.outcome), trial.plan());
    }));
    std::sort(screened.begin(), screened.end());
    screened.resize(std::min(screened.size(), size_t(options_.finalists)));
    std::vector<EvaluationRequest> requests;
    for (const auto& [time_ns, plan] : screened) {
      if (judged.contains(plan)) continue;
      requests.push_back({{.gemm = options_.problems[problem],
                           .protocol = Protocol::kShort,
                           .clocks = {Clock::kDevice, Clock::kOffline},
                           .seed = options_.seed,
                           .counters = options_.counters},
                          plan});
    }
    return requests;
  }

  const GridOptions& options_;
  const std::string device_key_;
  Archive& archive_;
  StopRule& stop_;
  const std::function<void(const GridEvent&)>& on_event_;
  TrialRunner run_trials_;
  CompileAhead ahead_;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  GridResult result_;
  std::map<OutcomeKind, int> by_outcome_;
  std::vector<Cell> open_;
  size_t next_ = 0;
  uint32_t finals_done_ = 0;                 // problems, in order, whose finalists are judged
  std::map<uint32_t, int> open_of_problem_;  // cells under way, by problem
};

}  // namespace

Result<GridResult> RunGrid(const GridOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive,
                           StopRule& stop, const std::function<void(const GridEvent&)>& on_event) {
  GEMMSMITH_CHECK(options.finalists == 0 || options.protocol == Protocol::kScreen, "finals behind the {} protocol",
                  Name(options.protocol));
  return GridRun(options, evaluator, compiler, archive, stop, on_event).Run();
}

}  // namespace gemmsmith
