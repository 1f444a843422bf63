#include "campaign/campaign_worker.h"

#include <algorithm>
#include <set>

#include "base/all_cores.h"

namespace gemmsmith {

namespace {

// More proposals of one problem would be made without knowing enough. Meanwhile the next problem's list gets ready.
constexpr int kMaxOutstanding = int(kListSize);
constexpr size_t kMaxProblemsOpen = 8;

int ShareOfCores(int asked_for, size_t workers) {
  return asked_for > 0 ? asked_for : std::max(1, CoreCount() / int(workers));
}

}  // namespace

CampaignWorker::CampaignWorker(size_t number, Ledger& ledger, const MakeSearch& make_search, Evaluator& evaluator,
                               Compiler* compiler, size_t workers)
    : number_(number),
      ledger_(ledger),
      queue_(ledger.queue()),
      make_search_(make_search),
      run_trials_(evaluator, compiler, ledger.archive(), ledger.options().name),
      ahead_(evaluator.device(), compiler, ShareOfCores(ledger.options().compile_threads, workers)),
      workers_(workers),
      searches_ahead_(size_t(std::max(1, CoreCount() / 2 / int(workers)))) {}

void CampaignWorker::Run() {
  if (const Status failure = GoThroughAll(); !failure.ok()) queue_.Retire(number_, failure);
  coming_.clear();
  queue_.Return(number_);
  for (const OpenProblem& open : open_) ledger_.Leave(open.run.index(), open.run.Finish(false));
  open_.clear();
}

// A round is one exchange with the evaluator, or completes a problem.
Status CampaignWorker::GoThroughAll() {
  while (true) {
    RETURN_IF_ERROR(std::exchange(filled_meanwhile_, OkStatus()));
    RETURN_IF_ERROR(FillWindow());
    if (open_.empty() || queue_.IsStopped()) return OkStatus();
    RETURN_IF_ERROR(GoOn());
  }
}

// One session serves the problems of a shape. Their finals are one race against one set of baselines, and come before
// those of another shape. While a problem waits for its compiler, the GPU screens the next problem or runs its heat, of
// the same shape or of the one behind it. Finals take a second and more, so the shape behind goes first where the last
// list of its screening is ready: the kernels of its heat compile meanwhile.
Status CampaignWorker::GoOn() {
  const Shape shape = open_.front().run.gemm().shape;
  bool are_at_finals = coming_.empty() || GemmOf(coming_.front().first).shape != shape;
  int next_has_to_screen = 0;  // an upper bound over the problems of the next shape
  std::set<Shape> judged;
  size_t last_turn = 0;
  for (OpenProblem& open : open_) {
    judged.insert(open.run.gemm().shape);
    if (judged.size() > (ahead_.compiles() ? 2 : 1)) break;
    if (open.stage == Stage::kScreening && open.run.ScreenIsOver(open.exchange_seconds)) EndScreening(open);
    if (open.run.gemm().shape == shape)
      are_at_finals = are_at_finals && open.stage == Stage::kFinals;
    else if (open.stage == Stage::kScreening)
      next_has_to_screen = std::max(next_has_to_screen, open.run.LeftToScreen());
    last_turn = std::max(last_turn, open.run.index());
  }
  if (!are_at_finals) return JudgeNextList(last_turn, kPatience).status();
  ASSIGN_OR_RETURN(const bool is_complete, CompleteFirst());
  if (is_complete) return OkStatus();
  if (next_has_to_screen > 0 && next_has_to_screen <= int(kListSize)) {
    ASSIGN_OR_RETURN(const bool was_ready, JudgeNextList(last_turn, std::chrono::milliseconds(0)));
    if (was_ready) return OkStatus();
  }
  return GoOnWithFinals();
}

void CampaignWorker::EndScreening(OpenProblem& open) {
  ahead_.Forget(open.run.index());
  const std::vector<EvaluationRequest> heat = RequestsFor(open.run.gemm(), open.run.TakeHeat(), Protocol::kHeat);
  open.stage = heat.empty() ? Stage::kFinals : Stage::kHeat;
  if (!heat.empty()) ahead_.AddTogether(open.run.index(), heat);
}

Result<bool> CampaignWorker::CompleteFirst() {
  const Shape shape = open_.front().run.gemm().shape;
  for (auto open = open_.begin(); open != open_.end() && open->run.gemm().shape == shape; ++open) {
    if (!open->run.NextFinalists().empty()) continue;
    RETURN_IF_ERROR(Complete(open));
    return true;
  }
  return false;
}

Status CampaignWorker::GoOnWithFinals() {
  const Shape shape = open_.front().run.gemm().shape;
  std::vector<ProblemRun*> runs;
  std::vector<EvaluationRequest> requests;
  for (auto open = open_.begin(); open != open_.end() && open->run.gemm().shape == shape; ++open) {
    const std::vector<EvaluationRequest> own =
        RequestsFor(open->run.gemm(), open->run.NextFinalists(), Protocol::kShort);
    if (!runs.empty() && requests.size() + own.size() > kListSize) break;  // a race is one exchange
    requests.insert(requests.end(), own.begin(), own.end());
    runs.push_back(&open->run);
  }
  return JudgeFinals(runs, std::move(requests));
}

Status CampaignWorker::Complete(std::list<OpenProblem>::iterator open) {
  if (options().standing) RETURN_IF_ERROR(options().standing->decide(open->run.gemm(), open->run.Finals()));
  const size_t problem = open->run.index();
  ProblemResult result = open->run.Finish(true);
  open_.erase(open);
  ledger_.Complete(problem, std::move(result));
  return OkStatus();
}

// The problem in front comes first. The room that it leaves goes to those behind it, so that the GPU finds their
// kernels ready, also while the one in front waits for its compiler.
Status CampaignWorker::FillWindow() {
  for (auto open = open_.begin(); ahead_.pending() < ahead_.window(); ++open) {
    if (open == open_.end()) {
      ASSIGN_OR_RETURN(const bool opened, OpenNextProblem());
      if (!opened) return OkStatus();
      open = std::prev(open_.end());
    }
    const int room = std::min(int(ahead_.window() - ahead_.pending()), kMaxOutstanding - open->run.outstanding());
    for (const Plan& plan : open->run.Propose(room))
      ahead_.Add(open->run.index(), RequestFor(open->run.gemm(), plan, Protocol::kScreen));
  }
  return OkStatus();
}

// Where kernels are compiled, the worker waits for a search only when nothing else is open. A replay always waits, so
// that it repeats: the moment at which a problem opens decides how much of it is proposed before others are judged.
Result<bool> CampaignWorker::OpenNextProblem() {
  MakeSearchesAhead();
  if (coming_.empty() || open_.size() == kMaxProblemsOpen) return false;
  std::future<Result<ProblemSearch>>& made = coming_.front().second;
  const bool is_made = made.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (!is_made && !open_.empty() && ahead_.compiles()) return false;
  const size_t problem = coming_.front().first;
  queue_.Begin(number_, problem);
  Result<ProblemSearch> search_made = made.get();
  coming_.pop_front();
  if (!search_made.ok()) ledger_.Leave(problem, {.gemm = GemmOf(problem), .failure = search_made.status()});
  ASSIGN_OR_RETURN(ProblemSearch search, std::move(search_made));
  open_.push_back({ProblemRun(problem, options(), std::move(search))});
  RETURN_IF_ERROR(Resume(open_.back().run));
  return true;
}

// One of several workers leaves the others their share, so that all end together.
size_t CampaignWorker::MaxHeld() const {
  constexpr size_t kAlways = 3;
  return workers_ == 1 ? SIZE_MAX : kAlways + queue_.CountOpen() / (2 * workers_);
}

// A live search space takes as long to make as a problem to judge: the next ones are made side by side.
void CampaignWorker::MakeSearchesAhead() {
  while (coming_.size() < searches_ahead_ && open_.size() + coming_.size() < MaxHeld()) {
    const std::vector<size_t> shape = queue_.Lease(number_);
    if (shape.empty()) return;
    for (const size_t problem : shape)
      coming_.emplace_back(problem,
                           std::async(std::launch::async, [this, problem] { return make_search_(GemmOf(problem)); }));
  }
}

Status CampaignWorker::Resume(ProblemRun& run) {
  if (!ledger_.HasStored(run.gemm())) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Trial> stored,
                   ledger_.archive()->Load({.campaign = options().name, .gemm = run.gemm()}));
  for (const Trial& trial : stored) {
    if (!trial.HasPlan()) continue;
    RETURN_IF_ERROR(CheckClock(trial));
    run.Take(trial, true);
    ledger_.TellOfTrial(run, trial, true);
  }
  return OkStatus();
}

EvaluationRequest CampaignWorker::RequestFor(const Gemm& gemm, const Plan& plan, Protocol protocol) const {
  return {{.gemm = gemm,
           .protocol = protocol,
           .clocks = protocol == Protocol::kShort ? ClocksOfFinals() : ClockSet{Clock::kDeviceCold},
           .seed = options().seed,
           .calls_of_fastest = protocol == Protocol::kShort && options().standing,
           .brief = options().brief},
          plan};
}

std::vector<EvaluationRequest> CampaignWorker::RequestsFor(const Gemm& gemm, const std::vector<Plan>& plans,
                                                           Protocol protocol) const {
  std::vector<EvaluationRequest> requests;
  for (const Plan& plan : plans) requests.push_back(RequestFor(gemm, plan, protocol));
  return requests;
}

ClockSet CampaignWorker::ClocksOfFinals() const {
  ClockSet clocks = {Clock::kDeviceCold, Clock::kOffline};
  if (options().objective == Objective::kEnergy) clocks.Add(Clock::kEnergy);
  if (options().standing) clocks.Add(Clock::kServer);
  return clocks;
}

// The GPU must not wait for the proposals of a policy (docs/lab/sweeps.md, "What a GPU waits for"). Timing comes first:
// the thread that fills the window gives way, as the compilers do.
Result<JudgedList> CampaignWorker::Judge(std::vector<Candidate> candidates) {
  if (!ahead_.compiles()) return run_trials_(std::move(candidates));
  std::future<Status> filled = std::async(std::launch::async, [this] {
    LowerPriority();
    return FillWindow();
  });
  Result<JudgedList> judged = run_trials_(std::move(candidates));
  filled_meanwhile_ = filled.get();
  return judged;
}

// A list is a part of a screening, or a heat.
Result<bool> CampaignWorker::JudgeNextList(size_t last_turn, std::chrono::milliseconds patience) {
  ASSIGN_OR_RETURN(CompileAhead::List list, ahead_.Take(kListSize, patience, last_turn));
  if (list.candidates.empty()) return false;
  OpenProblem& open = *std::find_if(open_.begin(), open_.end(),
                                    [&](const OpenProblem& problem) { return problem.run.index() == list.turn; });
  ASSIGN_OR_RETURN(const JudgedList judged, Judge(std::move(list.candidates)));
  for (const Trial& trial : judged.trials) Take(open.run, trial);
  if (open.stage == Stage::kHeat) {
    open.stage = Stage::kFinals;
  } else {
    open.exchange_seconds += judged.seconds;
    for (size_t i = 0; i < judged.missed.size(); ++i) open.run.MissScreen();
  }
  ProblemRun* const run = &open.run;
  RETURN_IF_ERROR(GoOnAfter(judged.failure, {&run, 1}));
  return true;
}

Status CampaignWorker::JudgeFinals(std::span<ProblemRun* const> runs, std::vector<EvaluationRequest> requests) {
  std::map<Gemm, ProblemRun*> run_of;
  for (ProblemRun* const run : runs) run_of[run->gemm()] = run;
  // AutoTuning is the goal, and programs call the heuristic.
  if (options().brief)
    for (EvaluationRequest& request : requests) request.baselines = *BaselineSet::Parse("lt_auto,lt_heuristic");
  ASSIGN_OR_RETURN(std::vector<Candidate> candidates, ahead_.PrepareNow(requests));
  ASSIGN_OR_RETURN(const JudgedList judged, Judge(std::move(candidates)));
  for (const Trial& trial : judged.trials) Take(*run_of.at(trial.gemm), trial);
  for (const auto& [gemm, plan] : judged.missed) run_of.at(gemm)->MissFinal(plan);
  return GoOnAfter(judged.failure, runs);
}

Status CampaignWorker::GoOnAfter(const Status& failure, std::span<ProblemRun* const> runs) {
  if (failure.ok()) {
    queue_.Succeed(number_);
    return OkStatus();
  }
  bool may_go_on = true;
  std::set<size_t> given_up;
  for (const ProblemRun* const run : runs) {
    may_go_on = queue_.Fail(number_, run->index(), failure);
    ahead_.Forget(run->index());
    ProblemResult result = run->Finish(false);
    result.failure = failure;
    ledger_.Leave(run->index(), std::move(result));
    given_up.insert(run->index());
  }
  open_.remove_if([&](const OpenProblem& open) { return given_up.contains(open.run.index()); });
  return may_go_on ? OkStatus() : failure;
}

void CampaignWorker::Take(ProblemRun& run, const Trial& trial) {
  run.Take(trial, false);
  ledger_.TellOfTrial(run, trial, false);
}

}  // namespace gemmsmith
