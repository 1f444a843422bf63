#include "evaluate/evaluator.h"

namespace gemmsmith {

std::vector<Result<Outcome>> Evaluator::EvaluateTogether(std::span<const Contender> contenders) {
  std::vector<Result<Outcome>> outcomes;
  for (const Contender& contender : contenders) outcomes.push_back(Evaluate(contender.request, contender.candidate));
  return outcomes;
}

}  // namespace gemmsmith
