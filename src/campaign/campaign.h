// The one loop behind optimize: proposals, compilation in parallel, exclusive timing, budgets, stop rules, resume.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/archive.h"
#include "base/stop_rule.h"
#include "evaluate/evaluator.h"
#include "search/proposer.h"

namespace gemmsmith {

// How one problem is searched.
struct ProblemSearch {
  std::unique_ptr<const Space> space;
  std::unique_ptr<Proposer> proposer;  // of that space
  std::unique_ptr<StopRule> stop;      // of the screening of this problem
};
// Called when a problem's turn comes near, so that thousands need not be held at once; by several threads at a time.
using MakeSearch = std::function<Result<ProblemSearch>(const Gemm&)>;

// What the finals decide by. A window of energy takes seconds, so that screening and heat go by time in any case.
enum class Objective { kTime, kEnergy };
std::string_view Name(Objective objective);  // "time", "energy"
// Measured trials compare by this, the least first: joules a call where they count, then the time that decides.
std::pair<double, double> CostOf(Objective objective, const Trial& trial);

// The kernel that stands for a problem and is to be beaten: it joins the heat and the finals, and the finals' fastest
// of each layout is timed on the server's clock too. Both functions are called by many threads.
struct StandingKernels {
  std::function<std::optional<Plan>(const Gemm&)> find;
  // When a problem's finals are over: all trials that it has of them, in this call or before. Perhaps not the first
  // time.
  std::function<Status(const Gemm&, std::span<const Trial>)> decide;
};

struct CampaignOptions {
  std::string name;  // key of the run in the archive: the same name resumes, on the same device model only
  // Searched in this order; problems that the evaluator serves from one session stand next to each other.
  std::vector<Gemm> problems;
  // The fastest of each problem's screening, that many, meet in one race in the heat protocol; 0: none.
  int heat_candidates = 16;
  // The screened plans that were fastest in chains, that many, join the heat however slow a plain call was, with the
  // other triggers. The fastest that have fixed variants and gain little in chains join with Trigger::kLast. The heat's
  // fastest in chains is then a finalist.
  int chained_twins = 0;
  // The fastest of the screening, that many, bring the same plans with all dimensions known to the compiler into the
  // heat: 0.97 to 0.99 of the time, but a compilation for each shape. Where calls are short, these once more without a
  // trigger.
  int fixed_twins = 0;
  // The device of the races. Heats then have the variants of their plans that pay there (Family::Variants), and heats
  // of long calls the openings of long calls. nullopt: neither.
  std::optional<Device> raced_on;
  // The fastest of the heat, that many, pass the short protocol, with the offline clock, before one is named best. 0:
  // the screening decides, and there is no heat.
  int finalists = 4;
  // All races are brief, and finals are against cuBLASLt alone: a first answer to many problems.
  bool brief = false;
  Objective objective = Objective::kTime;  // kEnergy: the finals race on the energy clock too
  std::optional<StandingKernels> standing;
  // Problems with this many screened and with all finals passed in the archive are finished: their trials are not
  // loaded again, but to decide on standing kernels: the run before may have ended in between.
  std::optional<int> finished_after;
  int compile_threads = 0;  // of each evaluator; 0: its share of all cores
  uint64_t seed = 0;
};

struct ProblemResult {
  Gemm gemm;
  bool complete = false;      // through all stages, in this call or before
  bool found = false;         // complete before this call; the counts below are then 0
  std::optional<Trial> best;  // by the short protocol where the finals are judged, else by what there is
  int evaluations = 0;        // screened in this call
  int resumed = 0;            // screened and found in the archive
  int misses = 0;             // proposals without a record (replay only); cost no budget
  std::vector<std::pair<OutcomeKind, int>> by_outcome;  // of the screening, in the order of the kinds, none with 0
  std::string stop_reason;                              // of the screening; empty where it was not over
  Status failure;                                       // why it could not be gone on with
};

struct CampaignEvent {
  // One of the two: a trial, just stored (or, resumed, found stored), or a problem that is complete.
  const Trial* trial = nullptr;
  const ProblemResult* complete = nullptr;
  bool resumed = false;
  const Trial* best = nullptr;  // of the problem so far, by the protocol of the trial or a more careful one
  size_t problem = 0;           // index in the options
  size_t problems_complete = 0;
  int evaluations = 0;  // screened of this problem, resumed ones included
  int64_t judged = 0;   // of this call, all problems and stages
  double seconds = 0;
};

struct CampaignResult {
  std::vector<ProblemResult> problems;  // in the order of the options
  int64_t judged = 0;                   // of this call, all problems and stages
  std::string stop_reason;              // empty: every problem is complete or given up
  Status failure;                       // the environment's, that ended it or one evaluator's part in it
  double seconds = 0;
};

// Every problem goes through screening, heat and finals. One that the evaluator cannot judge (no memory for it) is
// given up; two shapes in a row end the run, or that evaluator's part in it. Where the environment failed and no
// problem is complete, its Status is the answer. Trials are in the archive before the next exchange with the evaluator
// starts. `stop` bounds the whole. `compiler` may be null where the evaluator needs no binary (replay). The archive may
// be null: nothing is kept, nothing resumes. Several evaluators, all of one device model, each take shapes as they have
// time, on threads of their own but for the first; where the environment of one fails, the others do what it had not
// begun.
Result<CampaignResult> RunCampaign(const CampaignOptions& options, const MakeSearch& make_search,
                                   std::span<Evaluator* const> evaluators, Compiler* compiler, Archive* archive,
                                   StopRule& stop, const std::function<void(const CampaignEvent&)>& on_event);

}  // namespace gemmsmith
