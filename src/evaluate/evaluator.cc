#include "evaluate/evaluator.h"

namespace gemmsmith {

std::vector<Result<Outcome>> Evaluator::EvaluateTogether(std::span<const Candidate> candidates) {
  std::vector<Result<Outcome>> outcomes;
  for (const Candidate& candidate : candidates) outcomes.push_back(Evaluate(candidate.request, candidate.prepared));
  return outcomes;
}

Result<Outcome> Evaluator::RaceBaselines(const EvaluationRequest& request) {
  return Unavailable(
      fmt::format("racing the baselines of {} needs a GPU: this evaluator has none", Print(request.gemm)));
}

}  // namespace gemmsmith
