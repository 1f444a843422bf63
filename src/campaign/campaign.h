// The one loop behind optimize, sweep and train: proposals, compilation in parallel, exclusive timing, budgets, stop
// rules, resume.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "evaluate/evaluator.h"
#include "search/proposer.h"

namespace gemmsmith {

// A reason to stop, asked between evaluations.
class StopRule {
 public:
  virtual ~StopRule() = default;
  struct Progress {
    int evaluations =
        0;               // of the whole run, resumed ones included, so that an interrupted run ends where it would have
    double seconds = 0;  // of this call
    int evaluations_since_best = 0;
  };
  // The reason in words ("budget of 64 evaluations used"), or nothing.
  virtual std::optional<std::string> ShouldStop(const Progress& progress) = 0;
};
std::unique_ptr<StopRule> StopAfterEvaluations(int evaluations);
std::unique_ptr<StopRule> StopAfterSeconds(double seconds);
std::unique_ptr<StopRule> StopWithoutImprovement(int evaluations);
std::unique_ptr<StopRule> StopOnInterrupt();  // SIGINT or SIGTERM arrived (campaign/interrupt.h)
std::unique_ptr<StopRule> StopOnAny(std::vector<std::unique_ptr<StopRule>> rules);

struct CampaignEvent {
  const Trial* trial = nullptr;  // just stored (or, resumed, found stored)
  bool resumed = false;
  bool finalist = false;        // judged again, in the short protocol
  const Trial* best = nullptr;  // so far, by the search's protocol; among finalists, by theirs
  int evaluations = 0;          // of the whole run, finalists not counted
  double seconds = 0;
};

struct CampaignOptions {
  std::string name;  // key of the run in the archive: the same name resumes
  Gemm gemm;
  Protocol search_protocol = Protocol::kScreen;
  // So many of the fastest pass the short protocol, with the offline clock, before one is named best. 0: the search's
  // own protocol decides.
  int finalists = 4;
  int compile_threads = 0;  // 0: all cores
  uint64_t seed = 0;
};

struct CampaignResult {
  std::optional<Trial> best;  // by the short protocol where there are finalists and the run was not interrupted
  int evaluations = 0;        // of this call
  int resumed = 0;            // found in the archive
  int misses = 0;             // proposals without a record (replay only); cost no budget
  std::vector<std::pair<OutcomeKind, int>> by_outcome;  // of the whole run, in the order of the kinds, none with 0
  std::string stop_reason;
  double seconds = 0;
};

// Searches one problem. A trial is in the archive before the next one starts. `compiler` may be null where the
// evaluator needs no binary (replay). The archive may be null: nothing is kept, nothing resumes.
Result<CampaignResult> RunCampaign(const CampaignOptions& options, Proposer& proposer, Evaluator& evaluator,
                                   Compiler* compiler, Archive* archive, StopRule& stop,
                                   const std::function<void(const CampaignEvent&)>& on_event);

}  // namespace gemmsmith
