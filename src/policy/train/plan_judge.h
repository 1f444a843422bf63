// Judges the plans that a policy draws: by records (here), or on a GPU (campaign/live_judge.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/train/recorded_rewards.h"

namespace gemmsmith {

// The plans drawn from one context.
struct DrawnPlans {
  const RecordedProblem* problem = nullptr;
  std::vector<Plan> plans;
};

// The reward of each plan, in their order; nullopt if it is unknown.
using JudgedPlans = std::vector<std::optional<RecordedPlan>>;

class PlanJudge {
 public:
  virtual ~PlanJudge() = default;
  // Part of what must be the same for a run to go on: "recorded", "live on NVIDIA H200".
  virtual std::string name() const = 0;
  // The plans that may be drawn for each problem where the policy is masked.
  virtual std::vector<std::shared_ptr<const Space>> SpacesOf(std::span<const RecordedProblem* const> problems) = 0;
  // A Status reports a failed environment; the whole step is then void.
  virtual Result<std::vector<JudgedPlans>> Judge(std::span<const DrawnPlans> drawn) = 0;
  // Plans measured for this training so far; nothing where none are measured.
  virtual std::optional<int64_t> evaluations() const { return std::nullopt; }
};

// Knows the recorded plans, and which others are illegal.
std::unique_ptr<PlanJudge> MakeRecordedJudge();

}  // namespace gemmsmith
