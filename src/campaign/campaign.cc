#include "campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <map>
#include <set>

#include "base/all_cores.h"
#include "base/seconds.h"
#include "campaign/compile_ahead.h"
#include "campaign/problem_run.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

namespace {

// Of one problem: more would be proposed without knowing enough. Meanwhile the next problem's list gets ready.
constexpr int kMostOutstanding = int(kListSize);
constexpr size_t kMostProblemsOpen = 8;

class CampaignRun {
 public:
  CampaignRun(const CampaignOptions& options, const MakeSearch& make_search, Evaluator& evaluator, Compiler* compiler,
              Archive* archive, StopRule& stop, const std::function<void(const CampaignEvent&)>& on_event)
      : options_(options),
        make_search_(make_search),
        archive_(archive),
        device_key_(evaluator.setting().device_key),
        stop_(stop),
        on_event_(on_event),
        run_trials_(evaluator, compiler, archive, options.name),
        ahead_(evaluator.device(), compiler, options.compile_threads) {}

  Result<CampaignResult> Run() {
    for (const Gemm& gemm : options_.problems) result_.problems.push_back({.gemm = gemm});
    RETURN_IF_ERROR(FindFinished());
    if (const Status world = GoThroughAll(); !world.ok()) {
      result_.failure = world;
      result_.stop_reason = world.message();
    }
    const bool is_limited = !result_.stop_reason.empty() && result_.failure.ok();
    if (problems_complete_ == 0 && !is_limited) RETURN_IF_ERROR(FirstFailure());
    for (const OpenProblem& open : open_) result_.problems[open.run.index()] = open.run.Finish(false);
    result_.seconds = SecondsSinceStart();
    return std::move(result_);
  }

 private:
  Status FirstFailure() const {
    for (const ProblemResult& problem : result_.problems) RETURN_IF_ERROR(problem.failure);
    return result_.failure;
  }

  enum class Stage { kScreening, kHeat, kFinals };  // the heat's kernels are on their way, or it is over

  struct OpenProblem {
    ProblemRun run;
    double exchange_seconds = 0;  // of its screening: what it had to wait for others is not its own
    Stage stage = Stage::kScreening;
  };

  double SecondsSinceStart() const { return SecondsSince(start_); }

  struct StoredFinals {
    std::optional<Trial> best;
    int passed = 0;
    bool any_refused = false;

    void Take(const Trial& trial, Objective objective) {
      if (trial.outcome.kind != OutcomeKind::kMeasured) {
        any_refused = true;
        return;
      }
      ++passed;
      if (!best || CostOf(objective, trial.outcome) < CostOf(objective, best->outcome)) best = trial;
    }
  };

  // Two queries, however many problems there are. They cannot tell whether a problem with fewer finals than asked for,
  // or with a refused one, has more to judge: such a problem is loaded and gone on with, which costs nothing but time.
  Status FindFinished() {
    if (archive_ == nullptr) return OkStatus();
    ASSIGN_OR_RETURN(stored_, archive_->CountByProblem({.campaign = options_.name}));
    RETURN_IF_ERROR(CheckDevice());
    if (!options_.finished_after || stored_.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const auto screened,
                     archive_->CountByProblem({.campaign = options_.name, .protocol = Protocol::kScreen}));
    std::map<Gemm, StoredFinals> finals;
    RETURN_IF_ERROR(archive_->ForEach({.campaign = options_.name, .protocol = Protocol::kShort},
                                      [&](const Trial& trial) { finals[trial.gemm].Take(trial, options_.objective); }));
    // A recording may answer a screening in the short protocol, so finals alone say nothing.
    const int64_t enough_screened = std::max(*options_.finished_after, options_.finalists);
    for (ProblemResult& result : result_.problems) {
      const auto found = finals.find(result.gemm);
      const auto count = screened.find(result.gemm);
      if (found == finals.end() || count == screened.end() || count->second < enough_screened) continue;
      if (found->second.any_refused || found->second.passed < std::max(1, options_.finalists)) continue;
      result.complete = result.found = true;
      result.best = found->second.best;
    }
    for (const ProblemResult& result : result_.problems)
      if (result.found) TellOfComplete(result);
    return OkStatus();
  }

  // Times of another model would decide what is searched and named here.
  Status CheckDevice() const {
    ASSIGN_OR_RETURN(const auto of_this_device,
                     archive_->CountByProblem({.campaign = options_.name, .device_key = device_key_}));
    // Another process may have stored more since the first count.
    const bool all_are = std::all_of(stored_.begin(), stored_.end(), [&](const auto& stored) {
      const auto ours = of_this_device.find(stored.first);
      return ours != of_this_device.end() && ours->second >= stored.second;
    });
    if (all_are) return OkStatus();
    return InvalidArgument(fmt::format("the archive holds trials of another device than '{}' under the name '{}'",
                                       device_key_, options_.name));
  }

  // One exchange with the evaluator a round, or a problem less.
  Status GoThroughAll() {
    while (true) {
      RETURN_IF_ERROR(FillWindow());
      if (open_.empty()) return OkStatus();
      if (std::optional<std::string> reason = stop_.ShouldStop({int(result_.judged), SecondsSinceStart(), 0})) {
        result_.stop_reason = *std::move(reason);
        return OkStatus();
      }
      RETURN_IF_ERROR(GoOn());
    }
  }

  // The problems of one shape are served from one session, so while the twins of one get ready for its heat the GPU
  // goes on with the next; another shape's turn comes when all of them are complete.
  Status GoOn() {
    const Shape shape = open_.front().run.gemm().shape;
    size_t last_turn = 0;
    for (auto open = open_.begin(); open != open_.end() && open->run.gemm().shape == shape; ++open) {
      if (open->stage == Stage::kScreening && open->run.ScreenIsOver(open->exchange_seconds)) EndScreening(*open);
      if (open->stage == Stage::kFinals) return GoOnWithFinals(open);
      last_turn = open->run.index();
    }
    return JudgeNextList(last_turn);
  }

  void EndScreening(OpenProblem& open) {
    ahead_.Forget(open.run.index());
    const std::vector<EvaluationRequest> heat = RequestsFor(open.run.gemm(), open.run.TakeHeat(), Protocol::kHeat);
    open.stage = heat.empty() ? Stage::kFinals : Stage::kHeat;
    if (!heat.empty()) ahead_.AddTogether(open.run.index(), heat);
  }

  Status GoOnWithFinals(std::list<OpenProblem>::iterator open) {
    if (const std::vector<Plan> plans = open->run.NextFinalists(); !plans.empty()) return JudgeFinals(open->run, plans);
    ProblemResult& result = result_.problems[open->run.index()];
    result = open->run.Finish(true);
    open_.erase(open);
    TellOfComplete(result);
    return OkStatus();
  }

  // The problem in front comes first; what it leaves free goes to those behind it, so that the GPU finds kernels ready
  // when it gets there, and while the one in front waits for its compiler.
  Status FillWindow() {
    for (auto open = open_.begin(); ahead_.pending() < ahead_.window(); ++open) {
      if (open == open_.end()) {
        ASSIGN_OR_RETURN(const bool opened, OpenNextProblem());
        if (!opened) return OkStatus();
        open = std::prev(open_.end());
      }
      const int room = std::min(int(ahead_.window() - ahead_.pending()), kMostOutstanding - open->run.outstanding());
      for (const Plan& plan : open->run.Propose(room))
        ahead_.Add(open->run.index(), RequestFor(open->run.gemm(), plan, Protocol::kScreen));
    }
    return OkStatus();
  }

  // Where kernels are compiled it waits for its search only when there is nothing else to do. A replay always waits, so
  // that it repeats: how much of a problem is proposed before others are judged follows from when it was opened.
  Result<bool> OpenNextProblem() {
    while (next_problem_ < options_.problems.size() && result_.problems[next_problem_].complete) ++next_problem_;
    MakeSearchesAhead();
    if (next_problem_ == options_.problems.size() || open_.size() == kMostProblemsOpen) return false;
    std::future<Result<ProblemSearch>>& made = searches_.at(next_problem_);
    const bool is_made = made.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (!is_made && !open_.empty() && ahead_.compiles()) return false;
    const size_t index = next_problem_++;
    Result<ProblemSearch> search_made = made.get();
    searches_.erase(index);
    ASSIGN_OR_RETURN(ProblemSearch search, std::move(search_made));
    open_.push_back({ProblemRun(index, options_, std::move(search))});
    RETURN_IF_ERROR(Resume(open_.back().run));
    return true;
  }

  // A live search space takes 0.2 to 0.6 s to make, as long as a problem is judged: the next ones are made side by
  // side.
  void MakeSearchesAhead() {
    for (size_t next = next_problem_; next < options_.problems.size() && searches_.size() < searches_ahead_; ++next) {
      if (result_.problems[next].complete || searches_.contains(next)) continue;
      searches_[next] = std::async(std::launch::async, [this, next] { return make_search_(options_.problems[next]); });
    }
  }

  Status Resume(ProblemRun& run) {
    if (!stored_.contains(run.gemm())) return OkStatus();
    return archive_->ForEach({.campaign = options_.name, .gemm = run.gemm()}, [&](const Trial& trial) {
      if (!trial.HasPlan()) return;
      run.Take(trial, true);
      Tell(run, trial, true);
    });
  }

  EvaluationRequest RequestFor(const Gemm& gemm, const Plan& plan, Protocol protocol) const {
    return {.gemm = gemm,
            .subject = plan,
            .protocol = protocol,
            .clocks = protocol == Protocol::kShort ? ClocksOfFinals() : ClockSet{Clock::kDevice},
            .seed = options_.seed};
  }

  std::vector<EvaluationRequest> RequestsFor(const Gemm& gemm, const std::vector<Plan>& plans,
                                             Protocol protocol) const {
    std::vector<EvaluationRequest> requests;
    for (const Plan& plan : plans) requests.push_back(RequestFor(gemm, plan, protocol));
    return requests;
  }

  ClockSet ClocksOfFinals() const {
    ClockSet clocks = {Clock::kDevice, Clock::kOffline};
    if (options_.objective == Objective::kEnergy) clocks.Add(Clock::kEnergy);
    return clocks;
  }

  // A part of a screening, or a heat.
  Status JudgeNextList(size_t last_turn) {
    ASSIGN_OR_RETURN(CompileAhead::List list, ahead_.Take(kListSize, kPatience, last_turn));
    if (list.contenders.empty()) return OkStatus();
    OpenProblem& open = *std::find_if(open_.begin(), open_.end(),
                                      [&](const OpenProblem& problem) { return problem.run.index() == list.turn; });
    const double begin = SecondsSinceStart();
    ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(list.contenders)));
    Take(open.run, judged.trials);
    if (open.stage == Stage::kHeat) {
      open.stage = Stage::kFinals;
    } else {
      open.exchange_seconds += SecondsSinceStart() - begin;
      for (size_t i = 0; i < judged.missed.size(); ++i) open.run.MissScreen();
    }
    return GoOnAfter(judged.world, open.run);
  }

  Status JudgeFinals(ProblemRun& run, const std::vector<Plan>& plans) {
    std::vector<EvaluationRequest> requests = RequestsFor(run.gemm(), plans, Protocol::kShort);
    // Each more in a race of windows takes a second, and who is best is decided among ours; published times are those
    // of promotion.
    if (run.HasLongCalls())
      for (EvaluationRequest& request : requests) request.baselines = *BaselineSet::Parse("lt_auto");
    ASSIGN_OR_RETURN(std::vector<Contender> contenders, ahead_.PrepareNow(requests));
    ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(contenders)));
    Take(run, judged.trials);
    for (const Plan& plan : judged.missed) run.MissFinal(plan);
    return GoOnAfter(judged.world, run);
  }

  Status GoOnAfter(const Status& world, const ProblemRun& run) {
    if (world.ok()) shapes_failed_in_a_row_.clear();
    if (world.ok()) return OkStatus();
    shapes_failed_in_a_row_.insert(run.gemm().shape);
    const size_t index = run.index();
    ahead_.Forget(index);
    result_.problems[index] = run.Finish(false);
    result_.problems[index].failure = world;
    open_.remove_if([index](const OpenProblem& open) { return open.run.index() == index; });
    return shapes_failed_in_a_row_.size() == 2 ? world : OkStatus();
  }

  void Take(ProblemRun& run, const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      ++result_.judged;
      run.Take(trial, false);
      Tell(run, trial, false);
    }
  }

  void Tell(const ProblemRun& run, const Trial& trial, bool resumed) const {
    if (!on_event_) return;
    on_event_({.trial = &trial,
               .resumed = resumed,
               .best = run.Best(),
               .problem = run.index(),
               .problems_complete = problems_complete_,
               .evaluations = run.evaluations(),
               .judged = result_.judged,
               .seconds = SecondsSinceStart()});
  }

  void TellOfComplete(const ProblemResult& result) {
    ++problems_complete_;
    if (!on_event_) return;
    on_event_({.complete = &result,
               .best = result.best ? &*result.best : nullptr,
               .problem = size_t(&result - result_.problems.data()),
               .problems_complete = problems_complete_,
               .evaluations = result.evaluations + result.resumed,
               .judged = result_.judged,
               .seconds = SecondsSinceStart()});
  }

  const CampaignOptions& options_;
  const MakeSearch& make_search_;
  Archive* const archive_;
  const std::string device_key_;
  StopRule& stop_;
  const std::function<void(const CampaignEvent&)>& on_event_;
  TrialRunner run_trials_;
  CompileAhead ahead_;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  CampaignResult result_;
  std::map<Gemm, int64_t> stored_;  // trials of this campaign before this call
  std::list<OpenProblem> open_;     // in the order of the options; the first is judged, those behind get ready
  size_t next_problem_ = 0;
  const size_t searches_ahead_ = size_t(std::max(1, CoreCount() / 2));
  std::map<size_t, std::future<Result<ProblemSearch>>> searches_;  // on their way, by problem
  size_t problems_complete_ = 0;
  std::set<Shape> shapes_failed_in_a_row_;  // the layouts of a shape need the same memory
};

}  // namespace

std::string_view Name(Objective objective) { return objective == Objective::kTime ? "time" : "energy"; }

std::pair<double, double> CostOf(Objective objective, const Outcome& outcome) {
  return {objective == Objective::kEnergy ? outcome.Joules() : 0, outcome.TimeNs()};
}

Result<CampaignResult> RunCampaign(const CampaignOptions& options, const MakeSearch& make_search, Evaluator& evaluator,
                                   Compiler* compiler, Archive* archive, StopRule& stop,
                                   const std::function<void(const CampaignEvent&)>& on_event) {
  return CampaignRun(options, make_search, evaluator, compiler, archive, stop, on_event).Run();
}

}  // namespace gemmsmith
