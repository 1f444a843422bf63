// Steps of models from records whose sums are computed by hand.
#include "report/model_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "problem/example_device.h"
#include "report/model_tables.h"

namespace gemmsmith {
namespace {

// A race on the ring: ours, and the library in the same layout and in the other.
Trial RacedOnRing(const Shape& shape, const Layout& layout, double ours_ns, double heuristic_ns, double auto_ns) {
  Trial trial = ExampleTimed(ExamplePlan(0), shape, ours_ns);
  trial.gemm.kind.layout = layout;
  trial.outcome.timings.clear();
  const auto add = [&](std::string contender, double ns) {
    trial.outcome.timings.push_back({.contender = std::move(contender), .clock = Clock::kDeviceCold, .median_ns = ns});
  };
  const std::string own(Name(layout)), other(Name(layout == kTn ? kNn : kTn));
  add("ours", ours_ns);
  add("lt_heuristic_" + own, heuristic_ns);
  add("lt_auto_" + own, auto_ns);
  add("lt_heuristic_" + other, 1);
  add("lt_auto_" + other, 1);
  return trial;
}

// Every product of vit-l-16's forward phase of 197 rows: 24 of each of four layers, and 1 of the head.
std::vector<Trial> OnePhase() {
  return {RacedOnRing({197, 3072, 1024}, kTn, 4000, 6000, 5000), RacedOnRing({197, 1024, 1024}, kTn, 2000, 3000, 2500),
          RacedOnRing({197, 4096, 1024}, kTn, 6000, 9000, 7500), RacedOnRing({197, 1024, 4096}, kTn, 6000, 9000, 7500),
          RacedOnRing({197, 1000, 1024}, kTn, 2000, 1000, 1000)};
}

const ModelPhase& Phase(const ModelReport& report, std::string_view model, Pass pass, int tokens) {
  const auto steps = std::ranges::find(report.models, model, &ModelSteps::model);
  GEMMSMITH_CHECK(steps != report.models.end(), "{}", model);
  for (const ModelPhase& phase : steps->phases)
    if (phase.pass == pass && phase.tokens == tokens) return phase;
  GEMMSMITH_CHECK(false, "{} {}", model, tokens);
  return steps->phases.front();
}

TEST(ModelReport, AStepIsTheSumOfItsProductsByWeight) {
  const Result<ModelReport> report = MakeModelReport(OnePhase(), {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  const StepTime& time = Phase(*report, "vit-l-16", Pass::kForward, 197).time;
  EXPECT_TRUE(time.IsWhole());
  EXPECT_DOUBLE_EQ(time.ours_ns, 24 * (4000 + 2000 + 6000 + 6000) + 2000);
  EXPECT_DOUBLE_EQ(time.heuristic_ns, 24 * (6000 + 3000 + 9000 + 9000) + 1000);
  EXPECT_DOUBLE_EQ(time.auto_ns, 24 * (5000 + 2500 + 7500 + 7500) + 1000);
  double floor_ns = 0;
  for (const auto& [n, k, weight] : {std::tuple{3072, 1024, 24}, {1024, 1024, 24}, {4096, 1024, 24}, {1024, 4096, 24}})
    floor_ns += weight * MakeTask({{197, n, k}}).ColdFloorNs(H200());
  floor_ns += MakeTask({{197, 1000, 1024}}).ColdFloorNs(H200());
  EXPECT_NEAR(time.floor_ns, floor_ns, 1e-6);
}

// The libraries' nn and tn are of other operands.
TEST(ModelReport, WeightGradientsAreComparedInTheirOwnLayout) {
  const Result<ModelReport> report =
      MakeModelReport({RacedOnRing({1024, 1024, 12608}, kColumnRow, 4000, 6000, 5000)}, {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  const StepTime& time = Phase(*report, "vit-l-16", Pass::kWeightGradient, 12608).time;
  EXPECT_EQ(time.timed, 1);
  EXPECT_DOUBLE_EQ(time.OverAuto(), 1.25);
  EXPECT_DOUBLE_EQ(time.OverHeuristic(), 1.5);
  EXPECT_NE(HeaderLines(*report)[1].find("no kernel reads the column-major A of 2"), std::string::npos)
      << HeaderLines(*report)[1];
}

TEST(ModelReport, SumsLeaveOutWhatAContenderLacksAndNameIt) {
  std::vector<Trial> trials = OnePhase();
  trials.erase(trials.begin());                                            // never raced
  trials[0].outcome.timings.erase(trials[0].outcome.timings.begin() + 1);  // without lt_heuristic_tn
  const Result<ModelReport> report = MakeModelReport(trials, {});
  ASSERT_TRUE(report.ok());
  const StepTime& time = Phase(*report, "vit-l-16", Pass::kForward, 197).time;
  EXPECT_EQ(time.products, 5);
  EXPECT_EQ(time.timed, 3);
  EXPECT_DOUBLE_EQ(time.ours_ns, 24 * (6000 + 6000) + 2000);
  EXPECT_DOUBLE_EQ(time.auto_ns, 24 * (7500 + 7500) + 1000);
  const nlohmann::ordered_json json = ModelsJson(*report, "here");
  EXPECT_EQ(json["missing"].size(), 557u - 3);
  EXPECT_TRUE(std::ranges::count(json["missing"], "197x3072x1024 tn") == 1);
  EXPECT_TRUE(std::ranges::count(json["missing"], "197x4096x1024 tn") == 0);
}

TEST(ModelReport, AGroupCountsEachProductOnceAgainstItsOwnLayout) {
  const Result<ModelReport> report = MakeModelReport(OnePhase(), {});
  ASSERT_TRUE(report.ok());
  const nlohmann::ordered_json groups = ModelsJson(*report, "here")["groups"];
  const nlohmann::ordered_json& middle = groups["middle"];
  EXPECT_EQ(middle["problems"], 86);
  EXPECT_EQ(middle["timed"], 5);
  const nlohmann::ordered_json& over = middle["over"]["lt_auto"];
  EXPECT_NEAR(over["geomean"].get<double>(), std::pow(std::pow(1.25, 4) * 0.5, 0.2), 1e-12);
  EXPECT_DOUBLE_EQ(over["min"], 0.5);
  EXPECT_DOUBLE_EQ(over["flop_weighted"], 23'500.0 / 20'000);
  EXPECT_DOUBLE_EQ(middle["over"]["lt_heuristic"]["flop_weighted"], 28'000.0 / 20'000);
  EXPECT_TRUE(groups["decode"]["over"]["lt_auto"].is_null()) << "none was timed";
  EXPECT_TRUE(groups["decode"]["share_of_floor"].is_null());
}

Trial Chained(const Shape& shape, double chained_ns, double ours_ns, double library_ns) {
  Trial trial = RacedOnRing(shape, kTn, ours_ns, library_ns, library_ns);
  trial.outcome.timings.push_back({.contender = "ours", .clock = Clock::kDeviceColdChained, .median_ns = chained_ns});
  trial.gemm.kind.constant_b = true;
  return trial;
}

TEST(ModelReport, ChainsWithAConstantBStandAgainstPlainTimesAndTheFloorOfLargeWeights) {
  const Result<ModelReport> report =
      MakeModelReport({Chained({16, 4096, 4096}, 8000, 10'000, 12'000), Chained({16, 1280, 8192}, 2000, 4000, 4000),
                       Chained({24, 8, 4096}, 2000, 4000, 4000)},
                      {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  const nlohmann::ordered_json groups = ModelsJson(*report, "here")["groups"];
  const nlohmann::ordered_json& chained = groups["decode_chained"];
  EXPECT_EQ(chained["timed"], 3);
  EXPECT_NEAR(chained["over"]["lt_auto"]["geomean"].get<double>(), std::cbrt(1.5 * 2 * 2), 1e-12);
  const auto share = [](const Shape& shape, double ns) { return MakeTask({shape}).ColdFloorNs(H200()) / ns; };
  EXPECT_NEAR(chained["share_of_floor"].get<double>(),
              std::sqrt(share({16, 4096, 4096}, 8000) * share({16, 1280, 8192}, 2000)), 1e-12)
      << "64 KB of weights do not count";
  EXPECT_EQ(groups["decode"]["timed"], 0) << "another problem";
}

TEST(ModelReport, ChainsWithoutTheirPromiseAreNotCounted) {
  Trial chained = Chained({16, 4096, 4096}, 8000, 10'000, 12'000);
  chained.gemm.kind.constant_b = false;
  const nlohmann::ordered_json groups = ModelsJson(*MakeModelReport({chained}, {}), "here")["groups"];
  EXPECT_EQ(groups["decode_chained"]["timed"], 0);
  EXPECT_TRUE(groups["decode_chained"]["over"]["lt_auto"].is_null());
  EXPECT_EQ(groups["decode"]["timed"], 1);
}

TEST(ModelReport, TimesOfRepeatedCallsAreNone) {
  std::vector<Trial> trials = OnePhase();
  for (Trial& trial : trials)
    for (Timing& timing : trial.outcome.timings) timing.clock = Clock::kDevice;
  const Result<ModelReport> report = MakeModelReport(trials, {});
  EXPECT_EQ(report.status().code(), StatusCode::kNotFound);
  EXPECT_NE(report.status().message().find("--modes device_cold"), std::string::npos);
}

TEST(ModelReport, ALaterKernelWithoutATimeOnTheRingIsNotAsked) {
  std::vector<Trial> trials = OnePhase();
  for (Trial trial : OnePhase()) {
    trial.subject = ExamplePlan(1);
    trial.campaign = "later";
    trial.unix_ms += 1000;
    std::vector<Timing>& timings = trial.outcome.timings;
    timings.clear();
    for (const Clock clock : {Clock::kDevice, Clock::kOffline, Clock::kServer})
      timings.push_back({.contender = "ours", .clock = clock, .median_ns = 1});
    trials.push_back(trial);
  }
  const Result<ModelReport> report = MakeModelReport(trials, {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(Phase(*report, "vit-l-16", Pass::kForward, 197).time.IsWhole());
}

TEST(ModelReport, ThePapersShapesOfTheSameRecordsAreSummedUpBesideThem) {
  std::vector<Trial> trials = OnePhase();
  EXPECT_TRUE(ModelsJson(*MakeModelReport(trials, {}), "here")["paper1000"]["over"]["lt_auto"].is_null());
  trials.push_back(RacedOnRing({64, 64, 64}, kTn, 1000, 2000, 1500));
  trials.back().outcome.timings.resize(3);  // the library in tn alone
  trials.push_back(trials.back());
  trials.back().gemm.kind.layout = kNn;
  for (Timing& timing : trials.back().outcome.timings)
    if (timing.contender != "ours") timing.contender.replace(timing.contender.size() - 2, 2, "nn");
  const nlohmann::ordered_json json = ModelsJson(*MakeModelReport(trials, {}), "here");
  const nlohmann::ordered_json& over = json["paper1000"]["over"]["lt_auto"];
  EXPECT_EQ(over["shapes"], 1);
  EXPECT_EQ(over["wins"], 1);
  EXPECT_DOUBLE_EQ(over["geomean"], 1.5);
}

TEST(ModelReport, OfAnUnknownDeviceNoShareOfTheFloorIsTold) {
  std::vector<Trial> trials = OnePhase();
  for (Trial& trial : trials) trial.setting.device_key = "other";
  const nlohmann::ordered_json json = ModelsJson(*MakeModelReport(trials, {}), "here");
  EXPECT_TRUE(json["groups"]["middle"]["share_of_floor"].is_null());
  for (const nlohmann::ordered_json& model : json["models"])
    for (const nlohmann::ordered_json& phase : model["phases"])
      EXPECT_TRUE(phase["timed"] == 0 || phase["share_of_floor"].is_null());
}

TEST(ModelTables, TheOverviewHasTheTimedModelsAndAPhaseTableEveryPhase) {
  const Result<ModelReport> report = MakeModelReport(OnePhase(), {});
  ASSERT_TRUE(report.ok());
  const Sheet overview = SheetsOf(*report)[1];
  ASSERT_EQ(overview.rows.size(), 1u) << "one model has these shapes";
  EXPECT_EQ(overview.rows[0][0], "vit-l-16");
  ASSERT_EQ(overview.columns.size(), 2u) << "a column without a time is left out";
  EXPECT_EQ(overview.columns[1].title, "middle");
  // 24 * 22.5 us + 1 us over 24 * 18 us + 2 us.
  EXPECT_EQ(overview.rows[0][1].substr(0, 5), "1.25x");
  const Sheet phases = PhasesOf(*report, "vit-l-16");
  ASSERT_EQ(phases.rows.size(), 5u);
  EXPECT_EQ(phases.rows[0][0], "fwd 197");
  EXPECT_EQ(phases.rows[0][1], "5 of 5");
  EXPECT_EQ(phases.rows[1][1], "0 of 5");
  EXPECT_EQ(phases.rows[1][2], "");
}

}  // namespace
}  // namespace gemmsmith
