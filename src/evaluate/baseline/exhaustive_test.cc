#include "evaluate/baseline/exhaustive.h"

#include <gtest/gtest.h>

#include <set>

namespace gemmsmith {
namespace {

// A library whose fastest configuration is known; every trial takes the same share of a second.
class FakeTrials : public LtTrials {
 public:
  explicit FakeTrials(double seconds_each) : seconds_each_(seconds_each) {}

  std::optional<int> Check(const LtConfig& config) override {
    seconds_ += seconds_each_;
    EXPECT_TRUE(tried.insert(config).second) << "twice";
    if (config.cluster > 6 || config.stages == 36) return std::nullopt;
    checked_.push_back(config);
    return int(checked_.size()) - 1;
  }
  Result<std::optional<double>> Time(int algorithm) override {
    const LtConfig& config = checked_.at(size_t(algorithm));
    if (config.custom == 3) return std::optional<double>();
    if (fails) return IoError("the context is lost");
    const double base = 100 + config.tile + 10 * config.cluster;
    return std::optional<double>(base * (config.split_k == 4 && config.reduction == 2 ? 0.5 : 1));
  }
  double SecondsSpent() override { return seconds_; }
  const LtConfig& config(int algorithm) const { return checked_.at(size_t(algorithm)); }

  std::set<LtConfig> tried;
  bool fails = false;

 private:
  const double seconds_each_;
  double seconds_ = 0;
  std::vector<LtConfig> checked_;
};

LtConfigSpace Space() {
  return LtConfigSpace({{.id = 66,
                         .tiles = {20, 21, 24},
                         .stages = {35, 36},
                         .custom_options = 4,
                         .splits_k = true,
                         .reduction_schemes = 2,
                         .swizzles = true}});
}

TEST(SearchExhaustively, TriesAllOnceAndFindsTheFastestWithItsSplit) {
  FakeTrials trials(1e-6);
  Random random(1);
  const Result<Exhausted> found = SearchExhaustively(Space(), trials, 10, 12, random);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->space, Space().size());
  EXPECT_EQ(found->tried, found->space);
  EXPECT_GT(found->passed, found->timed) << "some pass the check and do not run";
  ASSERT_EQ(found->fastest_first.size(), 12u);
  const LtConfig& best = trials.config(found->fastest_first[0]);
  EXPECT_EQ(best.tile, 20u);
  EXPECT_EQ(best.cluster, 0);
  EXPECT_EQ(best.split_k, 4);
}

TEST(SearchExhaustively, StopsWhenTheSecondsAreSpentAndSaysHowFarItCame) {
  FakeTrials trials(0.01);
  Random random(1);
  const Result<Exhausted> found = SearchExhaustively(Space(), trials, 1.0, 12, random);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->tried, 60u);
  EXPECT_EQ(trials.tried.size(), 100u);
  EXPECT_NE(found->Print().find(fmt::format("60 of {} configurations", found->space)), std::string::npos);
}

TEST(SearchExhaustively, NothingThatRunsIsNobodyAndALostContextIsAStatus) {
  FakeTrials trials(1e-6);
  Random random(1);
  const Result<Exhausted> nobody = SearchExhaustively(LtConfigSpace({}), trials, 1, 12, random);
  ASSERT_TRUE(nobody.ok());
  EXPECT_TRUE(nobody->fastest_first.empty());
  trials.fails = true;
  EXPECT_FALSE(SearchExhaustively(Space(), trials, 1, 12, random).ok());
}

}  // namespace
}  // namespace gemmsmith
