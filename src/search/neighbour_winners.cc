#include "search/neighbour_winners.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "problem/octaves.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

constexpr double kOtherLayoutOctaves = 0.5;

class InterleavedProposer : public Proposer {
 public:
  InterleavedProposer(std::vector<Plan> winners, std::unique_ptr<Proposer> searcher)
      : winners_(std::move(winners)), searcher_(std::move(searcher)) {}

  std::string_view name() const override { return searcher_->name(); }

  std::vector<Plan> Propose(int count) override {
    std::vector<Plan> plans;
    while (int(plans.size()) < count && (next_ < winners_.size() || !searcher_has_ended_)) {
      const std::optional<Plan> plan = is_winner_next_ ? NextWinner() : NextSearched(size_t(count) - plans.size());
      if (plan && !taken_.insert(*plan).second) continue;
      is_winner_next_ = !is_winner_next_;
      if (plan) plans.push_back(*plan);
    }
    return plans;
  }

  void Observe(const Plan& plan, const Outcome& outcome) override {
    taken_.insert(plan);
    searcher_->Observe(plan, outcome);
  }

 private:
  std::optional<Plan> NextWinner() {
    if (next_ == winners_.size()) return std::nullopt;
    return winners_[next_++];
  }

  // Of so many plans that are still to be proposed. The searcher is asked once for all that it will have turns for: a
  // policy draws sixteen plans for one as for eight, which takes 0.04 s.
  std::optional<Plan> NextSearched(size_t left) {
    if (searched_.empty() && !searcher_has_ended_) {
      const size_t winners_left = winners_.size() - next_;
      const size_t turns = std::max((left + 1) / 2, left - std::min(left, winners_left));
      searched_ = searcher_->Propose(int(turns));
      std::ranges::reverse(searched_);
      searcher_has_ended_ = searched_.empty();
    }
    if (searched_.empty()) return std::nullopt;
    Plan plan = std::move(searched_.back());
    searched_.pop_back();
    return plan;
  }

  const std::vector<Plan> winners_;
  const std::unique_ptr<Proposer> searcher_;
  std::vector<Plan> searched_;  // the next one last; none is left when a call ends
  std::set<Plan> taken_;
  size_t next_ = 0;
  bool is_winner_next_ = true;
  bool searcher_has_ended_ = false;
};

}  // namespace

double OctavesBetween(const Gemm& first, const Gemm& second) {
  if (first.kind.type != second.kind.type || first.kind.accumulation != second.kind.accumulation)
    return std::numeric_limits<double>::infinity();
  return OctavesBetween(first.shape, second.shape) +
         (first.kind.layout == second.kind.layout ? 0 : kOtherLayoutOctaves);
}

// A kernel takes the same steps whatever its numbers mean, and the devices of one architecture differ in little but
// their memory. Whoever won on the very problem in its other layout comes first. The figures are not measured.
double NeighbourWinners::Octaves(const WinnersKey& problem, const Gemm& gemm) {
  constexpr double kElsewhere = 0.6, kOtherNumbers = 0.6;
  Gemm alike = problem.gemm;
  alike.kind.type = gemm.kind.type, alike.kind.accumulation = gemm.kind.accumulation;
  return OctavesBetween(alike, gemm) + (alike == problem.gemm ? 0 : kOtherNumbers) +
         (problem.elsewhere ? kElsewhere : 0);
}

std::optional<Plan> NeighbourWinners::OfItself(const Gemm& gemm, const Device& device) const {
  std::optional<Plan> best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [problem, plans] : plans_) {
    if (problem.gemm.shape != gemm.shape || Octaves(problem, gemm) >= least) continue;
    const auto legal = std::ranges::find_if(plans, [&](const Plan& plan) { return IsWorthTrying(plan, gemm, device); });
    if (legal != plans.end()) best = *legal, least = Octaves(problem, gemm);
  }
  return best;
}

std::vector<Plan> NeighbourWinners::For(const Gemm& gemm, const Device& device, size_t most) const {
  std::vector<std::pair<double, const std::vector<Plan>*>> nearest;
  for (const auto& [problem, plans] : plans_) nearest.emplace_back(Octaves(problem, gemm), &plans);
  std::ranges::stable_sort(nearest, {}, [](const auto& one) { return one.first; });
  std::vector<Plan> chosen;
  for (const auto& [octaves, plans] : nearest)
    for (const Plan& plan : *plans) {
      if (chosen.size() == most) return chosen;
      const Plan usual = ScreeningForm(plan, device);
      if (std::ranges::find(chosen, usual) == chosen.end() && IsWorthTrying(usual, gemm, device))
        chosen.push_back(usual);
    }
  return chosen;
}

std::string NeighbourWinners::Print() const {
  std::string text;
  for (const auto& [problem, plans] : plans_)
    for (const Plan& plan : plans)
      text += fmt::format("{}{} | {}\n", gemmsmith::Print(problem.gemm), problem.elsewhere ? " elsewhere" : "",
                          gemmsmith::Print(plan));
  return text;
}

std::unique_ptr<Proposer> MakeInterleaved(std::vector<Plan> winners, std::unique_ptr<Proposer> searcher) {
  return std::make_unique<InterleavedProposer>(std::move(winners), std::move(searcher));
}

}  // namespace gemmsmith
