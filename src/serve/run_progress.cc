#include "serve/run_progress.h"

#include <nlohmann/json.hpp>

namespace gemmsmith {

RunProgress::RunProgress(const SelectionOptions& options)
    : number_types_(options.number_types), device_key_(options.device_key) {
  if (options.shapes) asked_.emplace(options.shapes->begin(), options.shapes->end());
}

bool RunProgress::IsAskedFor(const Trial& trial) const {
  return IsOfKind(trial, number_types_) && (!device_key_ || trial.setting.device_key == *device_key_) &&
         (!asked_ || asked_->contains(trial.gemm.shape));
}

void RunProgress::ProblemProgress::Add(const Trial& trial) {
  const Outcome& outcome = trial.outcome;
  if (!outcome.IsTimed()) return;
  const RankedTime time = RankedTime::Of(outcome);
  if (best && !time.Beats(*best)) return;
  best = time;
  const std::optional<RatioEstimate> ratio = OverAutoTuning(outcome);
  over_autotuning = ratio ? std::optional(ratio->median) : std::nullopt;
}

void RunProgress::Add(const Trial& trial) {
  ++trials_;
  if (!IsAskedFor(trial)) return;
  shapes_.insert(trial.gemm.shape);
  if (std::holds_alternative<Nobody>(trial.subject)) return;
  latest_ = {trial.gemm.shape, trial.gemm.kind.layout};
  ProblemProgress& problem = problems_[*latest_];
  candidates_ += problem.candidates.insert(trial.subject).second;
  problem.Add(trial);
}

nlohmann::ordered_json RunProgress::Json() const {
  nlohmann::ordered_json latest;
  if (latest_) {
    const ProblemProgress& problem = problems_.at(*latest_);
    latest = {
        {"shape", Print(latest_->first)},
        {"layout", Name(latest_->second)},
        {"candidates", problem.candidates.size()},
        {"best_ns", problem.best ? nlohmann::ordered_json(problem.best->time_ns) : nullptr},
        {"over_autotuning", problem.over_autotuning ? nlohmann::ordered_json(*problem.over_autotuning) : nullptr}};
  }
  return {{"trials", trials_},
          {"candidates", candidates_},
          {"problems", problems_.size()},
          {"shapes", shapes_.size()},
          {"shapes_asked", asked_ ? nlohmann::ordered_json(asked_->size()) : nullptr},
          {"latest", std::move(latest)}};
}

}  // namespace gemmsmith
