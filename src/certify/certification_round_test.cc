#include "certify/certification_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <list>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "campaign/fakes.h"

namespace gemmsmith {
namespace {

Outcome Verified(double error = 0.25) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kVerified;
  outcome.verdict.passed = true;
  outcome.verdict.max_abs_error = error;
  outcome.verdict.baseline_max_abs_error = 0.5;
  return outcome;
}

Outcome WrongAt(std::string stage, std::string reason) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kWrong;
  outcome.stage = std::move(stage);
  outcome.reason = std::move(reason);
  return outcome;
}

// A tool that watches each kernel by itself.
WatchCalls Each(std::function<MemcheckResult(const Candidate&)> watch_one) {
  return [watch_one](size_t, std::span<const Candidate> candidates) {
    std::vector<MemcheckResult> results;
    for (const Candidate& candidate : candidates) results.push_back(watch_one(candidate));
    return results;
  };
}

MemcheckResult Clean() { return std::optional<Outcome>(); }

class CertificationRoundTest : public testing::Test {
 protected:
  CertificationRoundTest() {
    for (int i = 1; i <= 10; ++i)
      for (const Layout& layout : {kNn, kTn}) {
        Gemm gemm = SomeGemm(64 * i);
        gemm.kind.layout = layout;
        pairs_.push_back({gemm, plan_});
      }
  }

  std::filesystem::path path() const { return folder_.path() / "journal"; }
  CertificateJournal Journal() const {
    Result<CertificateJournal> journal = CertificateJournal::Open(path());
    EXPECT_TRUE(journal.ok()) << journal.status().message();
    return *std::move(journal);
  }
  CertificationRound Certify(
      size_t gpus = 1, const std::function<bool()>& is_over = [] { return false; }) {
    while (judges_.size() < gpus) judges_.emplace_back().judge = [](const EvaluationRequest&) { return Verified(); };
    std::vector<Evaluator*> evaluators;
    for (FakeEvaluator& judge : judges_) evaluators.push_back(&judge);
    CertificateJournal journal = Journal();
    return CertifyAll(pairs_, journal, evaluators, compiler_, watch_, 7, *StopWhen(is_over, "over"),
                      [&](size_t begun, const Gemm&) { last_begun_ = begun; });
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("certification");
  const Plan plan_ = SomePlans(1)[0];
  std::vector<PlannedGemm> pairs_;
  std::list<FakeEvaluator> judges_;
  FakeCompiler compiler_;
  WatchCalls watch_;
  size_t last_begun_ = 0;
};

TEST_F(CertificationRoundTest, EachPairIsCertifiedOnceWhoeverAsksAgain) {
  CertificationRound round = Certify();
  EXPECT_TRUE(round.failure.ok());
  ASSERT_EQ(round.certificates.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(round.certificates[i].problem, Print(pairs_[i].gemm)) << "in their order";
  EXPECT_EQ(round.certificates[0].outcome, "verified");
  EXPECT_EQ(round.certificates[0].max_abs_error, 0.25);
  EXPECT_EQ(round.certificates[0].baseline_max_abs_error, 0.5);
  EXPECT_EQ(round.certificates[0].seed, 7u);
  EXPECT_FALSE(round.certificates[0].memchecked);
  for (const EvaluationRequest& request : judges_.front().requests) {
    EXPECT_TRUE(request.certify);
    EXPECT_FALSE(request.time);
  }
  round = Certify();
  EXPECT_EQ(round.found, 20u);
  EXPECT_TRUE(round.certificates.empty());
  EXPECT_EQ(judges_.front().requests.size(), 20u);

  watch_ = Each([](const Candidate&) { return Clean(); });
  round = Certify();
  EXPECT_EQ(round.found, 0u) << "none of them was watched";
  EXPECT_EQ(round.certificates.size(), 20u);
  EXPECT_TRUE(std::ranges::all_of(round.certificates, &Certificate::memchecked));
}

TEST_F(CertificationRoundTest, WhoFailsATestIsNotWatchedAndWhoIsCaughtByTheToolIsRefused) {
  judges_.emplace_back().judge = [this](const EvaluationRequest& request) {
    return request.gemm == pairs_[3].gemm ? WrongAt("correctness", "test binary: all are wrong") : Verified();
  };
  std::atomic<int> watched = 0;
  watch_ = Each([&](const Candidate& candidate) -> MemcheckResult {
    ++watched;
    EXPECT_NE(candidate.request.gemm, pairs_[3].gemm);
    if (candidate.request.gemm == pairs_[4].gemm) return std::optional(WrongAt("memcheck", "1 memory errors"));
    return Clean();
  });
  const CertificationRound round = Certify();
  EXPECT_EQ(watched, 19);
  ASSERT_EQ(round.certificates.size(), 20u);
  EXPECT_EQ(round.certificates[3].outcome, "wrong");
  EXPECT_EQ(round.certificates[3].reason, "test binary: all are wrong");
  EXPECT_EQ(round.certificates[4].outcome, "wrong");
  EXPECT_EQ(round.certificates[4].reason, "1 memory errors");
  EXPECT_EQ(round.certificates[4].max_abs_error, 0.25) << "its tests were passed";
  EXPECT_EQ(round.certificates[5].outcome, "verified");
  EXPECT_EQ(Journal().certificates().size(), 20u);
}

TEST_F(CertificationRoundTest, TheJudgeGoesOnWhileTheToolWatches) {
  std::promise<void> next_is_judged;
  judges_.emplace_back().judge = [&](const EvaluationRequest&) {
    if (judges_.front().requests.size() == 5) next_is_judged.set_value();
    return Verified();
  };
  std::mutex mutex;
  std::vector<size_t> together;
  watch_ = [&, later = next_is_judged.get_future().share()](size_t worker, std::span<const Candidate> candidates) {
    EXPECT_EQ(later.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    const std::lock_guard lock(mutex);
    together.push_back(candidates.size());
    return Each([](const Candidate&) { return Clean(); })(worker, candidates);
  };
  EXPECT_EQ(Certify().certificates.size(), 20u);
  EXPECT_EQ(std::accumulate(together.begin(), together.end(), size_t(0)), 20u);
  EXPECT_EQ(together.front(), 4u);
}

TEST_F(CertificationRoundTest, AProcessThatWasQuickIsFollowedByOneOfMoreKernels) {
  for (int i = 11; i <= 100; ++i) pairs_.push_back({SomeGemm(64 * i), plan_});
  std::mutex mutex;
  std::vector<size_t> together;
  watch_ = [&](size_t worker, std::span<const Candidate> candidates) {
    const std::lock_guard lock(mutex);
    together.push_back(candidates.size());
    return Each([](const Candidate&) { return Clean(); })(worker, candidates);
  };
  EXPECT_EQ(Certify().certificates.size(), 110u);
  EXPECT_EQ(together.front(), 4u);
  EXPECT_EQ(std::ranges::max(together), 16u);
}

TEST_F(CertificationRoundTest, EveryGpuTakesItsShareAndIsWatchedOnItsOwn) {
  std::mutex mutex;
  std::set<size_t> workers;
  watch_ = [&](size_t worker, std::span<const Candidate> candidates) {
    const std::lock_guard lock(mutex);
    workers.insert(worker);
    return Each([](const Candidate&) { return Clean(); })(worker, candidates);
  };
  std::latch both_began(2);
  for (int worker = 0; worker < 2; ++worker)
    judges_.emplace_back().judge = [&both_began, is_first = true](const EvaluationRequest&) mutable {
      if (std::exchange(is_first, false)) both_began.arrive_and_wait();
      return Verified();
    };
  const CertificationRound round = Certify(2);
  EXPECT_EQ(round.certificates.size(), 20u);
  EXPECT_EQ(workers, (std::set<size_t>{0, 1}));
  for (const FakeEvaluator& judge : judges_) {
    const auto& requests = judge.requests;
    for (size_t i = 0; i + 1 < requests.size(); i += 2)
      EXPECT_EQ(requests[i].gemm.shape, requests[i + 1].gemm.shape) << "both layouts in one session";
  }
}

TEST_F(CertificationRoundTest, WhatCouldNotBeJudgedIsNotWrittenAndTwoShapesInARowEndIt) {
  judges_.emplace_back().judge = [this](const EvaluationRequest& request) -> Result<Outcome> {
    const auto k = request.gemm.shape.k;
    if (k == 128 || k >= 256) return Unavailable("no memory for it");
    return Verified();
  };
  const CertificationRound round = Certify();
  EXPECT_EQ(round.failure.message(), "no memory for it");
  EXPECT_EQ(round.certificates.size(), 4u);
  EXPECT_EQ(round.failures.size(), 6u);
  EXPECT_EQ(round.left, 10u);
  EXPECT_EQ(Journal().certificates().size(), 4u);
}

TEST_F(CertificationRoundTest, AToolThatDoesNotWorkCertifiesNothingAndEndsIt) {
  watch_ = Each([](const Candidate&) -> MemcheckResult { return IoError("no summary"); });
  const CertificationRound round = Certify();
  EXPECT_EQ(round.failure.message(), "no summary");
  EXPECT_TRUE(round.certificates.empty());
  EXPECT_GT(round.left + round.failures.size(), 0u);
  EXPECT_TRUE(Journal().certificates().empty());
}

TEST_F(CertificationRoundTest, AToolThatDoesNotWorkEndsAListThatIsShorterThanWhatItWatchesAtOnce) {
  pairs_.resize(4);
  watch_ = Each([](const Candidate&) -> MemcheckResult { return IoError("no summary"); });
  const CertificationRound round = Certify();
  EXPECT_EQ(round.failure.message(), "no summary");
  EXPECT_EQ(round.failures.size(), 4u);
}

TEST_F(CertificationRoundTest, OneShapeThatTheToolCannotDoIsLeftOutWheneverThatIsFound) {
  watch_ = Each([this](const Candidate& candidate) -> MemcheckResult {
    if (candidate.request.gemm.shape == pairs_[0].gemm.shape) return IoError("took too long");
    return Clean();
  });
  const CertificationRound round = Certify();
  EXPECT_TRUE(round.failure.ok()) << round.failure.message();
  EXPECT_EQ(round.failures.size(), 2u);
  EXPECT_EQ(round.certificates.size(), 18u);
}

TEST_F(CertificationRoundTest, APairThatIsThereTwiceIsJudgedOnce) {
  pairs_.push_back(pairs_[5]);
  pairs_.insert(pairs_.begin(), pairs_[0]);
  const CertificationRound round = Certify();
  EXPECT_EQ(round.certificates.size(), 20u);
  EXPECT_EQ(round.found, 2u);
  EXPECT_EQ(judges_.front().requests.size(), 20u);
}

TEST_F(CertificationRoundTest, WhenItIsOverWhatIsWatchedIsStillWrittenAndTheSameCallGoesOn) {
  watch_ = Each([](const Candidate&) { return Clean(); });
  int asked = 0;
  CertificationRound round = Certify(1, [&] { return ++asked > 3; });
  EXPECT_EQ(round.certificates.size(), 6u);
  EXPECT_EQ(round.left, 14u);
  EXPECT_EQ(Journal().certificates().size(), 6u);
  EXPECT_EQ(last_begun_, 5u);
  round = Certify();
  EXPECT_EQ(last_begun_, 19u) << "of all, not of those that were left";
  EXPECT_EQ(round.found, 6u);
  EXPECT_EQ(round.certificates.size(), 14u);
}

TEST_F(CertificationRoundTest, AnIllegalPlanIsRefusedWithoutTheJudge) {
  pairs_[0].plan = *ParsePlan("wgmma");
  pairs_[0].gemm.shape.k = 63;
  ASSERT_FALSE(IsLegal(pairs_[0].plan, pairs_[0].gemm, SomeDevice()));
  const CertificationRound round = Certify();
  ASSERT_EQ(round.certificates.size(), 20u);
  EXPECT_EQ(round.certificates[0].outcome, "illegal");
  EXPECT_EQ(judges_.front().requests.size(), 19u);
}

}  // namespace
}  // namespace gemmsmith
