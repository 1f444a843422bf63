#include "search/fresh_plans.h"
#include "search/nvmmh.h"
#include "search/proposers.h"

namespace gemmsmith {

namespace {

class NvmmhProposer : public Proposer {
 public:
  NvmmhProposer(const SearchContext& context, std::span<const NvmmhConfig> configs)
      : fresh_(*context.space, Random(context.seed).Fork("nvmmh proposer")) {
    std::vector<Plan> legal = context.space->plans();  // a recorded space holds others too
    std::erase_if(legal, [&](const Plan& plan) { return !IsWorthTrying(plan, context.gemm, context.device); });
    for (const Plan& wanted : PlansLike(configs, context.gemm, context.device))
      if (const Plan* plan = NearestOf(legal, wanted, context.gemm, context.device)) order_.push_back(*plan);
  }

  std::string_view name() const override { return "nvmmh"; }

  std::vector<Plan> Propose(int count) override {
    std::vector<Plan> plans;
    for (; int(plans.size()) < count && next_ < order_.size(); ++next_)
      if (fresh_.Take(order_[next_])) plans.push_back(order_[next_]);
    return plans;
  }

  void Observe(const Plan& plan, const Outcome&) override { fresh_.Take(plan); }

 private:
  FreshPlans fresh_;
  std::vector<Plan> order_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> MakeNvmmhProposer(const SearchContext& context, std::span<const NvmmhConfig> configs) {
  return std::make_unique<NvmmhProposer>(context, configs);
}

Result<std::unique_ptr<Proposer>> MakeNvmmhProposer(const SearchContext& context) {
  ASSIGN_OR_RETURN(const std::vector<NvmmhConfig> configs, AskNvmmh(context.gemm, context.device, kMaxNvmmhConfigs));
  return MakeNvmmhProposer(context, configs);
}

}  // namespace gemmsmith
