#include "report/pairs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "report/pair_tables.h"

namespace gemmsmith {
namespace {

constexpr Shape kUpper{2048, 2048, 2048}, kTiny{64, 64, 64};

Plan WgmmaPlan(int stages, std::string_view finish, int tile_n = 128) {
  return *ParsePlan(fmt::format("wgmma tile_n={} stages={} finish={}", tile_n, stages, finish));
}

Trial Timed(const Plan& plan, double time_ns, const Shape& shape = kUpper) {
  Trial trial = ExampleTimed(plan, shape, time_ns);
  trial.outcome.timings[0].clock = PairOptions().clock;
  trial.outcome.protocol = Protocol::kScreen;
  return trial;
}

const PairRow& FindRow(const PairTables& tables, std::string_view value, std::string_view over, size_t nth = 0) {
  for (const PairRow& row : tables.pairs)
    if (row.value.text == value && row.over.text == over && nth-- == 0) return row;
  ADD_FAILURE() << value << " over " << over;
  return tables.pairs.front();
}

// Two pairs on one shape, one on another; in turn is 0.8, 1.25 and 0.5 of together.
std::vector<Trial> ThreePairs() {
  return {Timed(WgmmaPlan(4, "together"), 1000),       Timed(WgmmaPlan(4, "in_turn"), 800),
          Timed(WgmmaPlan(10, "together"), 1200),      Timed(WgmmaPlan(10, "in_turn"), 1500),
          Timed(WgmmaPlan(4, "together"), 100, kTiny), Timed(WgmmaPlan(4, "in_turn"), 50, kTiny)};
}

TEST(Pairs, DifferInTheAxisAndInNothingElse) {
  const PairTables tables = *MakePairs(ThreePairs(), {.axis = "finish"});
  EXPECT_EQ(tables.plans, 6);
  EXPECT_EQ(tables.problems, 2);
  ASSERT_EQ(tables.pairs.size(), 2u) << "each order of the two values";
  const PairRow& row = FindRow(tables, "in_turn", "together");
  EXPECT_EQ(row.ratio.count, 3);
  EXPECT_EQ(row.problems, 2);
  EXPECT_NEAR(row.ratio.geomean, std::cbrt(0.8 * 1.25 * 0.5), 1e-12);
  EXPECT_DOUBLE_EQ(row.ratio.median, 0.8);
  EXPECT_DOUBLE_EQ(row.ratio.lowest, 0.5);
  EXPECT_DOUBLE_EQ(row.ratio.highest, 1.25);
  EXPECT_NEAR(FindRow(tables, "together", "in_turn").ratio.geomean, 1 / row.ratio.geomean, 1e-12);
}

TEST(Pairs, AreOfOneProblemDeviceAndProtocol) {
  for (const auto& change : std::vector<void (*)(Trial&)>{
           [](Trial& trial) { trial.gemm.kind.layout = kNn; }, [](Trial& trial) { trial.gemm.shape.k = 4096; },
           [](Trial& trial) { trial.outcome.protocol = Protocol::kShort; },
           [](Trial& trial) { trial.setting.device_key = "h100"; }, [](Trial& trial) { trial.gemm.lda = 4096; },
           [](Trial& trial) { trial.outcome.kind = OutcomeKind::kWrong; },
           [](Trial& trial) { trial.outcome.timings[0].clock = Clock::kOffline; },
           [](Trial& trial) { trial.subject = WgmmaPlan(4, "together", 64); }}) {
    Trial other = Timed(WgmmaPlan(4, "together"), 1000);
    change(other);
    EXPECT_EQ(MakePairs({Timed(WgmmaPlan(4, "in_turn"), 800), other}, {.axis = "finish"}).status().code(),
              StatusCode::kNotFound);
  }
}

TEST(Pairs, OfAPlanThatWasJudgedAgainTheNewestTimeCounts) {
  Trial old = Timed(WgmmaPlan(4, "in_turn"), 100);
  old.unix_ms -= 1;
  const PairTables tables =
      *MakePairs({Timed(WgmmaPlan(4, "in_turn"), 800), old, Timed(WgmmaPlan(4, "together"), 1000)}, {.axis = "finish"});
  EXPECT_DOUBLE_EQ(FindRow(tables, "in_turn", "together").ratio.geomean, 0.8);
}

TEST(Pairs, StandByGroupInTheOrderOfNumbers) {
  const PairTables tables =
      *MakePairs(ThreePairs(), {.axis = "finish", .by = {"class", "stages"}, .over = std::string("together")});
  ASSERT_EQ(tables.pairs.size(), 3u);
  const auto names = [](const PairRow& row) { return row.groups[0].text + " " + row.groups[1].text; };
  EXPECT_EQ(names(tables.pairs[0]), "tiny 4");
  EXPECT_EQ(names(tables.pairs[1]), "upper 4");
  EXPECT_EQ(names(tables.pairs[2]), "upper 10");
  EXPECT_DOUBLE_EQ(tables.pairs[2].ratio.geomean, 1.25);
}

TEST(Pairs, SayOnHowManyProblemsAValueMakesTheBestPlanOfAll) {
  std::vector<Trial> trials = ThreePairs();
  trials.push_back(Timed(WgmmaPlan(6, "together"), 640));
  const PairTables all = *MakePairs(trials, {.axis = "finish"});
  ASSERT_EQ(all.best.size(), 2u);
  EXPECT_EQ(all.best[0].value.text, "together");
  EXPECT_EQ(all.best[0].ratio.count, 2);
  EXPECT_EQ(all.best[0].best, 1) << "the plan with 6 stages, although it has no twin";
  EXPECT_EQ(all.best[1].best, 1);
  EXPECT_DOUBLE_EQ(all.best[0].ratio.lowest, 640.0 / 800);
  const PairTables by_stages = *MakePairs(trials, {.axis = "finish", .by = {"stages"}});
  ASSERT_EQ(by_stages.best.size(), 4u);
  EXPECT_EQ(by_stages.best[1].value.text, "in_turn");
  EXPECT_EQ(by_stages.best[1].ratio.count, 2);
  EXPECT_EQ(by_stages.best[1].best, 1) << "of 2048x2048x2048 it is a plan of another group";
}

TEST(Pairs, WhatCannotBeAskedForIsSaid) {
  const auto message = [](const PairOptions& options) { return MakePairs(ThreePairs(), options).status().message(); };
  EXPECT_EQ(message({.axis = "finish", .by = {"finish"}}), "pairs that differ in finish have no finish in common");
  EXPECT_EQ(message({.axis = "tile_n", .by = {"tile"}}), "pairs that differ in tile_n have no tile in common");
  EXPECT_EQ(message({.axis = "finish", .over = std::string("in_trun")}),
            "no recorded plan has finish=in_trun; did you mean 'in_turn'?");
  EXPECT_EQ(message({.axis = "split"}),
            "no two recorded plans differ in split alone (6 timed plans on 2 problems, device clock)");
  EXPECT_EQ(message({.axis = "finish", .protocol = Protocol::kLong}),
            "no two recorded plans differ in finish alone (0 timed plans on 0 problems, device clock)");
}

TEST(Pairs, EveryAxisAndNamedGroupCanBeAskedFor) {
  EXPECT_NE(std::find(PlanAxes().begin(), PlanAxes().end(), "warps_k"), PlanAxes().end());
  for (const std::string_view group : PairGroups())
    EXPECT_EQ(MakePairs(ThreePairs(), {.axis = "finish", .by = {std::string(group)}}).ok(), group != "finish") << group;
}

TEST(PairTables, HaveAColumnForEachGroupInEveryForm) {
  const PairTables tables = *MakePairs(ThreePairs(), {.axis = "finish", .by = {"tile", "stages"}});
  const Sheet pairs = PairSheet(tables), best = BestSheet(tables);
  EXPECT_EQ(pairs.rows[0][0], "128x128");
  EXPECT_EQ(pairs.rows[0].size(), pairs.columns.size());
  EXPECT_EQ(best.rows[0].size(), best.columns.size());
  const nlohmann::ordered_json json = PairsJson(tables, "here");
  EXPECT_EQ(json["pairs"][0]["group"]["stages"], "4");
  for (const char* key : {"value", "over", "pairs", "problems", "geomean", "q05", "median", "q95"})
    EXPECT_TRUE(json["pairs"][0].contains(key)) << key;
  EXPECT_TRUE(json["best"][0].contains("best_of_all"));
  const std::string csv = PairsCsv(tables);
  size_t begin = 0;
  for (size_t end = csv.find('\n'); end != csv.npos; begin = end + 1, end = csv.find('\n', begin))
    EXPECT_EQ(std::count(csv.begin() + long(begin), csv.begin() + long(end), ','), 15) << csv;
}

}  // namespace
}  // namespace gemmsmith
