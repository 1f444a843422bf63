#include "search/forecast.h"
#include "search/fresh_plans.h"
#include "search/proposers.h"

namespace gemmsmith {

namespace {

class RankedProposer : public Proposer {
 public:
  explicit RankedProposer(const SearchContext& context)
      : space_(*context.space),
        fresh_(*context.space, Random(context.seed).Fork("ranked proposer")),
        order_(Forecast(context).order()) {}

  std::string_view name() const override { return "ranked"; }

  std::vector<Plan> Propose(int count) override {
    std::vector<Plan> plans;
    for (; int(plans.size()) < count && next_ < order_.size(); ++next_)
      if (const Plan& plan = space_.plans()[order_[next_]]; fresh_.Take(plan)) plans.push_back(plan);
    return plans;
  }

  void Observe(const Plan& plan, const Outcome&) override { fresh_.Take(plan); }

 private:
  const Space& space_;
  FreshPlans fresh_;
  std::vector<uint32_t> order_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> MakeRankedProposer(const SearchContext& context) {
  return std::make_unique<RankedProposer>(context);
}

}  // namespace gemmsmith
