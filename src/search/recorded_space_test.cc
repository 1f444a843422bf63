// Proposers on the recorded space of data/h200: the distance to the fastest recorded kernel after few proposals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "archive/replay.h"
#include "base/statistics.h"
#include "program/cost.h"
#include "search/proposer.h"

namespace gemmsmith {
namespace {

constexpr int kWindow = 16;  // proposals under way at once, as in a campaign

const Recording& Recorded() {
  static const std::shared_ptr<const Recording> recording =
      *Recording::Load(std::filesystem::path(GEMMSMITH_SOURCE_DIR) / "data" / "h200");
  return *recording;
}

// Every sixth recorded problem that has a measured plan.
std::vector<Gemm> SomeProblems() {
  std::vector<Gemm> problems;
  const std::vector<Gemm> all = Recorded().Problems();
  for (size_t i = 0; i < all.size(); i += 6)
    if (Recorded().Best(all[i]) != nullptr) problems.push_back(all[i]);
  return problems;
}

const Outcome& Screened(const Gemm& gemm, const Plan& plan) {
  return Recorded().Find(gemm, plan, Protocol::kScreen)->outcome;
}

double BestScreenedNs(const Gemm& gemm, const Space& space) {
  double best = INFINITY;
  for (const Plan& plan : space.plans())
    if (const Outcome& outcome = Screened(gemm, plan); outcome.kind == OutcomeKind::kMeasured)
      best = std::min(best, outcome.TimeNs());
  return best;
}

// The best time after each number of proposals over the best of the record; infinite before the first that was
// measured.
std::vector<double> Regrets(std::string_view name, const Gemm& gemm, uint64_t seed,
                            const std::vector<size_t>& budgets) {
  const Space space = Recorded().SpaceFor(gemm);
  const double best_ns = BestScreenedNs(gemm, space);
  const std::unique_ptr<Proposer> proposer =
      *MakeProposer(name, {.gemm = gemm, .device = *FindDevice("h200"), .space = &space, .seed = seed});
  std::vector<double> regrets;
  std::vector<Plan> plans;
  double found_ns = INFINITY;
  size_t observed = 0;
  for (const size_t budget : budgets) {
    while (observed < std::min(budget, space.size())) {
      if (plans.size() < budget)
        for (const Plan& plan :
             proposer->Propose(int(std::min(budget - plans.size(), kWindow + observed - plans.size()))))
          plans.push_back(plan);
      const Outcome& outcome = Screened(gemm, plans[observed]);
      proposer->Observe(plans[observed++], outcome);
      if (outcome.kind == OutcomeKind::kMeasured) found_ns = std::min(found_ns, outcome.TimeNs());
    }
    regrets.push_back(found_ns / best_ns);
  }
  return regrets;
}

struct Quantiles {
  double median, p90;  // over problems and seeds
};

std::map<size_t, Quantiles> RegretsByBudget(std::string_view name) {
  const std::vector<size_t> budgets = {8, 16, 32, 64};
  std::vector<std::vector<double>> by_budget(budgets.size());
  for (const Gemm& gemm : SomeProblems())
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const std::vector<double> regrets = Regrets(name, gemm, seed, budgets);
      for (size_t i = 0; i < budgets.size(); ++i) by_budget[i].push_back(regrets[i]);
    }
  std::map<size_t, Quantiles> result;
  for (size_t i = 0; i < budgets.size(); ++i) {
    std::vector<double>& regrets = by_budget[i];
    std::sort(regrets.begin(), regrets.end());
    result[budgets[i]] = {Median(regrets), regrets[regrets.size() * 9 / 10]};
  }
  return result;
}

std::string Text(std::string_view name, const std::map<size_t, Quantiles>& regrets) {
  std::string text(name);
  for (const auto& [budget, regret] : regrets)
    text += fmt::format(" | {}: {:.4f} {:.4f}", budget, regret.median, regret.p90);
  return text;
}

TEST(RecordedSpace, PredictionFindsNearlyTheBestInSixteenProposals) {
  for (const std::string_view name : {"ranked", "local", "evolution"}) {
    const std::map<size_t, Quantiles> regrets = RegretsByBudget(name);
    SCOPED_TRACE(Text(name, regrets));
    fmt::print("{}\n", Text(name, regrets));
    EXPECT_LT(regrets.at(16).median, 1.015);
    EXPECT_LT(regrets.at(32).p90, 1.03);
  }
}

// What the bounds above are worth.
TEST(RecordedSpace, SixteenRandomProposalsDoNot) {
  const std::map<size_t, Quantiles> regrets = RegretsByBudget("random");
  fmt::print("{}\n", Text("random", regrets));
  SCOPED_TRACE(Text("random", regrets));
  EXPECT_GT(regrets.at(16).median, 1.03);
}

// At which place of the order of prediction the first plan within 2 % of the best recorded one stands, from 1 on.
size_t PlaceOfAGoodPlan(const Gemm& gemm) {
  const Space space = Recorded().SpaceFor(gemm);
  const double good_ns = 1.02 * BestScreenedNs(gemm, space);
  std::vector<std::pair<double, double>> predicted_and_measured;
  for (const Plan& plan : space.plans())
    if (const Outcome& outcome = Screened(gemm, plan); outcome.kind == OutcomeKind::kMeasured)
      predicted_and_measured.emplace_back(PredictTimeNs(plan, gemm, *FindDevice("h200")), outcome.TimeNs());
  std::sort(predicted_and_measured.begin(), predicted_and_measured.end());
  const auto found = std::find_if(predicted_and_measured.begin(), predicted_and_measured.end(),
                                  [&](const auto& plan) { return plan.second <= good_ns; });
  return size_t(found - predicted_and_measured.begin()) + 1;
}

TEST(RecordedSpace, ThePredictionHasAPlanWithinTwoPercentOfTheBestAmongItsFirstSixteen) {
  std::vector<size_t> places;
  for (const Gemm& gemm : Recorded().Problems())
    if (Recorded().Best(gemm) != nullptr) places.push_back(PlaceOfAGoodPlan(gemm));
  const auto share = [&](size_t first) {
    return double(std::count_if(places.begin(), places.end(), [&](size_t place) { return place <= first; })) /
           double(places.size());
  };
  fmt::print("{} problems, first 8: {:.3f}, 16: {:.3f}, 32: {:.3f}\n", places.size(), share(8), share(16), share(32));
  EXPECT_GT(share(8), 0.8);
  EXPECT_GT(share(16), 0.93);
  EXPECT_GT(share(32), 0.98);
}

}  // namespace
}  // namespace gemmsmith
