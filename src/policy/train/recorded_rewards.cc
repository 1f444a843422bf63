#include "policy/train/recorded_rewards.h"

#include "program/legality.h"

namespace gemmsmith {

std::optional<RecordedPlan> WorthOf(const Outcome& outcome, const Layout& layout, const RewardOptions& options) {
  const std::optional<double> reward = RewardOf(outcome, layout, options);
  if (!reward) return std::nullopt;
  return RecordedPlan{outcome.kind, *reward, SpeedUpOf(outcome, layout)};
}

std::optional<RecordedPlan> RecordedProblem::Judge(const Plan& plan) const {
  if (const auto found = plans.find(plan); found != plans.end()) return found->second;
  if (IsLegal(plan, gemm, device)) return std::nullopt;
  return RecordedPlan{OutcomeKind::kIllegal, illegal_reward, std::nullopt};
}

std::vector<RecordedProblem> RecordedProblems(std::span<const Trial> trials, const HeldOut& held_out,
                                              const RewardOptions& options) {
  std::vector<RecordedProblem> problems;
  for (const auto& [key, plans] : GroupTrials(trials)) {
    RecordedProblem problem{.gemm = key.second, .device = *FindDevice(key.first)};
    if (IsHeldOut(problem.gemm.shape, held_out)) continue;
    std::vector<Plan> space;
    std::vector<double> rewards;
    for (const auto& [plan, of_plan] : plans) {
      const std::optional<RecordedPlan> worth = WorthOf(of_plan.timed->outcome, problem.gemm.kind.layout, options);
      if (!worth) continue;
      problem.plans[plan] = *worth;
      problem.variants.push_back({plan, AsJudged(problem.gemm, problem.device, of_plan)});
      space.push_back(plan);
      rewards.push_back(worth->reward);
    }
    if (space.size() < 2) continue;
    problem.space = std::make_shared<Space>(std::move(space));
    problem.scale = ScaleOf(rewards);
    problem.illegal_reward = options.grades[size_t(OutcomeKind::kIllegal)];
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace gemmsmith
