// Judges prepared candidates of one problem, in any layouts, and stores the trials.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/archive.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

struct JudgedList {
  std::vector<Trial> trials;                  // in the order of their candidates
  std::vector<std::pair<Gemm, Plan>> missed;  // cells that a record lacks
  Status failure;                             // why those that are neither could not be judged
  double seconds = 0;                         // of the exchange
};

// InvalidArgument where a stored trial of the run's name is of another device than the run's.
Status CheckDevice(const Trial& stored, std::string_view device_key);
// Times of repeated calls must not decide in a run that measures on the ring. A replay has its recording's clock.
Status CheckClock(const Trial& stored);

class TrialRunner {
 public:
  // `compiler` and `archive` may be null; the arguments outlive the runner.
  TrialRunner(Evaluator& evaluator, const Compiler* compiler, Archive* archive, std::string campaign);

  // One exchange with the evaluator, for the candidates that preparation has not ended. The trials are in the archive
  // when it returns; a Status where storing them failed.
  Result<JudgedList> operator()(std::vector<Candidate> candidates);
  // The same for the request's baselines alone: at most one trial, without a candidate.
  Result<JudgedList> RaceBaselines(const EvaluationRequest& request);

 private:
  Result<Trial> TrialOf(const EvaluationRequest& request, TrialSubject subject, Result<Outcome> outcome,
                        int64_t unix_ms) const;
  std::vector<Result<Outcome>> Judge(std::vector<Candidate>& candidates);

  Evaluator& evaluator_;
  Archive* const archive_;
  const std::string campaign_;
  Setting setting_;
};

}  // namespace gemmsmith
