#include "policy/policy_proposer.h"

#include <fmt/format.h>

#include <algorithm>

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
        gemm_(context.gemm),
        device_(context.device),
        forecast_(context),
        mask_(*context.space),
        random_(Random(context.seed).Fork("policy proposer")) {}

  std::string_view name() const override { return "policy"; }

  // One context for all draws of a call: nothing is observed meanwhile.
  std::vector<Plan> Propose(int count) override {
    const SampleRequest request{EncodeContext(Context()), &mask_};
    if (!model_->without.prior) mask_.Believe(BeliefsOf(forecast_));
    std::vector<Plan> plans;
    double temperature = 1;
    while (int(plans.size()) < count && mask_.remaining() > 0) {
      for (const Plan& plan : Draw(request, temperature))
        if (int(plans.size()) < count && mask_.Strike(plan)) plans.push_back(plan);
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
  Document Context() { return ContextFor(gemm_, device_, variants_, {.without = model_->without}, random_); }

  std::vector<Plan> Draw(const SampleRequest& request, double temperature) {
    std::vector<SampledPlan> drawn = SamplePlans(
        *model_, std::span(&request, 1), {.plans = kGroup, .temperature = temperature, .seed = random_.Next()})[0];
    std::stable_sort(drawn.begin(), drawn.end(),
                     [](const SampledPlan& a, const SampledPlan& b) { return a.log_probability > b.log_probability; });
    std::vector<Plan> plans;
    for (const SampledPlan& sampled : drawn) plans.push_back(sampled.plan);
    return plans;
  }

  const std::shared_ptr<const PolicyModel> model_;
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
