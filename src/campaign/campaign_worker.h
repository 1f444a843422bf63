// One evaluator's part of a campaign: leases shapes from the queue and brings their problems through screening, heat
// and finals.
#pragma once

#include <deque>
#include <future>
#include <list>
#include <utility>
#include <vector>

#include "campaign/compile_ahead.h"
#include "campaign/ledger.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

class CampaignWorker {
 public:
  // `workers` of them share the cores. The arguments outlive the worker.
  CampaignWorker(size_t number, Ledger& ledger, const MakeSearch& make_search, Evaluator& evaluator, Compiler* compiler,
                 size_t workers);

  // Returns when nothing is left to lease, when a rule stops the campaign, or when the worker has retired. May be
  // called again.
  void Run();

 private:
  enum class Stage { kScreening, kHeat, kFinals };  // the heat's kernels are on their way, or it is over

  struct OpenProblem {
    ProblemRun run;
    double exchange_seconds = 0;  // of its screening; waits for other problems do not count
    Stage stage = Stage::kScreening;
  };

  const CampaignOptions& options() const { return ledger_.options(); }
  const Gemm& GemmOf(size_t problem) const { return options().problems[problem]; }
  Status GoThroughAll();
  Status GoOn();
  void EndScreening(OpenProblem& open);
  // Completes one problem of the shape in front whose finals are over. False: there is none.
  Result<bool> CompleteFirst();
  // One race for the problems of that shape, or for as many as it holds.
  Status GoOnWithFinals();
  Status Complete(std::list<OpenProblem>::iterator open);
  Status FillWindow();
  Result<bool> OpenNextProblem();
  size_t MaxHeld() const;
  void MakeSearchesAhead();
  Status Resume(ProblemRun& run);
  EvaluationRequest RequestFor(const Gemm& gemm, const Plan& plan, Protocol protocol) const;
  std::vector<EvaluationRequest> RequestsFor(const Gemm& gemm, const std::vector<Plan>& plans, Protocol protocol) const;
  ClockSet ClocksOfFinals() const;
  // Fills the window while the GPU judges. `filled_meanwhile_` keeps the Status of that.
  Result<JudgedList> Judge(std::vector<Candidate> candidates);
  // False: no list got ready within `patience`.
  Result<bool> JudgeNextList(size_t last_turn, std::chrono::milliseconds patience);
  Status JudgeFinals(std::span<ProblemRun* const> runs, std::vector<EvaluationRequest> requests);
  // Gives the runs up where the exchange failed. A Status where the worker retires by it.
  Status GoOnAfter(const Status& failure, std::span<ProblemRun* const> runs);
  void Take(ProblemRun& run, const Trial& trial);

  const size_t number_;
  Ledger& ledger_;
  WorkQueue& queue_;
  const MakeSearch& make_search_;
  TrialRunner run_trials_;
  CompileAhead ahead_;
  const size_t workers_, searches_ahead_;

  using ComingProblem = std::pair<size_t, std::future<Result<ProblemSearch>>>;
  std::deque<ComingProblem> coming_;  // leased and not begun; in the order of the options
  std::list<OpenProblem> open_;       // in the same order; those in front are judged, those behind get ready
  Status filled_meanwhile_;
};

}  // namespace gemmsmith
