#include "campaign/grid.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "base/work_queue.h"
#include "campaign/compile_ahead.h"
#include "campaign/trial_runner.h"
#include "search/pace.h"

namespace gemmsmith {

namespace {

// Every problem is a group of its own.
std::vector<size_t> GroupsOf(size_t problems) {
  std::vector<size_t> groups(problems);
  std::iota(groups.begin(), groups.end(), size_t{0});
  return groups;
}

class GridRun {
 public:
  GridRun(const GridOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive, StopRule& stop,
          const OnMeasured& on_event)
      : options_(options),
        device_key_(evaluator.device().key),
        archive_(archive),
        on_event_(on_event),
        queue_(GroupsOf(options.problems.size()), stop),
        run_trials_(evaluator, compiler, &archive, options.name),
        ahead_(evaluator.device(), compiler, options.compile_threads),
        open_plans_(options.problems.size()) {}

  Result<MeasuredList> Run() {
    RETURN_IF_ERROR(FindOpenCells());
    while (true) {
      FillWindow();
      RETURN_IF_ERROR(CompleteProblems());
      if (ahead_.pending() == 0 || queue_.IsStopped()) break;
      const size_t max_cells = std::min(kCellsTogether, size_t(queue_.EvaluationsLeft()));
      ASSIGN_OR_RETURN(CompileAhead::List list, ahead_.Take(max_cells, kPatience));
      if (!list.candidates.empty()) RETURN_IF_ERROR(Judge(std::move(list)));
    }
    result_.stop_reason = queue_.stop_reason();
    result_.seconds = queue_.seconds();
    return std::move(result_);
  }

 private:
  static constexpr size_t kWorker = 0;          // the only one
  static constexpr size_t kCellsTogether = 32;  // no search waits for them

  // A problem whose cells are on their way to the GPU.
  struct Begun {
    size_t problem;
    size_t added = 0;   // of its open plans
    size_t judged = 0;  // the same
  };

  Status FindOpenCells() {
    result_.total = options_.problems.size() * options_.plans.size();
    result_.found = result_.total;
    Status unlike;
    for (size_t problem = 0; problem < options_.problems.size(); ++problem) {
      TrialFilter filter{.gemm = options_.problems[problem]};
      if (!options_.skip_recorded) filter.campaign = options_.name;
      std::set<Plan> known;
      RETURN_IF_ERROR(archive_.ForEach(filter, [&](const Trial& trial) {
        if (trial.campaign == options_.name && unlike.ok()) unlike = CheckDevice(trial, device_key_);
        if (trial.campaign == options_.name && unlike.ok()) unlike = CheckClock(trial);
        const bool is_of_here = trial.setting.device_key == device_key_;
        if (is_of_here && CheckClock(trial).ok() && trial.HasPlan() && trial.outcome.protocol == options_.protocol)
          known.insert(trial.plan());
      }));
      RETURN_IF_ERROR(unlike);
      for (uint32_t plan = 0; plan < options_.plans.size(); ++plan)
        if (!known.contains(options_.plans[plan])) open_plans_[problem].push_back(plan);
      result_.found -= open_plans_[problem].size();
    }
    return OkStatus();
  }

  // The window may reach into the next problem, so that the GPU finds its kernels ready.
  void FillWindow() {
    while (ahead_.pending() < ahead_.window()) {
      if (begun_.empty() || begun_.back().added == open_plans_[begun_.back().problem].size()) {
        const std::vector<size_t> leased = queue_.Lease(kWorker);
        if (leased.empty()) return;
        queue_.Begin(kWorker, leased.front());
        begun_.push_back({leased.front()});
        continue;
      }
      Begun& last = begun_.back();
      ahead_.Add(last.problem, CellRequest(last.problem, open_plans_[last.problem][last.added++]));
    }
  }

  // Where only screenings come, AutoTuning is a pace for them and no baseline: a brief race chooses it.
  EvaluationRequest CellRequest(size_t problem, size_t plan) const {
    return {{.gemm = options_.problems[problem],
             .protocol = options_.protocol,
             .clocks = options_.clocks,
             .seed = options_.seed,
             .counters = options_.counters && options_.finalists == 0,
             .brief = options_.protocol == Protocol::kScreen && options_.finalists == 0},
            options_.plans[plan]};
  }

  Status Judge(CompileAhead::List list) {
    ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(list.candidates)));
    RETURN_IF_ERROR(judged.failure);
    GEMMSMITH_CHECK(judged.missed.empty(), "a grid is measured, not replayed");
    std::ranges::find(begun_, list.turn, &Begun::problem)->judged += judged.trials.size();
    result_.Add(judged.trials, queue_, on_event_);
    return OkStatus();
  }

  // Problems in front whose cells are all stored: their finals, where there are any.
  Status CompleteProblems() {
    for (; !begun_.empty() && begun_.front().judged == open_plans_[begun_.front().problem].size(); begun_.pop_front()) {
      if (options_.finalists == 0) continue;
      ASSIGN_OR_RETURN(const std::vector<EvaluationRequest> finals, FinalsLeft(begun_.front().problem));
      if (finals.empty()) continue;
      if (queue_.IsStopped()) return OkStatus();
      ASSIGN_OR_RETURN(std::vector<Candidate> candidates, ahead_.PrepareNow(finals));
      ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(candidates)));
      RETURN_IF_ERROR(judged.failure);
    }
    return OkStatus();
  }

  Result<std::vector<EvaluationRequest>> FinalsLeft(size_t problem) const {
    std::vector<std::pair<double, Plan>> screened;
    Pace pace;
    std::set<Plan> judged;
    const TrialFilter filter{.campaign = options_.name, .gemm = options_.problems[problem]};
    RETURN_IF_ERROR(archive_.ForEach(filter, [&](const Trial& trial) {
      if (trial.HasPlan() && trial.outcome.protocol == Protocol::kShort)
        judged.insert(trial.plan());
      else if (trial.IsTimedPlan())
        screened.emplace_back(pace.TimeNs(trial.outcome), trial.plan());
    }));
    std::sort(screened.begin(), screened.end());
    screened.resize(std::min(screened.size(), size_t(options_.finalists)));
    std::vector<EvaluationRequest> requests;
    for (const auto& [time_ns, plan] : screened) {
      if (judged.contains(plan)) continue;
      requests.push_back({{.gemm = options_.problems[problem],
                           .protocol = Protocol::kShort,
                           .clocks = {Clock::kDeviceCold, Clock::kOffline},
                           .seed = options_.seed,
                           .counters = options_.counters},
                          plan});
    }
    return requests;
  }

  const GridOptions& options_;
  const std::string device_key_;
  Archive& archive_;
  const OnMeasured& on_event_;
  WorkQueue queue_;
  TrialRunner run_trials_;
  CompileAhead ahead_;

  MeasuredList result_;
  std::vector<std::vector<uint32_t>> open_plans_;  // of each problem
  std::deque<Begun> begun_;                        // in the order of the problems
};

}  // namespace

Result<MeasuredList> RunGrid(const GridOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive,
                             StopRule& stop, const OnMeasured& on_event) {
  GEMMSMITH_CHECK(options.finalists == 0 || options.protocol == Protocol::kScreen, "finals behind the {} protocol",
                  Name(options.protocol));
  return GridRun(options, evaluator, compiler, archive, stop, on_event).Run();
}

}  // namespace gemmsmith
