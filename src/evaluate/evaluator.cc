#include "evaluate/evaluator.h"

namespace gemmsmith {

std::vector<Result<Outcome>> Evaluator::EvaluateTogether(std::span<const Contender> contenders) {
  std::vector<Result<Outcome>> outcomes;
  for (const Contender& contender : contenders) outcomes.push_back(Evaluate(contender.request, contender.candidate));
  return outcomes;
}

Result<Outcome> Evaluator::RaceBaselines(const EvaluationRequest& request) {
  return Unavailable(
      fmt::format("racing the baselines of {} needs a GPU: this evaluator has none", Print(request.gemm)));
}

}  // namespace gemmsmith
