#include "policy/train/plan_judge.h"

namespace gemmsmith {

namespace {

class RecordedJudge : public PlanJudge {
 public:
  std::string name() const override { return "recorded"; }

  std::vector<std::shared_ptr<const Space>> SpacesOf(std::span<const RecordedProblem* const> problems) override {
    std::vector<std::shared_ptr<const Space>> spaces;
    for (const RecordedProblem* problem : problems) spaces.push_back(problem->space);
    return spaces;
  }

  Result<std::vector<JudgedPlans>> Judge(std::span<const DrawnPlans> drawn) override {
    std::vector<JudgedPlans> judged(drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i)
      for (const Plan& plan : drawn[i].plans) judged[i].push_back(drawn[i].problem->Judge(plan));
    return judged;
  }
};

}  // namespace

std::unique_ptr<PlanJudge> MakeRecordedJudge() { return std::make_unique<RecordedJudge>(); }

}  // namespace gemmsmith
