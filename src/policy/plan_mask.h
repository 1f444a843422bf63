// Which words may come next in a plan that is being written, so that every plan that a policy samples can be read, and,
// as one likes, is legal or stands in a space.
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

// Words that may follow, ascending, and what is believed of each before the policy is asked: a logarithm that is added
// to the policy's own, 0 for the best of them.
struct AllowedWords {
  std::vector<Token> words;
  std::vector<float> beliefs;  // as many
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

// Legal plans only. A word is allowed where it leads to a legal plan by one of the ends that the witnesses have; so a
// plan that is begun can always be ended, and a legal plan whose end is no witness's may be out of reach. Witnesses
// that are not legal for the problem count for nothing, those of a space (RankedPlans) are good ones.
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

// The plans of a space that were not struck off. A word is believed as much as the best plan behind it, so the words of
// a plan together as much as the plan itself.
class SpacePlanMask : public PlanMask {
 public:
  explicit SpacePlanMask(const Space& space);  // outlives the mask; all plans are believed alike
  // Logarithms, by index in the space, finite.
  void Believe(std::vector<float> beliefs);
  AllowedWords AllowedAfter(const PlanPrefix& prefix) const override;
  bool Strike(const Plan& plan);  // false where it is not there, or no more
  size_t remaining() const { return remaining_; }

 private:
  const Space& space_;
  std::vector<bool> struck_;  // by index in the space
  std::vector<float> beliefs_;
  size_t remaining_;
};

}  // namespace gemmsmith
