#include "policy/plan_mask.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/random.h"
#include "policy/spoken.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// A word that leads nowhere costs a check for each of them.
constexpr size_t kMaxWitnesses = 48;

const TokenBlock& NextBlock(const PlanPrefix& prefix) {
  const Vocabulary& words = TokenVocabulary();
  return prefix.has_family() ? words.Values(prefix.plan().family, prefix.given()) : words.families;
}

int ValueAt(const Plan& plan, size_t axis, int index) {
  return GetFamily(plan.family).axes[axis].values[size_t(index)];
}

}  // namespace

void PlanPrefix::Take(Token token) {
  const TokenBlock& block = NextBlock(*this);
  GEMMSMITH_CHECK(block.Has(token), "word {} after {} axes", token, given_);
  const int index = block.IndexOf(token);
  if (has_family_) {
    plan_.values[given_] = ValueAt(plan_, given_, index);
    ++given_;
  } else {
    plan_.family = FamilyId(index);
    has_family_ = true;
  }
}

AllowedWords AnyPlanMask::AllowedAfter(const PlanPrefix& prefix) const {
  const TokenBlock& block = NextBlock(prefix);
  AllowedWords allowed;
  for (int i = 0; i < block.count; ++i) allowed.words.push_back(block[i]);
  allowed.log_prior.resize(allowed.words.size());
  return allowed;
}

LegalPlanMask::LegalPlanMask(const Gemm& gemm, const Device& device, std::span<const Plan> witnesses)
    : gemm_(gemm), device_(device) {
  std::vector<Plan> legal;
  for (const Plan& plan : witnesses)
    if (IsWorthTrying(plan, gemm, device)) legal.push_back(plan);
  // Neighbours in a list are much alike: drawn ones differ. The same ones every time.
  Random random(0);
  random.Shuffle(legal);
  for (const Family& family : Families()) {
    size_t of_family = 0;
    for (const Plan& plan : legal)
      if (plan.family == family.id && of_family < kMaxWitnesses) witnesses_.push_back(plan), ++of_family;
  }
}

bool LegalPlanMask::HasLegalEnd(Plan plan, size_t given) const {
  for (const Plan& witness : witnesses_) {
    if (witness.family != plan.family) continue;
    std::copy(witness.values.begin() + long(given), witness.values.end(), plan.values.begin() + long(given));
    if (IsWorthTrying(plan, gemm_, device_)) return true;
  }
  return false;
}

AllowedWords LegalPlanMask::AllowedAfter(const PlanPrefix& prefix) const {
  const TokenBlock& block = NextBlock(prefix);
  AllowedWords allowed;
  for (int i = 0; i < block.count; ++i) {
    PlanPrefix longer = prefix;
    longer.Take(block[i]);
    if (HasLegalEnd(longer.plan(), longer.given())) allowed.words.push_back(block[i]);
  }
  allowed.log_prior.resize(allowed.words.size());
  return allowed;
}

// A plan that the words cannot say cannot be drawn.
SpacePlanMask::SpacePlanMask(const Space& space)
    : space_(space), struck_(space.size(), false), log_prior_(space.size()), remaining_(space.size()) {
  for (const Plan& plan : space.plans())
    if (!IsSpokenWhole(plan)) Strike(plan);
}

void SpacePlanMask::SetLogPrior(std::vector<float> log_prior) {
  GEMMSMITH_CHECK(log_prior.size() == space_.size(), "{} log priors of {} plans", log_prior.size(), space_.size());
  log_prior_ = std::move(log_prior);
}

bool SpacePlanMask::Strike(const Plan& plan) {
  const std::optional<size_t> index = space_.IndexOf(plan);
  if (!index || struck_[*index]) return false;
  struck_[*index] = true;
  --remaining_;
  return true;
}

// A space is sorted by family and values, so the plans of a prefix stand next to each other.
AllowedWords SpacePlanMask::AllowedAfter(const PlanPrefix& prefix) const {
  const auto begins_before = [&](const Plan& plan) {
    if (!prefix.has_family()) return false;
    if (plan.family != prefix.plan().family) return plan.family < prefix.plan().family;
    const auto given = plan.values.begin() + long(prefix.given());
    return std::lexicographical_compare(plan.values.begin(), given, prefix.plan().values.begin(),
                                        prefix.plan().values.begin() + long(prefix.given()));
  };
  const auto has_prefix = [&](const Plan& plan) {
    return !prefix.has_family() ||
           (plan.family == prefix.plan().family &&
            std::equal(plan.values.begin(), plan.values.begin() + long(prefix.given()), prefix.plan().values.begin()));
  };
  const std::vector<Plan>& plans = space_.plans();
  const TokenBlock& block = NextBlock(prefix);
  const auto first = std::partition_point(plans.begin(), plans.end(), begins_before);
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::vector<float> best(size_t(block.count), kNone);
  for (auto plan = first; plan != plans.end() && has_prefix(*plan); ++plan) {
    const size_t at = size_t(plan - plans.begin());
    if (struck_[at]) continue;
    const int index = prefix.has_family()
                          ? GetFamily(plan->family).axes[prefix.given()].IndexOf(plan->values[prefix.given()])
                          : int(plan->family);
    best[size_t(index)] = std::max(best[size_t(index)], log_prior_[at]);
  }
  const float best_of_all = *std::max_element(best.begin(), best.end());
  AllowedWords allowed;
  for (int i = 0; i < block.count; ++i) {
    if (best[size_t(i)] == kNone) continue;
    allowed.words.push_back(block[i]);
    allowed.log_prior.push_back(best[size_t(i)] - best_of_all);
  }
  return allowed;
}

}  // namespace gemmsmith
