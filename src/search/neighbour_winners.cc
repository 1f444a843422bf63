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

class InTurn : public Proposer {
 public:
  InTurn(std::vector<Plan> winners, std::unique_ptr<Proposer> searcher)
      : winners_(std::move(winners)), searcher_(std::move(searcher)) {}

  std::string_view name() const override { return searcher_->name(); }

  std::vector<Plan> Propose(int count) override {
    std::vector<Plan> plans;
    while (int(plans.size()) < count && (next_ < winners_.size() || !searcher_has_ended_)) {
      const std::optional<Plan> plan = is_winners_turn_ ? NextWinner() : NextSearched();
      if (plan && !taken_.insert(*plan).second) continue;
      is_winners_turn_ = !is_winners_turn_;
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

  std::optional<Plan> NextSearched() {
    if (searcher_has_ended_) return std::nullopt;
    const std::vector<Plan> plans = searcher_->Propose(1);
    searcher_has_ended_ = plans.empty();
    return plans.empty() ? std::nullopt : std::optional(plans.front());
  }

  const std::vector<Plan> winners_;
  const std::unique_ptr<Proposer> searcher_;
  std::set<Plan> taken_;
  size_t next_ = 0;
  bool is_winners_turn_ = true;
  bool searcher_has_ended_ = false;
};

}  // namespace

double OctavesBetween(const Gemm& first, const Gemm& second) {
  if (first.kind.type != second.kind.type || first.kind.accumulation != second.kind.accumulation)
    return std::numeric_limits<double>::infinity();
  return OctavesBetween(first.shape, second.shape) +
         (first.kind.layout == second.kind.layout ? 0 : kOtherLayoutOctaves);
}

std::optional<Plan> NeighbourWinners::OfItself(const Gemm& gemm, const Device& device) const {
  std::optional<Plan> own, of_other_layout;
  for (const auto& [problem, plans] : plans_) {
    if (problem.shape != gemm.shape || std::isinf(OctavesBetween(problem, gemm))) continue;
    const auto legal = std::ranges::find_if(plans, [&](const Plan& plan) { return IsLegal(plan, gemm, device); });
    if (legal != plans.end()) (problem == gemm ? own : of_other_layout) = *legal;
  }
  return own ? own : of_other_layout;
}

std::vector<Plan> NeighbourWinners::For(const Gemm& gemm, const Device& device, size_t most) const {
  std::vector<std::pair<double, const std::vector<Plan>*>> nearest;
  for (const auto& [neighbour, plans] : plans_)
    if (const double octaves = OctavesBetween(gemm, neighbour); std::isfinite(octaves))
      nearest.emplace_back(octaves, &plans);
  std::ranges::stable_sort(nearest, {}, [](const auto& one) { return one.first; });
  std::vector<Plan> chosen;
  for (const auto& [octaves, plans] : nearest)
    for (const Plan& plan : *plans) {
      if (chosen.size() == most) return chosen;
      const Plan usual = UsualForm(plan, device);
      if (std::ranges::find(chosen, usual) == chosen.end() && IsLegal(usual, gemm, device)) chosen.push_back(usual);
    }
  return chosen;
}

std::string NeighbourWinners::Print() const {
  std::string text;
  for (const auto& [gemm, plans] : plans_)
    for (const Plan& plan : plans) text += fmt::format("{} | {}\n", gemmsmith::Print(gemm), gemmsmith::Print(plan));
  return text;
}

std::unique_ptr<Proposer> MakeInTurn(std::vector<Plan> winners, std::unique_ptr<Proposer> searcher) {
  return std::make_unique<InTurn>(std::move(winners), std::move(searcher));
}

}  // namespace gemmsmith
