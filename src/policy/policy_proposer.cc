#include "policy/policy_proposer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "policy/contexts.h"
#include "policy/prior.h"
#include "policy/sampler.h"

namespace gemmsmith {

namespace {

// Drawn at once; GRPO's groups are as large.
constexpr int kGroup = 16;
// A draw that repeats itself is followed by one that is freer by this.
constexpr double kWarming = 1.5;

class PolicyProposer : public Proposer {
 public:
  PolicyProposer(std::shared_ptr<const PolicyModel> model, const SearchContext& context)
      : model_(std::move(model)),
        space_(*context.space),
        gemm_(context.gemm),
        device_(context.device),
        forecast_(context),
        mask_(*context.space),
        random_(Random(context.seed).Fork("policy proposer")) {}

  std::string_view name() const override { return "policy"; }

  // One context for all draws of a call: nothing is observed meanwhile.
  std::vector<Plan> Propose(int count) override {
    const SampleRequest request{EncodeContext(Context()), &mask_};
    if (!model_->ablations.prior) mask_.SetLogPrior(LogPriorOf(forecast_));
    std::vector<Plan> plans;
    double temperature = 1;
    while (int(plans.size()) < count && mask_.remaining() > 0) {
      std::vector<Drawn> drawn = Draw(request, temperature);
      while (int(plans.size()) < count && !drawn.empty()) plans.push_back(TakeBest(drawn));
      temperature *= kWarming;
    }
    return plans;
  }

  void Observe(const Plan& plan, const Outcome& outcome) override {
    mask_.Strike(plan);
    forecast_.Learn(plan, outcome);
    variants_.push_back({plan, AsJudged(gemm_, device_, outcome)});
  }

 private:
  struct Drawn {
    Plan plan;
    size_t index = 0;  // in the space
    double log_probability = 0;
    double log_optimistic_time = 0;  // when it was drawn
  };

  Document Context() { return ContextFor(gemm_, device_, variants_, {.ablations = model_->ablations}, random_); }

  // Different plans, none of which was proposed before: the mask allows no others.
  std::vector<Drawn> Draw(const SampleRequest& request, double temperature) {
    const std::vector<SampledPlan> sampled = SamplePlans(
        *model_, std::span(&request, 1), {.plans = kGroup, .temperature = temperature, .seed = random_.Next()})[0];
    std::map<size_t, Drawn> drawn;
    for (const SampledPlan& one : sampled) {
      const size_t index = *space_.IndexOf(one.plan);
      drawn.try_emplace(index, Drawn{one.plan, index, one.log_probability, LogOptimisticTime(index)});
    }
    std::vector<Drawn> different;
    for (auto& [index, one] : drawn) different.push_back(std::move(one));
    return different;
  }

  // The likeliest one. What plans under way will tell of others is no longer a reason to try those.
  Plan TakeBest(std::vector<Drawn>& drawn) {
    const auto likelihood = [this](const Drawn& one) {
      if (model_->ablations.prior) return one.log_probability;
      return one.log_probability - kPriorStrength * (LogOptimisticTime(one.index) - one.log_optimistic_time);
    };
    const auto best = std::ranges::max_element(drawn, {}, likelihood);
    Plan plan = std::move(best->plan);
    mask_.Strike(plan);
    forecast_.MarkPending(best->index);
    drawn.erase(best);
    return plan;
  }

  // Returns 0 for a plan that is forecast to be illegal.
  double LogOptimisticTime(size_t index) const {
    const double time_ns = forecast_.OptimisticTimeNs(index, kExplorationBonus);
    return std::isfinite(time_ns) ? std::log(time_ns) : 0;
  }

  const std::shared_ptr<const PolicyModel> model_;
  const Space& space_;
  const Gemm gemm_;
  const Device device_;
  Forecast forecast_;  // what is observed corrects it
  SpacePlanMask mask_;
  Random random_;
  std::vector<Exemplar> variants_;
};

}  // namespace

Result<std::unique_ptr<Proposer>> MakePolicyProposer(std::shared_ptr<const PolicyModel> model,
                                                     const SearchContext& context) {
  GEMMSMITH_CHECK(context.space != nullptr, "a proposer needs a space");
  RETURN_IF_ERROR(CheckRoomForContexts(*model));
  return std::unique_ptr<Proposer>(std::make_unique<PolicyProposer>(std::move(model), context));
}

}  // namespace gemmsmith
