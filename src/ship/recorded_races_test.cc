#include "ship/recorded_races.h"

#include <gtest/gtest.h>

#include "ship/example_races.h"

namespace gemmsmith {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kNoon = 20'000 * kDayMs + kDayMs / 2;

class RecordedRaces : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Create("recorded_races");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(*std::move(folder));
    Result<std::unique_ptr<CatalogueOnDisk>> catalogue =
        CatalogueOnDisk::Open(folder_->path() / "h200.catalogue", "h200");
    ASSERT_TRUE(catalogue.ok());
    catalogue_ = *std::move(catalogue);
  }

  void Race(int64_t unix_ms, const Plan& plan, double time_ns) {
    trials_.push_back({.gemm = SomeGemm(), .subject = plan, .outcome = RacedIn(time_ns), .unix_ms = unix_ms});
    trials_.back().campaign = "bench";
    trials_.back().setting.device_key = "h200";
  }
  std::map<Gemm, Promotion> Settled() {
    const Result<PromotionRound> round = SettleByRecords(*catalogue_, "h200", trials_);
    EXPECT_TRUE(round.ok()) << round.status().message();
    return {round->promotions.begin(), round->promotions.end()};
  }
  Plan Entry() const { return catalogue_->Find(SomeGemm())->plan; }

  const std::vector<Plan> plans_ = SomePlans(3);
  const Plan first_ = plans_[0], second_ = plans_[1], third_ = plans_[2];
  std::vector<Trial> trials_;
  std::optional<TemporaryFolder> folder_;
  std::unique_ptr<CatalogueOnDisk> catalogue_;
};

TEST_F(RecordedRaces, DecideOneByOneTheEarliestFirstAndOnceMoreChangeNothing) {
  Race(kNoon + 2, third_, 700), Race(kNoon + 2, second_, 800);
  Race(kNoon, second_, 800), Race(kNoon, first_, 1000);
  const std::map<Gemm, Promotion> settled = Settled();
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_EQ(settled.at(SomeGemm()).kind, PromotionKind::kReplaced) << "second entered, third replaced it";
  EXPECT_EQ(Entry(), third_);
  EXPECT_EQ(catalogue_->Find(SomeGemm())->times[0].ns, 700);
  EXPECT_EQ(Settled().at(SomeGemm()).kind, PromotionKind::kStands);
  EXPECT_EQ(Entry(), third_);
}

TEST_F(RecordedRaces, OfTwoAtDifferentTimesAreNotOneRace) {
  Race(kNoon, first_, 1000);
  Race(kNoon + 1, second_, 500);
  const Promotion promotion = Settled().at(SomeGemm());
  EXPECT_EQ(promotion.kind, PromotionKind::kEntered);
  EXPECT_EQ(Entry(), first_) << "which did not race with the second";
}

TEST_F(RecordedRaces, AChangeIsToldEvenWhereALaterRaceLeftItAsItWas) {
  Race(kNoon, first_, 1000);
  Race(kNoon + 1, first_, 1000), Race(kNoon + 1, second_, 1200);
  EXPECT_EQ(Settled().at(SomeGemm()).kind, PromotionKind::kEntered);
}

TEST_F(RecordedRaces, OfDaysBeforeTheEntrysSayNothing) {
  Race(kNoon, first_, 1000);
  Settled();
  trials_.clear();
  Race(kNoon - kDayMs, first_, 1000), Race(kNoon - kDayMs, second_, 500);
  EXPECT_TRUE(Settled().empty());
  EXPECT_EQ(Entry(), first_);
}

TEST_F(RecordedRaces, OfAnotherDeviceAndScreeningsAreNone) {
  Race(kNoon, first_, 1000);
  trials_.back().setting.device_key = "h100";
  Race(kNoon, second_, 1000);
  trials_.back().outcome.protocol = Protocol::kScreen;
  EXPECT_TRUE(Settled().empty());
  EXPECT_EQ(catalogue_->size(), 0u);
}

TEST_F(RecordedRaces, WhoFailsThereDoesNotEnterAndTheStandingOneThatFailsGoes) {
  Race(kNoon, first_, 1000);
  Settled();
  Race(kNoon + 1, first_, 1000), Race(kNoon + 1, second_, 500);
  trials_.back().outcome = Wrong();
  EXPECT_EQ(Settled().at(SomeGemm()).kind, PromotionKind::kRefused);
  EXPECT_EQ(Entry(), first_);
  trials_.clear();
  Race(kNoon + 2, first_, 1000);
  trials_.back().outcome = Wrong();
  Race(kNoon + 2, second_, 1500);
  EXPECT_EQ(Settled().at(SomeGemm()).kind, PromotionKind::kReplaced) << "slower, but right";
  EXPECT_EQ(Entry(), second_);
}

}  // namespace
}  // namespace gemmsmith
