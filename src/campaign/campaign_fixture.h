// For tests of campaigns over one problem and over a set of them. In no unnamed namespace: the tests of a suite have
// the same fixture, whichever files they are in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/fakes.h"
#include "program/emit.h"
#include "program/space.h"

namespace gemmsmith {

class CampaignTest : public testing::Test {
 protected:
  // Every problem has the same space and the same budget.
  Result<CampaignResult> RunAll(Archive* archive, int budget, StopRule& stop) {
    const MakeSearch make_search = [&](const Gemm& gemm) -> Result<ProblemSearch> {
      ++searches_made;
      return SomeSearch(gemm, space, StopAfterEvaluations(budget));
    };
    return RunCampaign(options, make_search, judges, with_compiler ? used_compiler : nullptr, archive, stop,
                       [this](const CampaignEvent& event) { on_event(event); });
  }
  Result<CampaignResult> RunAll(int budget = 1 << 20) { return RunAll(store.archive.get(), budget, *StopOnAny({})); }
  // For the tests of a single problem.
  Result<ProblemResult> RunWith(Archive* archive, int budget) {
    Result<CampaignResult> result = RunAll(archive, budget, *StopOnAny({}));
    if (!result.ok()) return result.status();
    return std::move(result->problems.at(0));
  }
  Result<ProblemResult> RunWhole() { return RunWith(store.archive.get(), 1 << 20); }
  int CountTrials(Protocol protocol) const { return int(store.archive->Load({.protocol = protocol})->size()); }

  Plan Fastest() const {
    return *std::min_element(space.plans().begin(), space.plans().end(),
                             [](const Plan& a, const Plan& b) { return SomeTimeNs(a) < SomeTimeNs(b); });
  }

  Space space{SomePlans(40)};
  CampaignOptions options{.name = "test", .problems = {SomeGemm()}, .finalists = 0, .compile_threads = 3, .seed = 7};
  bool with_compiler = true;
  FakeCompiler compiler;
  Compiler* used_compiler = &compiler;
  std::atomic<int> searches_made = 0;
  FakeEvaluator evaluator;
  std::vector<Evaluator*> judges = {&evaluator};
  TemporaryArchive store;
  std::function<void(const CampaignEvent&)> on_event = [](const CampaignEvent&) {};
};

class SetTest : public CampaignTest {
 protected:
  SetTest() {
    options.problems.clear();
    for (int i = 0; i < kProblems; ++i) options.problems.push_back(SomeGemm(512 * (i + 1)));
    options.finalists = 2;
    options.heat_candidates = 6;
    options.finished_after = kBudget;
    on_event = [this](const CampaignEvent& event) {
      if (event.complete == nullptr) return;
      EXPECT_EQ(event.problems_complete, ++told_complete);
      EXPECT_EQ(event.complete->gemm, options.problems[event.problem]);
    };
  }
  Result<CampaignResult> RunSet(StopRule& stop) {
    told_complete = 0;
    return RunAll(store.archive.get(), kBudget, stop);
  }
  Result<CampaignResult> RunSet() { return RunSet(*StopOnAny({})); }
  // So that it shows for which problem a text is compiled.
  std::vector<Plan> PlansThatNameTheirShape() const {
    std::vector<Plan> plans = RankedPlans(options.problems[0], SomeDevice(), kLiveSpaceSize);
    std::erase_if(plans, [&](const Plan& plan) {
      return Emit(plan, options.problems[0]).text == Emit(plan, options.problems[1]).text;
    });
    EXPECT_GE(plans.size(), 40u);
    plans.resize(std::min<size_t>(plans.size(), 40));
    return plans;
  }

  static constexpr int kProblems = 12, kBudget = 20;
  static constexpr int kTrialsOfAProblem = kBudget + 6 + 2;
  size_t told_complete = 0;
};

}  // namespace gemmsmith
