#include <algorithm>

#include "search/fresh_plans.h"
#include "search/proposers.h"
#include "search/ranking.h"

namespace gemmsmith {

namespace {

// How many of a climb's best plans are expanded before it counts as exhausted: more than one, since proposals are asked
// for while earlier ones are still under way.
constexpr size_t kWidth = 3;
// In a sparse space (a record of some hundred plans) hardly anything is a true neighbour: two steps are allowed then.
constexpr int kReach = 2;

class LocalProposer : public Proposer {
 public:
  explicit LocalProposer(const SearchContext& context)
      : fresh_(*context.space, Random(context.seed).Fork("local proposer")) {}

  std::string_view name() const override { return "local"; }

  std::vector<Plan> Propose(int count) override {
    std::vector<Plan> plans;
    while (int(plans.size()) < count) {
      std::optional<Plan> plan = Next();
      if (!plan) break;
      of_this_climb_.push_back(*plan);
      plans.push_back(*plan);
    }
    return plans;
  }

  // A late answer from an earlier climb joins this one only where it is the best of all.
  void Observe(const Plan& plan, const Outcome& outcome) override {
    const bool foreign = fresh_.Take(plan);
    all_.Add(plan, outcome);
    const bool climbing = std::find(of_this_climb_.begin(), of_this_climb_.end(), plan) != of_this_climb_.end();
    const bool best = !all_.empty() && all_[0].plan == plan;
    if (foreign || climbing || best) climb_.Add(plan, outcome);
  }

 private:
  std::optional<Plan> Next() {
    if (!started_) {
      started_ = true;
      if (climb_.empty()) return fresh_.TakeNearest(DefaultPlan(FamilyId::kDirect), kFarApart);
    }
    if (climb_.empty()) return fresh_.TakeAny();
    for (size_t rank = 0; rank < std::min(kWidth, climb_.size()); ++rank) {
      if (std::optional<Plan> plan = fresh_.TakeNeighbour(climb_[rank].plan)) return plan;
    }
    if (std::optional<Plan> plan = fresh_.TakeNearest(climb_[0].plan, kReach)) return plan;
    climb_.Clear();
    of_this_climb_.clear();
    return fresh_.TakeAny();
  }

  FreshPlans fresh_;
  Ranking all_, climb_;
  std::vector<Plan> of_this_climb_;  // proposed since it began
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Proposer> MakeLocalProposer(const SearchContext& context) {
  return std::make_unique<LocalProposer>(context);
}

}  // namespace gemmsmith
