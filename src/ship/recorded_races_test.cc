#include "ship/recorded_races.h"

#include <gtest/gtest.h>

#include "ship/example_races.h"

namespace gemmsmith {
namespace {

constexpr int64_t kOneSecond = 1000, kDay = 86'400 * kOneSecond;
constexpr int64_t kNoon = 20'000 * kDay + kDay / 2;  // of 4 October 2024

class RecordedRaces : public testing::Test {
 protected:
  void Race(int64_t unix_ms, const Plan& plan, double time_ns, const Gemm& gemm = SomeGemm()) {
    Add(unix_ms, plan, RacedIn(time_ns), gemm);
  }
  void Add(int64_t unix_ms, const Plan& plan, const Outcome& outcome, const Gemm& gemm = SomeGemm()) {
    trials_.push_back({.gemm = gemm, .subject = plan, .outcome = outcome, .unix_ms = unix_ms});
    trials_.back().campaign = "bench";
    trials_.back().setting.device_key = "h200";
  }
  RecordedDecisions Decisions() {
    Result<RecordedDecisions> decisions = DecideByRecords(*catalogue_, trials_);
    EXPECT_TRUE(decisions.ok()) << decisions.status().message();
    return decisions.ok() ? *std::move(decisions) : RecordedDecisions{};
  }
  // Of SomeGemm().
  Promotion Decided() {
    for (const auto& [gemm, promotion] : Decisions().round.promotions)
      if (gemm == SomeGemm()) return promotion;
    return {.reason = "nothing was decided"};
  }
  // As if by the races of this time, and proven further since.
  void Enter(int64_t unix_ms, const Plan& plan) {
    Result<Entry> entry = EntryOf({.gemm = SomeGemm(), .subject = plan, .outcome = RacedIn(1000), .unix_ms = unix_ms});
    ASSERT_TRUE(entry.ok());
    entry->proof = Proof::kMemchecked;
    ASSERT_TRUE(catalogue_->Put(*std::move(entry)).ok());
  }
  Plan Standing() const { return catalogue_->Find(SomeGemm())->plan; }
  std::string Bytes() const { return *ReadFile(folder_.path() / "h200.catalogue"); }

  const std::vector<Plan> plans_ = SomePlans(3);
  const Plan first_ = plans_[0], second_ = plans_[1], third_ = plans_[2];
  std::vector<Trial> trials_;
  const TemporaryFolder folder_ = *TemporaryFolder::Create("recorded_races");
  const std::unique_ptr<CatalogueOnDisk> catalogue_ = *CatalogueOnDisk::Open(folder_.path() / "h200.catalogue", "h200");
};

TEST_F(RecordedRaces, DecideOneByOneTheEarliestFirstAndOnceMoreChangeNothing) {
  Race(kNoon + kOneSecond, third_, 700), Race(kNoon + kOneSecond, second_, 800);
  Race(kNoon, second_, 800), Race(kNoon, first_, 1000);
  const Promotion decided = Decided();
  EXPECT_EQ(decided.kind, PromotionKind::kEntered) << "the second, in whose place the third has come since";
  EXPECT_EQ(decided.plan, third_);
  EXPECT_EQ(catalogue_->Find(SomeGemm())->times[0].ns, 700);
  EXPECT_EQ(catalogue_->Find(SomeGemm())->date, "2024-10-04T12:00:01.000Z");
  const std::string bytes = Bytes();
  const RecordedDecisions again = Decisions();
  EXPECT_TRUE(again.round.promotions.empty());
  EXPECT_EQ(again.races, 2u);
  EXPECT_EQ(again.known, 2u);
  EXPECT_EQ(Bytes(), bytes);
}

TEST_F(RecordedRaces, WhatWasStoredAMillisecondApartIsOneRaceAndASecondApartAreTwo) {
  Race(kNoon, first_, 1000), Race(kNoon + 1, second_, 500);
  EXPECT_EQ(Decided().plan, second_);
  trials_.clear();
  Race(kNoon + kOneSecond, second_, 500);
  Race(kNoon + 2 * kOneSecond, third_, 100);
  const RecordedDecisions decisions = Decisions();
  EXPECT_EQ(decisions.without_entry, 1u);
  EXPECT_EQ(Standing(), second_) << "with which the third did not race";
}

TEST_F(RecordedRaces, OfTwoCampaignsOrProtocolsAtOneTimeAreTwo) {
  Enter(kNoon, first_);
  Race(kNoon + kOneSecond, first_, 1000);
  Race(kNoon + kOneSecond, second_, 500), trials_.back().campaign = "another";
  Race(kNoon + kOneSecond, third_, 500), trials_.back().outcome.protocol = Protocol::kLong;
  EXPECT_EQ(Decisions().without_entry, 2u);
  EXPECT_EQ(Standing(), first_);
}

TEST_F(RecordedRaces, OfOneTimeButTwoProblemsDecideEachOnItsOwn) {
  Race(kNoon, first_, 1000), Race(kNoon, second_, 500, SomeGemm(256));
  EXPECT_EQ(Decisions().round.promotions.size(), 2u);
  EXPECT_EQ(Standing(), first_);
  EXPECT_EQ(catalogue_->Find(SomeGemm(256))->plan, second_);
}

TEST_F(RecordedRaces, NotLaterThanTheEntrysOwnSayNothing) {
  Enter(kNoon, first_);
  Race(kNoon - kOneSecond, first_, 1000), Race(kNoon - kOneSecond, second_, 500);
  Race(kNoon, first_, 1000), Race(kNoon, second_, 500);
  const RecordedDecisions decisions = Decisions();
  EXPECT_TRUE(decisions.round.promotions.empty());
  EXPECT_EQ(decisions.known, 2u);
  EXPECT_EQ(Standing(), first_);
}

TEST_F(RecordedRaces, WhereAnEntryNamesTheDayAloneThoseOfThatDayDoNotCount) {
  Enter(kNoon, first_);
  Entry entry = *catalogue_->Find(SomeGemm());
  entry.date = "2024-10-04";
  ASSERT_TRUE(catalogue_->Put(entry).ok());
  Race(kNoon + kOneSecond, first_, 1000), Race(kNoon + kOneSecond, third_, 500);
  EXPECT_EQ(Decisions().known, 1u);
  EXPECT_EQ(Standing(), first_);
  Race(kNoon + kDay, first_, 1000), Race(kNoon + kDay, second_, 500);
  EXPECT_EQ(Decided().plan, second_);
}

TEST_F(RecordedRaces, AnEntryThatIsReplacedAndComesBackStandsAsItWas) {
  Enter(kNoon, first_);
  Race(kNoon + kOneSecond, first_, 1000), Race(kNoon + kOneSecond, second_, 800);
  Race(kNoon + 2 * kOneSecond, first_, 800), Race(kNoon + 2 * kOneSecond, second_, 1000);
  const std::string bytes = Bytes();
  const Promotion decided = Decided();
  EXPECT_EQ(decided.kind, PromotionKind::kStands);
  EXPECT_EQ(decided.reason, "another took its place, and lost it again");
  EXPECT_EQ(Bytes(), bytes) << "memchecked, as before";
}

TEST_F(RecordedRaces, OfAnotherDeviceOrNotThoroughOrNotTimedAreNone) {
  Race(kNoon, first_, 1000), trials_.back().setting.device_key = "h100";
  Race(kNoon, second_, 1000), trials_.back().outcome.protocol = Protocol::kScreen;
  Race(kNoon, second_, 1000), trials_.back().outcome.protocol = Protocol::kHeat;
  Race(kNoon, third_, 1000), trials_.back().outcome.kind = OutcomeKind::kVerified;
  EXPECT_EQ(Decisions().races, 0u);
  EXPECT_EQ(catalogue_->size(), 0u);
}

TEST_F(RecordedRaces, WhoFailsThereDoesNotEnterAndAnEntryThatFailsGoes) {
  Enter(kNoon, first_);
  Race(kNoon + kOneSecond, first_, 1000), Add(kNoon + kOneSecond, second_, Wrong());
  EXPECT_EQ(Decided().kind, PromotionKind::kRefused);
  EXPECT_EQ(Standing(), first_);
  trials_.clear();
  Add(kNoon + kOneSecond, first_, Wrong()), Race(kNoon + kOneSecond, second_, 1500);
  EXPECT_EQ(Decided().kind, PromotionKind::kReplaced) << "slower, but right";
  EXPECT_EQ(Standing(), second_);
  trials_.clear();
  Add(kNoon + 2 * kOneSecond, second_, Wrong());
  const Promotion withdrawn = Decided();
  EXPECT_EQ(withdrawn.kind, PromotionKind::kWithdrawn) << "though it was alone there";
  EXPECT_EQ(withdrawn.reason, "wrong: test binary: 3 of 9 elements are wrong");
  EXPECT_EQ(catalogue_->size(), 0u);
}

TEST_F(RecordedRaces, AnEntryThatFailedAndPassesAgainEntersAnew) {
  Enter(kNoon, first_);
  Add(kNoon + kOneSecond, first_, Wrong()), Race(kNoon + kOneSecond, second_, 1500);
  Race(kNoon + 2 * kOneSecond, first_, 1000), Race(kNoon + 2 * kOneSecond, second_, 1500);
  const Promotion decided = Decided();
  EXPECT_EQ(decided.kind, PromotionKind::kReplaced);
  EXPECT_EQ(decided.plan, first_);
  EXPECT_EQ(decided.reason, "+50.0 % over the standing one; it had failed before that race");
  EXPECT_EQ(catalogue_->Find(SomeGemm())->proof, Proof::kTested);
  EXPECT_TRUE(Decisions().round.promotions.empty());
}

TEST_F(RecordedRaces, WhoFailsInALaterRaceDoesNotEnterByAnEarlierOne) {
  Race(kNoon, first_, 500), Race(kNoon, second_, 1000);
  Add(kNoon + kOneSecond, first_, Wrong());
  EXPECT_EQ(Decided().plan, second_);
  EXPECT_EQ(Standing(), second_);
  EXPECT_EQ(Decided().reason, "nothing was decided");
}

TEST_F(RecordedRaces, WhoIsIllegalTodayHasFailed) {
  Gemm ragged = SomeGemm();
  ragged.shape = {63, 65, 66};
  const Plan copies = *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1");
  Race(kNoon, copies, 1000, ragged);
  const RecordedDecisions decisions = Decisions();
  ASSERT_EQ(decisions.round.promotions.size(), 1u);
  EXPECT_EQ(decisions.round.promotions[0].second.kind, PromotionKind::kRefused);
  EXPECT_EQ(decisions.round.promotions[0].second.reason.substr(0, 9), "illegal: ");
  EXPECT_EQ(catalogue_->size(), 0u);
}

TEST_F(RecordedRaces, AnEntryThatCouldNotBeReadAgainChangesNothing) {
  Enter(kNoon, first_);
  const std::string bytes = Bytes();
  Race(kNoon + kOneSecond, first_, 1000), Race(kNoon + kOneSecond, second_, 500);
  Race(kNoon, third_, 4e8, SomeGemm(256));
  const Status status = DecideByRecords(*catalogue_, trials_).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("could not be read again"), std::string::npos) << status.message();
  EXPECT_EQ(Bytes(), bytes);
  EXPECT_EQ(Standing(), first_);
}

TEST_F(RecordedRaces, ModesThatNoRaceOfTheNewOneWasTimedOnAreNamed) {
  Enter(kNoon, first_);
  Race(kNoon + kOneSecond, first_, 1000);
  Outcome device_alone = RacedIn(500);
  std::erase_if(device_alone.comparisons, [](const Comparison& one) { return one.clock == Clock::kOffline; });
  Add(kNoon + kOneSecond, second_, device_alone);
  EXPECT_EQ(Decided().reason, "+100.0 % over the standing one; its race was not timed on offline");
}

TEST_F(RecordedRaces, OfRepeatedCallsDecideNothingOnAnEntryOfTheRing) {
  Enter(kNoon, first_);
  Add(kNoon + kOneSecond, first_, OfRepeatedCalls(RacedIn(1000)));
  Add(kNoon + kOneSecond, second_, OfRepeatedCalls(RacedIn(500)));
  EXPECT_EQ(Decisions().of_older_clock, 1u);
  EXPECT_EQ(Standing(), first_);
}

TEST_F(RecordedRaces, OnTheRingDecideOnAnEntryOfRepeatedCalls) {
  Result<Entry> entry =
      EntryOf({.gemm = SomeGemm(), .subject = first_, .outcome = OfRepeatedCalls(RacedIn(1000)), .unix_ms = kNoon});
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->times.front().mode, "device");
  ASSERT_TRUE(catalogue_->Put(*std::move(entry)).ok());
  Race(kNoon + kOneSecond, first_, 1000), Race(kNoon + kOneSecond, second_, 500);
  EXPECT_EQ(Decided().kind, PromotionKind::kReplaced);
  EXPECT_EQ(Standing(), second_);
  EXPECT_EQ(catalogue_->Find(SomeGemm())->times.front().mode, "device_cold");
}

}  // namespace
}  // namespace gemmsmith
