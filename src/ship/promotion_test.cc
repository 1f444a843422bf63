#include "ship/promotion_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <map>

#include "campaign/fakes.h"
#include "program/space.h"
#include "ship/challengers.h"
#include "ship/example_races.h"

namespace gemmsmith {
namespace {

class PromoterTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Create("promotion");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(*std::move(folder));
    evaluator_.judge = [this](const EvaluationRequest& request) { return outcomes_.at(request.plan()); };
  }

  std::filesystem::path path() const { return folder_->path() / "h200.catalogue"; }
  Promotion Promote(const Plan& plan) { return Promote(std::vector<Plan>{plan}); }
  Promotion Promote(const std::vector<Plan>& challengers) {
    const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
    Promoter promoter(*catalogue, evaluator_, compiler_, archive_.get(), campaign_);
    const Result<Promotion> promotion = promoter.Promote(std::vector<Challenge>{{SomeGemm(), challengers}})[0];
    EXPECT_TRUE(promotion.ok()) << promotion.status().message();
    return promotion.ok() ? *promotion : Promotion{};
  }
  std::unique_ptr<CatalogueOnDisk> Opened() const {
    Result<std::unique_ptr<CatalogueOnDisk>> catalogue = CatalogueOnDisk::Open(path(), evaluator_.device().key);
    EXPECT_TRUE(catalogue.ok()) << catalogue.status().message();
    return *std::move(catalogue);
  }
  // What is on the disk.
  std::optional<Entry> Standing() const {
    const Result<Catalogue> catalogue = Catalogue::Read(path());
    const Entry* const entry = catalogue.ok() ? catalogue->Find(SomeGemm()) : nullptr;
    return entry == nullptr ? std::nullopt : std::optional(*entry);
  }

  const std::vector<Plan> plans_ = SomePlans(7);
  const Plan first_ = plans_[0], second_ = plans_[1], third_ = plans_[2];
  std::map<Plan, Outcome> outcomes_;
  FakeEvaluator evaluator_;
  FakeCompiler compiler_;
  std::optional<TemporaryFolder> folder_;
  std::unique_ptr<Archive> archive_;
  std::string campaign_ = "promotion";
};

TEST_F(PromoterTest, TheFirstThatPassesEnters) {
  outcomes_[first_] = RacedIn(1000);
  const Promotion promotion = Promote(first_);
  EXPECT_EQ(promotion.kind, PromotionKind::kEntered);
  EXPECT_EQ(promotion.reason, "+100.0 % over AutoTuning");
  const std::optional<Entry> entry = Standing();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->plan, first_);
  EXPECT_EQ(entry->proof, Proof::kTested);
  ASSERT_EQ(entry->times.size(), 2u);
  EXPECT_DOUBLE_EQ(entry->times[0].speed_up, 2) << "over the faster of the two";
  EXPECT_EQ(entry->times[1].mode, "offline");
}

TEST_F(PromoterTest, OneThatFailsItsTestsDoesNotEnter) {
  outcomes_[first_] = Wrong();
  const Promotion promotion = Promote(first_);
  EXPECT_EQ(promotion.kind, PromotionKind::kRefused);
  EXPECT_EQ(promotion.reason, "wrong: test binary: 3 of 9 elements are wrong");
  EXPECT_FALSE(Standing());
}

TEST_F(PromoterTest, TheStandingOneGoesOnlyForOneThatIsFasterBeyondTheNoise) {
  outcomes_[first_] = RacedIn(1000);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  outcomes_[second_] = RacedIn(995);
  Promotion promotion = Promote(second_);
  EXPECT_EQ(promotion.kind, PromotionKind::kStands);
  EXPECT_EQ(promotion.reason, "+0.5 % over the standing one, no more than noise");
  EXPECT_EQ(Standing()->plan, first_);
  outcomes_[second_] = RacedIn(900);
  promotion = Promote(second_);
  EXPECT_EQ(promotion.kind, PromotionKind::kReplaced);
  EXPECT_EQ(Standing()->plan, second_);
  EXPECT_DOUBLE_EQ(Standing()->times[0].ns, 900);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{1, 2, 2})) << "both in one race";
}

TEST_F(PromoterTest, WhoStandsAlreadyIsNotMeasuredAgain) {
  outcomes_[first_] = RacedIn(1000);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  const Promotion promotion = Promote(first_);
  EXPECT_EQ(promotion.kind, PromotionKind::kStands);
  EXPECT_EQ(promotion.plan, first_);
  EXPECT_EQ(evaluator_.exchanges.size(), 1u);
}

TEST_F(PromoterTest, AStandingOneThatNoLongerPassesGoes) {
  outcomes_[first_] = RacedIn(1000);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  outcomes_[first_] = Wrong();
  outcomes_[second_] = RacedIn(3000);
  EXPECT_EQ(Promote(second_).kind, PromotionKind::kReplaced) << "slower, but right";
  outcomes_[second_] = Wrong();
  EXPECT_EQ(Promote(first_).kind, PromotionKind::kWithdrawn);
  EXPECT_FALSE(Standing());
}

TEST_F(PromoterTest, WithoutAutoTuningNothingCanBeSaid) {
  outcomes_[first_] = RacedIn(1000);
  outcomes_[first_].comparisons.clear();
  const Promotion promotion = Promote(first_);
  EXPECT_EQ(promotion.kind, PromotionKind::kRefused);
  EXPECT_EQ(promotion.reason, "AutoTuning did not race beside it");
}

TEST_F(PromoterTest, WhoseTimesHaveNoIntervalDoesNotEnterAndOtherModesAreLeftOut) {
  outcomes_[first_] = RacedIn(1000);
  outcomes_[first_].timings[0].interval = {};
  EXPECT_EQ(Promote(first_).reason, "its times beside AutoTuning have no interval");
  EXPECT_FALSE(Standing());
  outcomes_[first_] = RacedIn(1000);
  for (Comparison& comparison : outcomes_[first_].comparisons)
    if (comparison.clock == Clock::kOffline) comparison.ratio.interval.low = -0.1;
  EXPECT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  EXPECT_EQ(Standing()->times.size(), 1u);
}

TEST_F(PromoterTest, TheFastestOfTheChallengersIsDecidedOnByTheirRace) {
  outcomes_[first_] = RacedIn(1000);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  outcomes_[second_] = RacedIn(900);
  outcomes_[third_] = RacedIn(800);
  const Promotion promotion = Promote({second_, first_, third_});
  EXPECT_EQ(promotion.kind, PromotionKind::kReplaced);
  EXPECT_EQ(promotion.plan, third_);
  EXPECT_EQ(promotion.reason, "+25.0 % over the standing one");
  EXPECT_EQ(Standing()->plan, third_);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{1, 3})) << "all in one race, the standing one once";
}

TEST_F(PromoterTest, NobodySpeaksOfThoseThatFailWhereAnotherWins) {
  outcomes_[first_] = Wrong();
  outcomes_[second_] = RacedIn(1000);
  const Promotion promotion = Promote({first_, second_});
  EXPECT_EQ(promotion.kind, PromotionKind::kEntered);
  EXPECT_EQ(promotion.plan, second_);
  EXPECT_EQ(promotion.reason, "+100.0 % over AutoTuning");
}

TEST_F(PromoterTest, WhereAllFailTheFirstSaysWhy) {
  outcomes_[first_] = RacedIn(1000);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  outcomes_[second_] = outcomes_[third_] = Wrong();
  outcomes_[third_].reason = "another";
  Promotion promotion = Promote({second_, third_});
  EXPECT_EQ(promotion.kind, PromotionKind::kRefused);
  EXPECT_EQ(promotion.plan, second_);
  EXPECT_EQ(promotion.reason, "wrong: test binary: 3 of 9 elements are wrong");
  EXPECT_EQ(Standing()->plan, first_);
  outcomes_[first_] = Wrong();
  promotion = Promote({third_, second_});
  EXPECT_EQ(promotion.kind, PromotionKind::kWithdrawn);
  EXPECT_EQ(promotion.plan, third_);
  EXPECT_TRUE(promotion.reason.starts_with("wrong: another; the standing one wrong: ")) << promotion.reason;
}

TEST_F(PromoterTest, NoMoreRaceThanTheRaceHoldsBesideTheStandingOne) {
  for (const Plan& plan : plans_) outcomes_[plan] = RacedIn(1000);
  outcomes_[plans_.back()] = RacedIn(100);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  EXPECT_EQ(Promote(plans_).kind, PromotionKind::kStands);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{1, kMaxChallengers + 1}));
  EXPECT_EQ(evaluator_.requests[kMaxChallengers].plan(), plans_[kMaxChallengers])
      << "the standing one takes no challenger's place";
}

TEST_F(PromoterTest, WhatRacedElsewhereIsDecidedOnceAndNeverAgainstAnEntryThatDidNotRace) {
  const auto trial = [](const Plan& plan, double time_ns) {
    Trial made{.gemm = SomeGemm(), .subject = plan};
    made.outcome = RacedIn(time_ns);
    return made;
  };
  const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
  EXPECT_EQ(DecideInCatalogue(*catalogue, SomeGemm(), {})->kind, PromotionKind::kRefused);
  const std::vector<Trial> race = {trial(first_, 1000), trial(second_, 800)};
  EXPECT_EQ(DecideInCatalogue(*catalogue, SomeGemm(), race)->kind, PromotionKind::kEntered);
  EXPECT_EQ(Standing()->plan, second_);
  EXPECT_EQ(DecideInCatalogue(*catalogue, SomeGemm(), race)->kind, PromotionKind::kStands);
  const std::vector<Trial> without_it = {trial(first_, 500), trial(third_, 400)};
  const Result<Promotion> elsewhere = DecideInCatalogue(*catalogue, SomeGemm(), without_it);
  EXPECT_EQ(elsewhere->kind, PromotionKind::kStands);
  EXPECT_EQ(elsewhere->reason, "it did not race with these; gemmsmith promote races them");
  EXPECT_EQ(Standing()->plan, second_);
  const std::vector<Trial> faster = {trial(second_, 800), trial(third_, 400)};
  EXPECT_EQ(DecideInCatalogue(*catalogue, SomeGemm(), faster)->kind, PromotionKind::kReplaced);
  EXPECT_EQ(DecideInCatalogue(*catalogue, SomeGemm(), faster)->kind, PromotionKind::kStands);
  EXPECT_EQ(Standing()->plan, third_);
}

TEST_F(PromoterTest, RacesOnTheRingAndTimesSingleCallsOfTheFastestAlone) {
  outcomes_[first_] = RacedIn(1000);
  ASSERT_EQ(Promote(first_).kind, PromotionKind::kEntered);
  const EvaluationRequest& request = evaluator_.requests.at(0);
  EXPECT_EQ(request.clocks, (ClockSet{Clock::kDeviceCold, Clock::kOffline, Clock::kServer}));
  EXPECT_TRUE(request.calls_of_fastest);
  EXPECT_EQ(Standing()->times.front().mode, "device_cold");
}

TEST_F(PromoterTest, WhatIsExpectedIsCompiledWhileOthersRace) {
  for (const Plan& plan : plans_) outcomes_[plan] = RacedIn(1000);
  std::promise<void> all_are_compiled;
  compiler_.before = [&](const Source&) {
    if (compiler_.calls == 3) all_are_compiled.set_value();
    return OkStatus();
  };
  evaluator_.on_exchange = [compiled = all_are_compiled.get_future().share()](std::span<const Candidate>) {
    EXPECT_EQ(compiled.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "in the first race already";
  };
  const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
  Promoter promoter(*catalogue, evaluator_, compiler_, nullptr, "promotion");
  const std::vector<Challenge> small = {{SomeGemm(256), {first_}}}, large = {{SomeGemm(512), {second_, third_}}};
  promoter.Expect(small);
  promoter.Expect(large);
  EXPECT_EQ(promoter.Promote(small)[0]->kind, PromotionKind::kEntered);
  EXPECT_EQ(promoter.Promote(large)[0]->kind, PromotionKind::kEntered);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(evaluator_.requests.at(1).plan(), second_) << "in the order in which they challenge";
}

TEST_F(PromoterTest, WhereTheCompilerFailsTheNextIsPromotedAllTheSame) {
  outcomes_[first_] = outcomes_[second_] = RacedIn(1000);
  compiler_.before = [&](const Source&) { return compiler_.calls <= 2 ? Unavailable("the disk is full") : OkStatus(); };
  const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
  Promoter promoter(*catalogue, evaluator_, compiler_, nullptr, "promotion");
  const std::vector<Challenge> small = {{SomeGemm(256), {first_, second_}}},
                               large = {{SomeGemm(512), {second_, first_}}};
  EXPECT_EQ(promoter.Promote(small)[0].status().message(), "the disk is full");
  EXPECT_EQ(promoter.Promote(large)[0]->plan, second_);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{2}));
}

TEST_F(PromoterTest, BothLayoutsOfAProblemRaceTogetherAndEachHasAnEntryOfItsOwn) {
  Gemm nn = SomeGemm(), tn = SomeGemm();
  nn.kind.layout = kNn, tn.kind.layout = kTn;
  evaluator_.judge = [&](const EvaluationRequest& request) {
    const bool is_fast = (request.plan() == first_) == (request.gemm == nn);
    return RacedIn(is_fast ? 800 : 1000);
  };
  const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
  Promoter promoter(*catalogue, evaluator_, compiler_, nullptr, "promotion");
  const std::vector<Challenge> layouts = {{nn, {first_, second_}}, {tn, {first_, second_}}};
  std::vector<Result<Promotion>> promotions = promoter.Promote(layouts);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{4}));
  EXPECT_EQ(promotions.at(0)->plan, first_);
  EXPECT_EQ(promotions.at(1)->plan, second_);
  EXPECT_EQ(catalogue->Find(nn)->plan, first_);
  EXPECT_EQ(catalogue->Find(tn)->plan, second_);
  // The one has no other challenger; of the other the standing one races too.
  promotions = promoter.Promote(std::vector<Challenge>{{nn, {first_}}, {tn, {first_, second_, third_}}});
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{4, 3}));
  EXPECT_EQ(promotions.at(0)->reason, "it is the entry already");
  EXPECT_EQ(promotions.at(1)->kind, PromotionKind::kStands);
}

// A plan's time in an old campaign on a cool GPU, and the race in which it is slower.
TEST_F(PromoterTest, TheFastestTimeOfAnOldCampaignLosesTheRaceToTheLaterCampaignsWinner) {
  Result<std::unique_ptr<Archive>> archive = Archive::Open(folder_->path() / "archive.sqlite");
  ASSERT_TRUE(archive.ok());
  archive_ = *std::move(archive);
  const auto challengers = [&] {
    Challengers found;
    EXPECT_TRUE(archive_->ForEach({}, [&](const Trial& trial) { found.Add(trial); }).ok());
    return found.All().at(0).plans;
  };
  Trial old{.gemm = SomeGemm(), .subject = first_, .outcome = RacedIn(900), .unix_ms = 1, .campaign = "old"};
  Trial later{.gemm = SomeGemm(), .subject = second_, .outcome = RacedIn(1000), .unix_ms = 2, .campaign = "later"};
  ASSERT_TRUE(archive_->Add(old).ok());
  ASSERT_TRUE(archive_->Add(later).ok());
  EXPECT_EQ(challengers(), (std::vector<Plan>{second_, first_}));

  outcomes_[first_] = RacedIn(1050);
  outcomes_[second_] = RacedIn(1000);
  Promotion promotion = Promote(challengers());
  EXPECT_EQ(promotion.kind, PromotionKind::kEntered);
  EXPECT_EQ(promotion.plan, second_);
  EXPECT_EQ(evaluator_.exchanges, (std::vector<size_t>{2}));

  campaign_ = "promotion again";
  promotion = Promote(challengers());
  EXPECT_EQ(promotion.reason, "it is the entry already") << "that race is in the archive, too";
  EXPECT_EQ(evaluator_.exchanges.size(), 1u);
}

TEST_F(PromoterTest, TwoDoNotWriteOneCatalogueAndAnotherDevicesIsLeftAlone) {
  const std::unique_ptr<CatalogueOnDisk> one = Opened();
  EXPECT_EQ(CatalogueOnDisk::Open(path(), "h200").status().code(), StatusCode::kUnavailable);
  const auto other = folder_->path() / "other.catalogue";
  ASSERT_TRUE(WriteFileAtomic(other, "gemmsmith-catalogue 1 another\n").ok());
  EXPECT_EQ(CatalogueOnDisk::Open(other, "h200").status().code(), StatusCode::kInvalidArgument);
}

// Problems of several sizes, on this many GPUs.
class PromotionRoundTest : public PromoterTest {
 protected:
  PromotionRound PromoteOn(
      size_t gpus, int problems, const std::function<bool()>& is_over = [] { return false; }) {
    std::vector<Challenge> challenges;
    for (int i = 1; i <= problems; ++i) challenges.push_back({SomeGemm(64 * i), {first_, second_}});
    std::vector<Evaluator*> evaluators;
    while (judges_.size() < gpus) judges_.emplace_back().judge = evaluator_.judge;
    for (FakeEvaluator& judge : judges_) evaluators.push_back(&judge);
    const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
    return PromoteAll(challenges, *catalogue, evaluators, compiler_, nullptr, "promotion", *StopWhen(is_over, "over"),
                      [&](size_t begun, const Gemm&) { begun_.push_back(begun); });
  }

  std::list<FakeEvaluator> judges_;
  std::vector<size_t> begun_;
};

TEST_F(PromotionRoundTest, EveryGpuTakesItsShareAndAllEnterOneCatalogue) {
  outcomes_[first_] = RacedIn(1000), outcomes_[second_] = RacedIn(900);
  const PromotionRound round = PromoteOn(3, 20);
  EXPECT_TRUE(round.failure.ok());
  ASSERT_EQ(round.promotions.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(round.promotions[i].first, SomeGemm(64 * int(i + 1))) << "in the order of the challenges";
    EXPECT_EQ(round.promotions[i].second.plan, second_);
  }
  EXPECT_EQ(Catalogue::Read(path())->entries().size(), 20u);
  size_t exchanges = 0;
  for (const FakeEvaluator& judge : judges_) exchanges += judge.exchanges.size();
  EXPECT_EQ(exchanges, 20u);
  EXPECT_EQ(begun_.size(), 20u);
  EXPECT_TRUE(std::ranges::is_sorted(begun_));
}

TEST_F(PromotionRoundTest, AGpuThatIsLostLeavesTheRestToTheOthers) {
  outcomes_[first_] = outcomes_[second_] = RacedIn(1000);
  std::promise<void> is_lost;
  judges_.emplace_back().judge = [&, lost = is_lost.get_future().share()](const EvaluationRequest& request) {
    lost.wait();
    return evaluator_.judge(request);
  };
  judges_.emplace_back().judge = [&](const EvaluationRequest&) -> Result<Outcome> {
    if (judges_.back().requests.size() == 4) is_lost.set_value();  // the last of two for the second problem
    return Unavailable("the GPU is gone");
  };
  const PromotionRound round = PromoteOn(2, 30);
  EXPECT_EQ(round.failure.message(), "the GPU is gone");
  EXPECT_EQ(round.failures.size(), 2u);
  EXPECT_EQ(round.promotions.size(), 28u);
  EXPECT_EQ(round.left, 0u);
  EXPECT_EQ(Catalogue::Read(path())->entries().size(), 28u);
}

TEST_F(PromotionRoundTest, OneShapeThatIsTooLargeEndsNothing) {
  outcomes_[first_] = outcomes_[second_] = RacedIn(1000);
  std::vector<Challenge> challenges;
  for (int i = 1; i <= 4; ++i)
    for (const Layout& layout : {kNn, kTn}) {
      Gemm gemm = SomeGemm(64 * i);
      gemm.kind.layout = layout;
      challenges.push_back({gemm, {first_}});
    }
  FakeEvaluator judge;
  judge.judge = [&](const EvaluationRequest& request) -> Result<Outcome> {
    if (request.gemm.shape == SomeGemm(128).shape) return Unavailable("too large");
    return evaluator_.judge(request);
  };
  Evaluator* const judges[] = {&judge};
  const std::unique_ptr<CatalogueOnDisk> catalogue = Opened();
  const PromotionRound round = PromoteAll(challenges, *catalogue, judges, compiler_, nullptr, "promotion",
                                          *StopOnAny({}), [](size_t, const Gemm&) {});
  EXPECT_TRUE(round.failure.ok());
  EXPECT_EQ(round.promotions.size(), 6u);
  EXPECT_EQ(round.failures.size(), 2u);
  EXPECT_EQ(judge.exchanges, (std::vector<size_t>{2, 2, 2, 2})) << "both layouts of a shape together";
}

TEST_F(PromotionRoundTest, WhenItIsOverTheRestIsLeft) {
  outcomes_[first_] = outcomes_[second_] = RacedIn(1000);
  std::atomic<int> asked = 0;
  const PromotionRound round = PromoteOn(2, 10, [&] { return ++asked > 4; });
  EXPECT_TRUE(round.failure.ok());
  EXPECT_EQ(round.promotions.size(), 4u);
  EXPECT_EQ(round.left, 6u);
}

}  // namespace
}  // namespace gemmsmith
