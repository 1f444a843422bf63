#include "search/recorded_cells.h"

#include <gtest/gtest.h>

#include <set>

#include "search/recorded_problem.h"

namespace gemmsmith {
namespace {

Outcome SomeOutcome(size_t i) {
  if (i == 0) return FailedOutcome(OutcomeKind::kIllegal, "tile_m");
  if (i == 1) return FailedOutcome(OutcomeKind::kWrong, "NaN at 0,0");
  return MeasuredOutcome(1000.0 * double(i));
}

TEST(RecordedCellsTest, IllegalPlansAreNoCellsAndFailuresAreWorthNothing) {
  const auto recording = RecordedProblem(2, SomeOutcome);
  const RecordedCells cells(*recording, kRecordedGemm);
  ASSERT_EQ(cells.space().size(), SyntheticSpace(2).size() - 1);
  EXPECT_EQ(cells.worths()[0], 0);
  EXPECT_EQ(cells.worths()[1], 1);
  EXPECT_DOUBLE_EQ(cells.worths()[3], 0.5);
  EXPECT_TRUE(cells.HasMeasured());
}

TEST(RecordedCellsTest, TheScreeningCountsWhereThereAreSeveralProtocols) {
  Outcome again = MeasuredOutcome(10);
  again.protocol = Protocol::kShort;
  const std::vector<Plan> plans = SyntheticSpace(1).plans();
  const auto recording = Recording::FromTrials({RecordedTrial(kRecordedGemm, plans[0], MeasuredOutcome(100)),
                                                RecordedTrial(kRecordedGemm, plans[0], again),
                                                RecordedTrial(kRecordedGemm, plans[1], MeasuredOutcome(50))});
  const RecordedCells cells(*recording, kRecordedGemm);
  EXPECT_DOUBLE_EQ(cells.worths()[0], 0.5);
  EXPECT_DOUBLE_EQ(cells.worths()[1], 1);
}

TEST(RecordedCellsTest, TheFingerprintIsOfTheOutcomes) {
  const auto one = RecordedProblem(2, SomeOutcome);
  const auto other = RecordedProblem(2, [](size_t i) { return i == 5 ? MeasuredOutcome(5001) : SomeOutcome(i); });
  const auto fails =
      RecordedProblem(2, [](size_t i) { return i == 1 ? FailedOutcome(OutcomeKind::kTimedOut, "") : SomeOutcome(i); });
  const auto print = [](const auto& recording) { return RecordedCells(*recording, kRecordedGemm).Fingerprint(); };
  EXPECT_EQ(print(one), print(RecordedProblem(2, SomeOutcome)));
  EXPECT_NE(print(one), print(other));
  EXPECT_NE(print(one), print(fails));
}

// Says how many it was asked for and has been told of.
class CountingProposer : public Proposer {
 public:
  explicit CountingProposer(const Space& space) : space_(space) {}
  std::string_view name() const override { return "counting"; }
  std::vector<Plan> Propose(int count) override {
    asked.emplace_back(count, observed);
    std::vector<Plan> plans;
    for (; count > 0 && next_ < space_.size(); --count) plans.push_back(space_.plans()[next_++]);
    return plans;
  }
  void Observe(const Plan&, const Outcome&) override { ++observed; }

  std::vector<std::pair<int, int>> asked;
  int observed = 0;

 private:
  const Space& space_;
  size_t next_ = 0;
};

TEST(FollowTest, AsksForAsManyAsWereJudgedAndTellsBeforeItAsksAgain) {
  const auto recording = RecordedProblem(4, [](size_t i) { return MeasuredOutcome(double(1 + i)); });
  const RecordedCells cells(*recording, kRecordedGemm);
  CountingProposer proposer(cells.space());
  EXPECT_EQ(Follow(proposer, cells, 40, 16).size(), 40u);
  using Asked = std::vector<std::pair<int, int>>;
  EXPECT_EQ(proposer.asked, (Asked{{1, 0}, {1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}, {8, 32}}));
  EXPECT_EQ(proposer.observed, 40);
}

TEST(FollowTest, EndsWithTheProposersList) {
  const auto recording = RecordedProblem(1, [](size_t i) { return MeasuredOutcome(double(1 + i)); });
  const RecordedCells cells(*recording, kRecordedGemm);
  CountingProposer proposer(cells.space());
  const std::vector<uint16_t> followed = Follow(proposer, cells, 40, 1);
  EXPECT_EQ(std::set<uint16_t>(followed.begin(), followed.end()).size(), cells.space().size());
  EXPECT_EQ(followed.size(), cells.space().size());
}

}  // namespace
}  // namespace gemmsmith
