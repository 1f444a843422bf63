#include "campaign/live_judge.h"

#include <fmt/format.h>

#include <set>

#include "base/all_cores.h"
#include "program/space.h"

namespace gemmsmith {

Result<std::unique_ptr<LiveJudge>> LiveJudge::Open(const LiveJudgeOptions& options, Evaluator& evaluator,
                                                   Compiler* compiler, Archive& archive) {
  std::unique_ptr<LiveJudge> judge(new LiveJudge(options, evaluator, compiler, archive));
  const TrialFilter filter{.campaign = options.campaign, .device_key = evaluator.device().key};
  RETURN_IF_ERROR(archive.ForEach(filter, [&](const Trial& trial) { judge->Learn(trial); }));
  return judge;
}

LiveJudge::LiveJudge(const LiveJudgeOptions& options, Evaluator& evaluator, Compiler* compiler, Archive& archive)
    : options_(options),
      evaluator_(evaluator),
      run_trials_(evaluator, compiler, &archive, options.campaign),
      ahead_(evaluator.device(), compiler, options.compile_threads) {}

std::string LiveJudge::name() const { return fmt::format("live on {}", evaluator_.device().name); }

std::vector<std::shared_ptr<const Space>> LiveJudge::SpacesOf(std::span<const RecordedProblem* const> problems) {
  std::vector<std::pair<const RecordedProblem*, std::shared_ptr<const Space>*>> unknown;
  for (const RecordedProblem* problem : problems)
    if (const auto [at, is_new] = spaces_.try_emplace(problem->gemm); is_new) unknown.push_back({problem, &at->second});
  ForEachOnAllCores(unknown.size(), [&](size_t i) {
    const auto& [problem, space] = unknown[i];
    std::vector<Plan> plans = RankedPlans(problem->gemm, evaluator_.device(), kLiveSpaceSize);
    for (const Plan& plan : problem->space->plans())
      if (IsLegal(plan, problem->gemm, evaluator_.device())) plans.push_back(plan);
    *space = std::make_shared<Space>(std::move(plans));
  });
  std::vector<std::shared_ptr<const Space>> spaces;
  for (const RecordedProblem* problem : problems) spaces.push_back(spaces_.at(problem->gemm));
  return spaces;
}

void LiveJudge::Learn(const Trial& trial) {
  known_.emplace(std::pair(trial.gemm, trial.plan()), WorthOf(trial.outcome, trial.gemm.kind.layout, options_.rewards));
}

Status LiveJudge::JudgeUnknown(std::span<const DrawnPlans> drawn) {
  std::set<std::pair<Gemm, Plan>> asked;
  for (const DrawnPlans& one : drawn) {
    const size_t turn = next_turn_++;
    for (const Plan& plan : one.plans) {
      const std::pair cell(one.problem->gemm, plan);
      if (known_.contains(cell) || !asked.insert(cell).second) continue;
      ahead_.Add(turn, {{.gemm = one.problem->gemm, .protocol = Protocol::kScreen, .seed = options_.seed}, plan});
    }
  }
  while (ahead_.pending() > 0) {
    ASSIGN_OR_RETURN(CompileAhead::List list, ahead_.Take(kListSize, kPatience));
    if (list.candidates.empty()) continue;
    ASSIGN_OR_RETURN(const JudgedList judged, run_trials_(std::move(list.candidates)));
    for (const Trial& trial : judged.trials) Learn(trial);
    if (judged.failure.ok()) continue;
    for (size_t turn = next_turn_ - drawn.size(); turn < next_turn_; ++turn) ahead_.Forget(turn);
    return judged.failure;
  }
  return OkStatus();
}

Result<std::vector<JudgedPlans>> LiveJudge::Judge(std::span<const DrawnPlans> drawn) {
  RETURN_IF_ERROR(JudgeUnknown(drawn));
  std::vector<JudgedPlans> judged(drawn.size());
  for (size_t i = 0; i < drawn.size(); ++i)
    for (const Plan& plan : drawn[i].plans) {
      const auto found = known_.find({drawn[i].problem->gemm, plan});
      judged[i].push_back(found == known_.end() ? std::nullopt : found->second);
    }
  return judged;
}

}  // namespace gemmsmith
