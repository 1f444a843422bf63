// Recorded problems as games: which plans may be drawn, and what each of them is worth.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "archive/trial.h"
#include "policy/contexts.h"
#include "policy/rewards.h"
#include "policy/train/pretraining_set.h"
#include "program/space.h"

namespace gemmsmith {

struct RecordedPlan {
  OutcomeKind kind = OutcomeKind::kIllegal;
  double reward = 0;               // as RewardOf() has it
  std::optional<double> speed_up;  // over the fastest baseline of the layout
};

// Nothing for a measured outcome without a baseline of the layout.
std::optional<RecordedPlan> WorthOf(const Outcome& outcome, const Layout& layout, const RewardOptions& options);

struct RecordedProblem {
  Gemm gemm;
  Device device;
  std::shared_ptr<const Space> space;  // the plans that have a reward
  std::map<Plan, RecordedPlan> plans;  // the same
  std::vector<Exemplar> variants;      // what contexts may show of them
  RewardScale scale;
  double illegal_reward = 0;

  // The recorded result of a plan, or its illegality; nullopt for a legal plan that was not recorded.
  std::optional<RecordedPlan> Judge(const Plan& plan) const;
};

// Problems with at least two plans that have a reward, without those held out. The most carefully timed trial of a plan
// counts.
std::vector<RecordedProblem> RecordedProblems(std::span<const Trial> trials, const HeldOut& held_out,
                                              const RewardOptions& options);

}  // namespace gemmsmith
