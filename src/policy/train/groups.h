// The problems of a training step, each with a context and the plans that may be drawn from it.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "policy/plan_mask.h"
#include "policy/train/plan_judge.h"
#include "policy/train/trainer.h"
#include "search/experience.h"

namespace gemmsmith {

// A context as a search might have come to it, and the mask that its next plans would be drawn under.
struct PlanGroup {
  const RecordedProblem* problem = nullptr;
  std::vector<Token> context;
  std::shared_ptr<const Space> space;  // that the mask is of, if it is of one
  std::unique_ptr<const PlanMask> mask;
  std::set<Plan> known;  // struck off the mask of a space

  bool MayDraw(const Plan& plan) const { return !known.contains(plan); }
};

// While it learns a policy is told blurred sizes, which teach it what lies between those that it meets, and experience
// of one of the problem's sizes is hidden from its prior, as it is where that size is held out.
enum class Occasion : uint8_t { kLearning, kValidation };

// All problems are equally likely. For each, 0 to 32 plans are known: the search's first ones by prediction, or any.
// They show in the context and in the prior, and are not drawn again. The experience is what the prior knows of other
// shapes.
std::vector<PlanGroup> DrawGroups(const std::vector<RecordedProblem>& problems, int count, const Ablations& ablations,
                                  const Experience& experience, PlanJudge& judge, Random& random,
                                  Occasion occasion = Occasion::kLearning);

// A plan of a group, among those that a batch is made of.
struct WeightedPlan {
  const PlanGroup* group = nullptr;
  Plan plan;
  double advantage = 0;
  double weight = 0;
};
// The weight of a choice. A word is a choice where the mask left more than one.
enum class Weight : uint8_t { kOfThePlan, kOfEachChoice };  // of the plan: shared by its choices
// The logs are left empty.
PolicyBatch BatchOf(const std::vector<WeightedPlan>& plans, Weight weight);

}  // namespace gemmsmith
