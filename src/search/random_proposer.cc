#include "search/fresh_plans.h"
#include "search/proposers.h"

namespace gemmsmith {

namespace {

class RandomProposer : public Proposer {
 public:
  explicit RandomProposer(const SearchContext& context)
      : fresh_(*context.space, Random(context.seed).Fork("random proposer")) {}

  std::string_view name() const override { return "random"; }

  std::vector<Plan> Propose(int count) override {
    std::vector<Plan> plans;
    while (int(plans.size()) < count) {
      std::optional<Plan> plan = fresh_.TakeAny();
      if (!plan) break;
      plans.push_back(*plan);
    }
    return plans;
  }

  void Observe(const Plan& plan, const Outcome&) override { fresh_.Take(plan); }

 private:
  FreshPlans fresh_;
};

}  // namespace

std::unique_ptr<Proposer> MakeRandomProposer(const SearchContext& context) {
  return std::make_unique<RandomProposer>(context);
}

}  // namespace gemmsmith
