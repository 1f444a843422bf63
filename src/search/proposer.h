// Ask/tell: every search and every policy is a Proposer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/trial.h"
#include "base/random.h"
#include "program/space.h"

namespace gemmsmith {

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Up to `count` plans of the space that were never proposed before, most promising first; fewer or none when it has
  // no more. Plans proposed earlier may still be under way, unobserved.
  virtual std::vector<Plan> Propose(int count) = 0;
  virtual void Observe(const Plan& plan, const Outcome& outcome) = 0;
};

class Experience;

// What a proposer is made for: one problem, one device, one finite space; all randomness comes from the seed.
struct SearchContext {
  Gemm gemm;
  Device device;
  const Space* space = nullptr;  // outlives the proposer
  uint64_t seed = 0;
  const Experience* experience = nullptr;  // of other problems (experience.h); null: none. Outlives the proposer
  std::function<bool(const Shape& shape)> forgets;  // what of the experience it does without; null: nothing
};

// "random", "ranked", "local", "evolution", "bayes", "nvmmh".
const std::vector<std::string_view>& ProposerNames();
Result<std::unique_ptr<Proposer>> MakeProposer(std::string_view name, const SearchContext& context);
// Plans that this proposer needs in a space which was made by prediction, to propose what it means: none but for nvmmh.
// Unavailable where the proposer is.
Result<std::vector<Plan>> PlansBesideRanked(std::string_view name, const Gemm& gemm, const Device& device);

}  // namespace gemmsmith
