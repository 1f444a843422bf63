// Who says what the plans that a policy draws are worth: a record (here), or a GPU (campaign/live_judge.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/train/recorded_rewards.h"

namespace gemmsmith {

// What was drawn from one context.
struct DrawnPlans {
  const RecordedProblem* problem = nullptr;
  std::vector<Plan> plans;
};

// What each of them is worth, in their order; nothing for one of which nobody knows.
using JudgedPlans = std::vector<std::optional<RecordedPlan>>;

class PlanJudge {
 public:
  virtual ~PlanJudge() = default;
  // Part of what must be the same for a run to go on: "recorded", "live on NVIDIA H200".
  virtual std::string name() const = 0;
  // The plans that may be drawn for each problem where the policy is masked.
  virtual std::vector<std::shared_ptr<const Space>> SpacesOf(std::span<const RecordedProblem* const> problems) = 0;
  // A Status where the world failed: then none of the step counts.
  virtual Result<std::vector<JudgedPlans>> Judge(std::span<const DrawnPlans> drawn) = 0;
  // Plans measured for this training so far; nothing where none are measured.
  virtual std::optional<int64_t> evaluations() const { return std::nullopt; }
};

// Knows the recorded plans, and which others are illegal.
std::unique_ptr<PlanJudge> MakeRecordedJudge();

}  // namespace gemmsmith
