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
    return UpTo(count, [&] { return fresh_.TakeAny(); });
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
