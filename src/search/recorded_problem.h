// For tests: a recorded problem of some direct plans, with times by their place in the space.
#pragma once

#include <functional>

#include "archive/replay.h"
#include "search/synthetic_space.h"

namespace gemmsmith {

inline const Gemm kRecordedGemm{.shape = {64, 64, 512}};

inline Trial RecordedTrial(const Gemm& gemm, const Plan& plan, Outcome outcome) {
  Trial trial;
  trial.gemm = gemm;
  trial.subject = plan;
  trial.setting.device_key = "h200";
  trial.outcome = std::move(outcome);
  return trial;
}

// Of every plan of SyntheticSpace(axes) the outcome that is named for its index.
inline std::shared_ptr<const Recording> RecordedProblem(int axes, const std::function<Outcome(size_t)>& outcome_of) {
  std::vector<Trial> trials;
  const Space space = SyntheticSpace(axes);
  for (size_t i = 0; i < space.size(); ++i)
    trials.push_back(RecordedTrial(kRecordedGemm, space.plans()[i], outcome_of(i)));
  return Recording::FromTrials(std::move(trials));
}

}  // namespace gemmsmith
