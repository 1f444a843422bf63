// One prepared candidate to the end: judged, made a trial, stored.
#pragma once

#include <string>

#include "archive/archive.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

class TrialRunner {
 public:
  // `compiler` and `archive` may be null; all of them outlive it.
  TrialRunner(Evaluator& evaluator, const Compiler* compiler, Archive* archive, std::string campaign);

  // In the archive when it returns. A Status only where the world failed: NotFound for a cell that a record lacks.
  Result<Trial> operator()(const EvaluationRequest& request, const PreparedCandidate& candidate);

 private:
  Evaluator& evaluator_;
  Archive* const archive_;
  const std::string campaign_;
  Setting setting_;
};

}  // namespace gemmsmith
