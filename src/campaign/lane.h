// One evaluator's part of a campaign: takes shapes from the ledger, one after the other, and brings their problems
// through screening, heat and finals.
#pragma once

#include <deque>
#include <future>
#include <list>
#include <set>
#include <utility>
#include <vector>

#include "campaign/compile_ahead.h"
#include "campaign/ledger.h"
#include "campaign/trial_runner.h"

namespace gemmsmith {

class Lane {
 public:
  // One of so many that share the cores. All arguments outlive it.
  Lane(Ledger& ledger, const MakeSearch& make_search, Evaluator& evaluator, Compiler* compiler, size_t lanes);

  // Until nothing is left to take or a rule stops the campaign: true. False where this evaluator's world failed; what
  // it had not begun is left then. May be called again.
  bool Run();

 private:
  enum class Stage { kScreening, kHeat, kFinals };  // the heat's kernels are on their way, or it is over

  struct OpenProblem {
    ProblemRun run;
    double exchange_seconds = 0;  // of its screening: what it had to wait for others is not its own
    Stage stage = Stage::kScreening;
  };

  const CampaignOptions& options() const { return ledger_.options(); }
  const Gemm& GemmOf(size_t problem) const { return options().problems[problem]; }
  Status GoThroughAll();
  Status GoOn();
  void EndScreening(OpenProblem& open);
  // The first problem of the shape in front, which is at its finals, that has been through them; false: none has.
  Result<bool> CompleteFirst();
  // Of all problems of that shape, or as many of them as one race holds.
  Status GoOnWithFinals();
  Status Complete(std::list<OpenProblem>::iterator open);
  Status FillWindow();
  Result<bool> OpenNextProblem();
  size_t MostToHold() const;
  void MakeSearchesAhead();
  Status Resume(ProblemRun& run);
  EvaluationRequest RequestFor(const Gemm& gemm, const Plan& plan, Protocol protocol) const;
  std::vector<EvaluationRequest> RequestsFor(const Gemm& gemm, const std::vector<Plan>& plans, Protocol protocol) const;
  ClockSet ClocksOfFinals() const;
  // While the GPU judges, the window is filled; how that ended is said when what was judged is taken.
  Result<JudgedList> Judge(std::vector<Contender> contenders);
  // False: within `patience` no list got ready.
  Result<bool> JudgeNextList(size_t last_turn, std::chrono::milliseconds patience);
  // In one race, for all layouts that have any.
  Status JudgeFinals(std::span<ProblemRun* const> runs, std::vector<EvaluationRequest> requests);
  Status GoOnAfter(const Status& world, std::span<ProblemRun* const> runs);
  void Take(ProblemRun& run, const Trial& trial);

  Ledger& ledger_;
  const MakeSearch& make_search_;
  TrialRunner run_trials_;
  CompileAhead ahead_;
  const size_t lanes_, searches_ahead_;

  using ComingProblem = std::pair<size_t, std::future<Result<ProblemSearch>>>;  // its search is on its way
  std::deque<ComingProblem> coming_;        // taken, not yet open; in the order of the options
  std::list<OpenProblem> open_;             // the same; those in front are judged, those behind get ready
  Status filled_meanwhile_;                 // how the last filling beside a judgement ended, until it is said
  std::set<Shape> shapes_failed_in_a_row_;  // the layouts of a shape need the same memory
};

}  // namespace gemmsmith
