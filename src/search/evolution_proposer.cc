#include <algorithm>

#include "search/forecast.h"
#include "search/fresh_plans.h"
#include "search/proposers.h"
#include "search/ranking.h"

namespace gemmsmith {

namespace {

constexpr size_t kPopulation = 16;
constexpr int kTournament = 3;
constexpr double kCrossRate = 0.5;
constexpr int kAttempts = 24;
// A child outside the space, or one already proposed, gives way to an untried plan this near to it.
constexpr int kReach = 4;

class EvolutionProposer : public Proposer {
 public:
  explicit EvolutionProposer(const SearchContext& context)
      : fresh_(*context.space, Random(context.seed).Fork("evolution proposer order")),
        starts_(PromisingStarts(Forecast(context), *context.space, kPopulation / 2)),
        random_(Random(context.seed).Fork("evolution proposer")) {}

  std::string_view name() const override { return "evolution"; }

  std::vector<Plan> Propose(int count) override {
    return UpTo(count, [&] {
      std::optional<Plan> plan = Next();
      proposed_ += plan.has_value();
      return plan;
    });
  }

  void Observe(const Plan& plan, const Outcome& outcome) override {
    if (fresh_.Take(plan)) ++proposed_;
    ranking_.Add(plan, outcome);
  }

 private:
  std::optional<Plan> Next() {
    while (next_start_ < starts_.size())
      if (const Plan& start = starts_[next_start_++]; fresh_.Take(start)) return start;
    if (proposed_ < kPopulation || ranking_.empty()) return fresh_.TakeAny();
    Plan child = ranking_[0].plan;
    for (int attempt = 0; attempt < kAttempts && fresh_.remaining() > 0; ++attempt) {
      child = Child();
      if (fresh_.Take(child)) return child;
    }
    if (std::optional<Plan> plan = fresh_.TakeNearest(child, kReach)) return plan;
    return fresh_.TakeAny();
  }

  Plan Child() {
    Plan child = TournamentWinner();
    if (random_.Uniform() < kCrossRate) {
      child = Cross(child, TournamentWinner(), random_);
      if (random_.Uniform() < 0.5) return child;
    }
    return Mutate(child, random_);
  }

  // The population is the best of all that were measured, so the lowest of a few drawn ranks wins.
  const Plan& TournamentWinner() {
    uint64_t winner = kPopulation;
    for (int i = 0; i < kTournament; ++i)
      winner = std::min(winner, random_.Below(std::min(kPopulation, ranking_.size())));
    return ranking_[winner].plan;
  }

  FreshPlans fresh_;
  std::vector<Plan> starts_;
  size_t next_start_ = 0;
  Random random_;
  Ranking ranking_;
  size_t proposed_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> MakeEvolutionProposer(const SearchContext& context) {
  return std::make_unique<EvolutionProposer>(context);
}

}  // namespace gemmsmith
