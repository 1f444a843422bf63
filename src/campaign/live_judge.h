// Plans that a policy draws in training, measured on a GPU: many are compiled at once, one at a time is timed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive/archive.h"
#include "campaign/compile_ahead.h"
#include "campaign/trial_runner.h"
#include "evaluate/evaluator.h"
#include "policy/train/plan_judge.h"

namespace gemmsmith {

struct LiveJudgeOptions {
  std::string campaign;  // key of the trials in the archive; what stands there already is not measured again
  uint64_t seed = 1;
  int compile_threads = 0;  // all cores
  RewardOptions rewards;
};

class LiveJudge : public PlanJudge {
 public:
  // Reads what the archive holds of the campaign. All of them outlive the judge.
  static Result<std::unique_ptr<LiveJudge>> Open(const LiveJudgeOptions& options, Evaluator& evaluator,
                                                 Compiler* compiler, Archive& archive);

  std::string name() const override;
  // All that RankedPlans() has for a problem, and what was recorded of it; new ones are made on all cores.
  std::vector<std::shared_ptr<const Space>> SpacesOf(std::span<const RecordedProblem* const> problems) override;
  // Each plan once, in the screen protocol, beside both AutoTunings; what was measured in an earlier step counts again.
  Result<std::vector<JudgedPlans>> Judge(std::span<const DrawnPlans> drawn) override;
  std::optional<int64_t> evaluations() const override { return int64_t(known_.size()); }

 private:
  LiveJudge(const LiveJudgeOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive);
  void Learn(const Trial& trial);
  Status JudgeUnknown(std::span<const DrawnPlans> drawn);

  const LiveJudgeOptions options_;
  Evaluator& evaluator_;
  TrialRunner run_trials_;
  CompileAhead ahead_;
  size_t next_turn_ = 0;
  // A measured plan without a baseline of its layout has no worth.
  std::map<std::pair<Gemm, Plan>, std::optional<RecordedPlan>> known_;
  std::map<Gemm, std::shared_ptr<const Space>> spaces_;
};

}  // namespace gemmsmith
