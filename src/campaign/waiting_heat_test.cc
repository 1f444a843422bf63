#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign_fixture.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/space.h"

namespace gemmsmith {
namespace {

// Forms with known dimensions are compiled for their heat alone. Here the compiler holds those of the first problem
// back until the second one is screened.
class WaitingHeatTest : public SetTest {
 protected:
  void SearchWithFormsThatWait() {
    options.finished_after.reset();
    options.finalists = 2;
    options.fixed_twins = 2;
    std::vector<Plan> plans = RankedPlans(options.problems[0], SomeDevice(), kLiveSpaceSize);
    std::erase_if(plans, [&](const Plan& plan) {
      return !IsLegal(plan, options.problems[1], SomeDevice()) || WithFixed(plan, FixedDimensions::kNone) != plan;
    });
    ASSERT_GE(plans.size(), 8u);
    plans.resize(8);
    space = Space(plans);
    for (const Plan& plan : plans)
      of_forms_.insert(Emit(WithFixed(plan, FixedDimensions::kAll), options.problems[0]).text);
    compiler.before = [this](const Source& source) {
      for (int i = 0; i < 5000 && of_forms_.contains(source.text) && !second_was_screened; ++i) usleep(1000);
      return OkStatus();
    };
  }
  Result<CampaignResult> RunSearch() {
    const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
      return SomeSearch(gemm, space, StopAfterEvaluations(8));
    };
    return RunCampaign(options, make_search, judges, &compiler, nullptr, *StopOnAny({}), on_event);
  }

  std::atomic<bool> second_was_screened = false;

 private:
  std::set<std::string> of_forms_;
};

TEST_F(WaitingHeatTest, WhileAHeatWaitsForItsKernelsTheOtherLayoutIsScreened) {
  options.problems.resize(2);
  options.problems[1] = options.problems[0];
  options.problems[1].kind.layout = kNn;
  ASSERT_NO_FATAL_FAILURE(SearchWithFormsThatWait());
  std::vector<std::pair<std::set<Layout>, Protocol>> order;
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    std::set<Layout> layouts;
    for (const Candidate& candidate : candidates) layouts.insert(candidate.request.gemm.kind.layout);
    const Protocol protocol = candidates[0].request.protocol;
    if (order.empty() || order.back() != std::pair(layouts, protocol)) order.emplace_back(layouts, protocol);
    if (layouts.contains(kNn)) second_was_screened = true;
  };
  const Result<CampaignResult> result = RunSearch();
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto place = [&](const std::set<Layout>& layouts, Protocol protocol) {
    return std::find(order.begin(), order.end(), std::pair(layouts, protocol)) - order.begin();
  };
  EXPECT_LT(place({kNn}, Protocol::kScreen), place({kTn}, Protocol::kHeat));
  const auto last_heat = std::max(place({kTn}, Protocol::kHeat), place({kNn}, Protocol::kHeat));
  EXPECT_EQ(place({kTn, kNn}, Protocol::kShort), last_heat + 1) << "one race, on a GPU as warm as in the heat";
  EXPECT_EQ(order.size(), size_t(last_heat + 2));
  EXPECT_TRUE(result->problems[0].complete && result->problems[1].complete);
}

TEST_F(WaitingHeatTest, WhileAHeatWaitsForItsKernelsTheNextShapeIsScreenedAndItsFinalsWaitTheirTurn) {
  options.problems.resize(3);
  ASSERT_NO_FATAL_FAILURE(SearchWithFormsThatWait());
  std::vector<std::pair<Gemm, Protocol>> order;
  evaluator.on_exchange = [&](std::span<const Candidate> candidates) {
    const std::pair exchange(candidates[0].request.gemm, candidates[0].request.protocol);
    if (order.empty() || order.back() != exchange) order.push_back(exchange);
    if (exchange.first == options.problems[1]) second_was_screened = true;
  };
  const Result<CampaignResult> result = RunSearch();
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto place = [&](size_t problem, Protocol protocol) {
    return std::find(order.begin(), order.end(), std::pair(options.problems[problem], protocol)) - order.begin();
  };
  EXPECT_LT(place(1, Protocol::kScreen), place(0, Protocol::kHeat));
  EXPECT_LT(place(0, Protocol::kShort), place(1, Protocol::kShort));
  EXPECT_LT(place(0, Protocol::kShort), place(2, Protocol::kScreen)) << "no more than two shapes at a time";
  EXPECT_EQ(place(2, Protocol::kShort) + 1, std::ssize(order));
  for (const ProblemResult& problem : result->problems) EXPECT_TRUE(problem.complete);
}

}  // namespace
}  // namespace gemmsmith
