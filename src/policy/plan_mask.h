// Masks of the words that may come next in a plan. They guarantee that every sampled plan can be parsed and, by choice
// of mask, is legal or in a space.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/spoken.h"
#include "policy/vocabulary.h"
#include "problem/gemm.h"
#include "program/space.h"

namespace gemmsmith {

// Nothing yet; or a family and the values of its first parameters.
class PlanPrefix {
 public:
  bool has_family() const { return has_family_; }
  bool IsWhole() const { return has_family_ && given_ == SpokenAxisCount(GetFamily(plan_.family)); }
  const Plan& plan() const { return plan_; }  // what is not given is 0
  size_t given() const { return given_; }     // parameters
  void Take(Token token);                     // a family's word, or a value of the next parameter; CHECKs that it is

 private:
  Plan plan_;
  size_t given_ = 0;
  bool has_family_ = false;
};

// Words that may follow, ascending, and the log prior of each. It is added to the policy's logit; the best word has 0.
struct AllowedWords {
  std::vector<Token> words;
  std::vector<float> log_prior;  // as many
};

class PlanMask {
 public:
  virtual ~PlanMask() = default;
  // For a prefix that is not whole and that this mask led to. No words only where the mask has no plan at all.
  virtual AllowedWords AllowedAfter(const PlanPrefix& prefix) const = 0;
};

// Every plan that can be written.
class AnyPlanMask : public PlanMask {
 public:
  AllowedWords AllowedAfter(const PlanPrefix& prefix) const override;
};

// Legal plans only. A word is allowed if it leads to a legal plan by the end of one of the witnesses. So a plan that is
// begun can always be ended, but a legal plan with an end of no witness may be out of reach. Witnesses that are illegal
// for the problem are ignored; the plans of a space (RankedPlans) are good witnesses.
class LegalPlanMask : public PlanMask {
 public:
  LegalPlanMask(const Gemm& gemm, const Device& device, std::span<const Plan> witnesses);
  AllowedWords AllowedAfter(const PlanPrefix& prefix) const override;

 private:
  bool HasLegalEnd(Plan plan, size_t given) const;

  const Gemm gemm_;
  const Device device_;
  std::vector<Plan> witnesses_;
};

// The plans of a space that were not struck off. The log prior of a word is that of the best plan behind it. So the
// words of a plan add up to the log prior of the plan.
class SpacePlanMask : public PlanMask {
 public:
  explicit SpacePlanMask(const Space& space);  // outlives the mask; the prior is uniform
  // Logarithms, by index in the space, finite.
  void SetLogPrior(std::vector<float> log_prior);
  AllowedWords AllowedAfter(const PlanPrefix& prefix) const override;
  bool Strike(const Plan& plan);  // false where it is not there, or no more
  size_t remaining() const { return remaining_; }

 private:
  const Space& space_;
  std::vector<bool> struck_;  // by index in the space
  std::vector<float> log_prior_;
  size_t remaining_;
};

}  // namespace gemmsmith
