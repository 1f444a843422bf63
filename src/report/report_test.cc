// Small sets of records whose tables are computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "report/choices.h"
#include "report/energy.h"
#include "report/report_json.h"
#include "report/tables.h"

namespace gemmsmith {
namespace {

constexpr Shape kTinyShape{64, 64, 64};         // log2 18
constexpr Shape kSplitKShape{64, 256, 16384};   // log2 28
constexpr Shape kLargeShape{8192, 8192, 8192};  // log2 39

Timing Time(std::string contender, double ns, Clock clock = Clock::kDevice) {
  return {.contender = std::move(contender), .clock = clock, .median_ns = ns, .mean_ns = ns, .interval = {ns, ns}};
}

Comparison Ratio(std::string baseline, double ratio, double half_width, int pairs = 20, Clock clock = Clock::kDevice) {
  return {std::move(baseline), clock, {ratio, ratio, {ratio - half_width, ratio + half_width}, pairs}};
}

Trial Measured(const Shape& shape, const Layout& layout, int plan = 0) {
  Trial trial{.gemm = {.shape = shape, .kind = {.layout = layout}}, .subject = ExamplePlan(plan)};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = Protocol::kShort;
  trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
  trial.unix_ms = 1'795'219'200'000;
  return trial;
}

// Ours takes ours_ns; AutoTuning nn and tn take what is said, with intervals of this half width round the ratios.
Trial Raced(const Shape& shape, const Layout& layout, double ours_ns, double nn_ns, double tn_ns,
            double half_width = 0.01) {
  Trial trial = Measured(shape, layout);
  trial.outcome.timings = {Time("ours", ours_ns), Time("lt_auto_nn", nn_ns), Time("lt_auto_tn", tn_ns)};
  trial.outcome.comparisons = {Ratio("lt_auto_nn", nn_ns / ours_ns, half_width),
                               Ratio("lt_auto_tn", tn_ns / ours_ns, half_width)};
  return trial;
}

Result<Scoreboard> Board(const std::vector<Trial>& trials, const std::optional<std::string>& against = std::nullopt,
                         const SelectionOptions& options = {}) {
  ASSIGN_OR_RETURN(Selection selection, SelectRecords(trials, options));
  return MakeScoreboard(trials, std::move(selection), against);
}

// Ours 2x, 1.25x and 0.5x AutoTuning-max.
std::vector<Trial> ThreeShapes() {
  return {Raced(kTinyShape, kNn, 1000, 3000, 2000), Raced(kTinyShape, kTn, 1500, 3000, 2000),
          Raced(kSplitKShape, kTn, 4000, 5000, 6000), Raced(kLargeShape, kNn, 200'000, 100'000, 150'000)};
}

TEST(Statistics, AreThoseComputedByHand) {
  const std::vector<ShapeSpeedUp> speed_ups = {{kTinyShape, 2.0, Interval{1.9, 2.1}, 2000, 1000},
                                               {kSplitKShape, 1.25, Interval{0.99, 1.3}, 5000, 4000},
                                               {kLargeShape, 0.5, Interval{0.4, 0.6}, 100'000, 200'000},
                                               {{128, 64, 64}, 1.25, std::nullopt, 500, 400}};
  const Statistics all = StatisticsOf(speed_ups);
  EXPECT_EQ(all.shapes, 4);
  EXPECT_DOUBLE_EQ(all.mean, 1.25);
  EXPECT_DOUBLE_EQ(all.median, 1.25);
  EXPECT_DOUBLE_EQ(all.geomean, std::pow(2 * 1.25 * 0.5 * 1.25, 0.25));
  // Deviations 0.75, 0, -0.75, 0; n - 1 = 3.
  EXPECT_DOUBLE_EQ(all.std, std::sqrt(2 * 0.75 * 0.75 / 3));
  EXPECT_DOUBLE_EQ(all.min, 0.5);
  EXPECT_DOUBLE_EQ(all.flop_weighted, (2000.0 + 5000 + 100'000 + 500) / (1000 + 4000 + 200'000 + 400));
  EXPECT_EQ(all.wins, 3);
  EXPECT_EQ(all.clear_wins, 1) << "an interval that reaches down to 1 is none, nor is no interval";
  EXPECT_EQ(all.losses, 1);
  EXPECT_EQ(all.clear_losses, 1);
  EXPECT_EQ(all.without_interval, 1);
}

TEST(Statistics, WithFallbackNobodyLosesAndTheBaselinesTimeIsTaken) {
  const Statistics fallback = StatisticsWithFallback(
      {{kTinyShape, 2.0, Interval{1.9, 2.1}, 2000, 1000}, {kLargeShape, 0.5, Interval{0.4, 0.6}, 100'000, 200'000}});
  EXPECT_DOUBLE_EQ(fallback.mean, 1.5);
  EXPECT_DOUBLE_EQ(fallback.min, 1.0);
  EXPECT_DOUBLE_EQ(fallback.std, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(fallback.flop_weighted, 102'000.0 / 101'000.0);
  EXPECT_EQ(fallback.wins, 1);
  EXPECT_EQ(fallback.clear_wins, 1);
  EXPECT_EQ(fallback.losses, 0);
}

TEST(Statistics, OfOneShapeHaveNoDeviation) {
  const Statistics one = StatisticsOf({{kTinyShape, 1.5, std::nullopt, 3, 2}});
  EXPECT_DOUBLE_EQ(one.std, 0);
  EXPECT_DOUBLE_EQ(one.median, 1.5);
  EXPECT_EQ(one.wins, 1);
  EXPECT_EQ(one.clear_wins, 0);
}

TEST(Buckets, BeginAtEvenPowersAndHoldTheirLowerEdge) {
  EXPECT_EQ(BucketOf({64, 64, 64}), 18);
  EXPECT_EQ(BucketOf({64, 64, 128}), 18);
  EXPECT_EQ(BucketOf({64, 128, 128}), 20);
  EXPECT_EQ(BucketOf({64, 128, 127}), 18);
  EXPECT_EQ(BucketOf({1, 1, 1}), 0);
  EXPECT_EQ(BucketOf({16384, 16384, 16384}), 42);
  EXPECT_EQ(BucketOf({12288, 12288, 12288}), 40);
}

TEST(Scoreboard, OursIsTheFasterLayoutAgainstEveryVariantOfItsRun) {
  const Result<Scoreboard> board = Board(ThreeShapes());
  ASSERT_TRUE(board.ok()) << board.status().message();
  EXPECT_TRUE(board->of_ours);
  EXPECT_EQ(board->shapes, 3);
  EXPECT_EQ(board->headline, "lt_auto_max");
  ASSERT_EQ(board->modes.size(), 1u);
  const ModeTable& device = board->modes[0];
  EXPECT_DOUBLE_EQ(device.Find("lt_auto_nn")->all.mean, (3 + 1.25 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(device.Find("lt_auto_tn")->all.mean, (2 + 1.5 + 0.75) / 3);
  const Row& max = *device.Find("lt_auto_max");
  EXPECT_DOUBLE_EQ(max.all.mean, (2 + 1.25 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(max.with_fallback.mean, (2 + 1.25 + 1) / 3);
  EXPECT_EQ(max.all.wins, 2);
  EXPECT_EQ(max.all.losses, 1);
  EXPECT_DOUBLE_EQ(max.all.flop_weighted, (2000.0 + 5000 + 100'000) / (1000 + 4000 + 200'000));
}

TEST(Scoreboard, LayoutsAreComparedWithTheSameLayoutToo) {
  const Result<Scoreboard> board = Board(ThreeShapes());
  ASSERT_TRUE(board.ok());
  const std::vector<Row>& same = board->modes[0].same_layout;
  ASSERT_EQ(same.size(), 2u);
  EXPECT_EQ(same[0].name, "lt_auto_nn");
  EXPECT_DOUBLE_EQ(same[0].all.mean, (3 + 0.5) / 2);
  EXPECT_EQ(same[1].name, "lt_auto_tn");
  EXPECT_DOUBLE_EQ(same[1].all.mean, (2000.0 / 1500 + 1.5) / 2);
}

TEST(Scoreboard, ChainsStandAgainstPlainTimesByTheirOwnFastestKernel) {
  Trial plain = Raced(kTinyShape, kTn, 1000, 3000, 2000), chained = Raced(kTinyShape, kTn, 1100, 3000, 2000);
  chained.subject = ExamplePlan(5);
  chained.outcome.timings.push_back(Time("ours", 500, Clock::kDeviceChained));
  chained.outcome.comparisons.push_back(Ratio("lt_auto_tn", 4, 0.1, 20, Clock::kDeviceChained));
  const Result<Scoreboard> board = Board({plain, chained});
  ASSERT_TRUE(board.ok());
  EXPECT_DOUBLE_EQ(board->Find(Clock::kDevice)->Find("lt_auto_tn")->all.mean, 2);
  EXPECT_DOUBLE_EQ(board->Find(Clock::kDeviceChained)->Find("lt_auto_tn")->all.mean, 4);
  EXPECT_EQ(board->Find(Clock::kDeviceChained)->Find("lt_auto_tn")->all.wins, 1);
}

TEST(Scoreboard, TheRingLeadsAndItsChainsStandAgainstPlainTimesOnIt) {
  Trial trial = Raced(kTinyShape, kTn, 1000, 3000, 2000);
  trial.outcome.timings.push_back(Time("ours", 1500, Clock::kDeviceCold));
  trial.outcome.timings.push_back(Time("ours", 1250, Clock::kDeviceColdChained));
  trial.outcome.timings.push_back(Time("lt_auto_tn", 2500, Clock::kDeviceCold));
  const Result<Scoreboard> board = Board({trial});
  ASSERT_TRUE(board.ok());
  ASSERT_EQ(board->modes.size(), 3u);
  EXPECT_EQ(board->modes[0].mode, Clock::kDeviceCold);
  EXPECT_EQ(board->modes[1].mode, Clock::kDeviceColdChained);
  EXPECT_DOUBLE_EQ(board->modes[1].Find("lt_auto_tn")->all.mean, 2);
}

TEST(Scoreboard, LibraryMaxIsTheFastestLibraryOfEachRace) {
  Trial first = Raced(kTinyShape, kTn, 1000, 3000, 2000), second = Raced(kSplitKShape, kTn, 1000, 3000, 2000);
  first.outcome.timings.push_back(Time("cublas_tn", 1500));
  first.outcome.timings.push_back(Time("other_tn", 100));
  first.outcome.comparisons.push_back(Ratio("cublas_tn", 1.5, 0.01));
  first.outcome.comparisons.push_back(Ratio("other_tn", 0.1, 0.01));
  const Result<Scoreboard> board = Board({first, second});
  ASSERT_TRUE(board.ok());
  const Row* const row = board->Find(Clock::kDevice)->Find("library_max");
  ASSERT_NE(row, nullptr);
  EXPECT_DOUBLE_EQ(row->all.mean, (1.5 + 2) / 2);
  EXPECT_EQ(board->headline, "lt_auto_max");
  EXPECT_EQ(Board({second})->Find(Clock::kDevice)->Find("library_max"), nullptr) << "it would be AutoTuning's again";
}

TEST(Scoreboard, WithoutPairsTheMediansAreDividedAndNothingIsClear) {
  Trial trial = Raced(kTinyShape, kTn, 1000, 3000, 2000);
  trial.outcome.comparisons.clear();
  const Statistics medians = Board({trial})->modes[0].Find("lt_auto_max")->all;
  EXPECT_DOUBLE_EQ(medians.mean, 2);
  EXPECT_EQ(medians.wins, 1);
  EXPECT_EQ(medians.clear_wins, 0);
  EXPECT_EQ(medians.without_interval, 1);
  trial.outcome.comparisons = {Ratio("lt_auto_tn", 2, 0.1, 5), Ratio("lt_auto_nn", 3, 0.1, 5)};
  EXPECT_EQ(Board({trial})->modes[0].Find("lt_auto_max")->all.without_interval, 1) << "five pairs reach 94 % only";
  trial.outcome.comparisons = {Ratio("lt_auto_tn", 2, 0.1, 6), Ratio("lt_auto_nn", 3, 0.1, 6)};
  EXPECT_EQ(Board({trial})->modes[0].Find("lt_auto_max")->all.clear_wins, 1);
}

TEST(Scoreboard, KeptSamplesMakeAnIntervalWhereNothingWasCompared) {
  Trial trial = Measured(kTinyShape, kTn);
  trial.outcome.timings = {Time("ours", 10), Time("torch_tn", 20)};
  trial.outcome.timings[0].samples_ns = {10, 10, 10, 10, 10, 10, 10, 10};
  trial.outcome.timings[1].samples_ns = {20, 20, 20, 20, 20, 20, 20, 20};
  const Statistics torch = Board({trial})->modes[0].Find("torch_tn")->all;
  EXPECT_DOUBLE_EQ(torch.mean, 2);
  EXPECT_EQ(torch.clear_wins, 1);
}

// AutoTuning 100 and 80; heuristic 100 in nn only; cuBLAS 160 and 40.
Trial Race() {
  Trial race = Measured(kTinyShape, kTn);
  race.subject = Nobody();
  race.outcome.timings = {Time("lt_auto_nn", 100), Time("lt_auto_tn", 80), Time("lt_heuristic_nn", 100),
                          Time("cublas_nn", 160), Time("cublas_tn", 40)};
  race.outcome.comparisons = {Ratio("lt_auto_tn", 2, 0.1)};
  race.outcome.comparisons[0].contender = "cublas_tn";
  return race;
}

TEST(Scoreboard, BaselinesAloneStandAgainstAReference) {
  const Result<Scoreboard> board = Board({Race()});
  ASSERT_TRUE(board.ok()) << board.status().message();
  EXPECT_FALSE(board->of_ours);
  EXPECT_EQ(board->against, "lt_auto_max");
  const ModeTable& device = board->modes[0];
  EXPECT_EQ(device.Find("lt_auto_max"), nullptr) << "not against itself";
  EXPECT_DOUBLE_EQ(device.Find("lt_heuristic_nn")->all.mean, 0.8);
  EXPECT_EQ(device.Find("lt_heuristic_nn")->all.without_interval, 1);
  EXPECT_DOUBLE_EQ(device.Find("cublas_max")->all.mean, 2);
  EXPECT_EQ(device.Find("cublas_max")->all.wins, 1);
  EXPECT_DOUBLE_EQ(device.Find("lt_auto_nn")->all.mean, 0.8);
  EXPECT_DOUBLE_EQ(Board({Race()}, "cublas_tn")->modes[0].Find("lt_auto_tn")->all.mean, 0.5) << "turned round";
  EXPECT_EQ(Board({Race()}, "cublas_tn")->modes[0].Find("lt_auto_tn")->all.losses, 1);
}

TEST(Scoreboard, AReferenceThatNobodyRecordedIsNamedWithTheNearest) {
  const Status status = Board({Race()}, "lt_auto_mx").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("did you mean 'lt_auto_max'"), std::string::npos) << status.message();
  EXPECT_FALSE(Board(ThreeShapes(), "ours_max").ok());
}

TEST(Scoreboard, WithOursAndAReferenceBothStandInOneTable) {
  std::vector<Trial> trials = ThreeShapes();
  trials.push_back(Race());
  EXPECT_EQ(Board(trials)->shapes_without_ours, 0);
  const Result<Scoreboard> board = Board(trials, "lt_auto_max");
  EXPECT_EQ(board->headline, "ours_max");
  EXPECT_DOUBLE_EQ(board->modes[0].Find("ours_max")->all.mean, (2 + 1.25 + 0.5) / 3);
  EXPECT_EQ(board->modes[0].Find("cublas_max")->all.shapes, 1);
}

TEST(Selection, OfOneKernelTheNewestAndOfSeveralTheFastestSpeaks) {
  Trial lucky = Raced(kTinyShape, kTn, 500, 3000, 2000), again = Raced(kTinyShape, kTn, 1000, 3000, 2000);
  again.unix_ms = lucky.unix_ms + 1;
  EXPECT_DOUBLE_EQ(Board({lucky, again})->modes[0].Find("lt_auto_max")->all.mean, 2);
  Trial other = Raced(kTinyShape, kTn, 800, 3000, 2000);
  other.subject = ExamplePlan(3);
  EXPECT_DOUBLE_EQ(Board({lucky, again, other})->modes[0].Find("lt_auto_max")->all.mean, 2.5);
}

TEST(Selection, AKernelThatWasTimedOnMoreClocksGoesFirst) {
  Trial full = Raced(kTinyShape, kTn, 1000, 3000, 2000), quick = Raced(kTinyShape, kTn, 900, 3000, 2000);
  quick.subject = ExamplePlan(3);
  full.outcome.timings.push_back(Time("ours", 4000, Clock::kServer));
  EXPECT_DOUBLE_EQ(Board({full, quick})->modes[0].Find("lt_auto_max")->all.mean, 2);
}

// The first race was of a cooler GPU.
TEST(Selection, WhereCampaignsDecidedTheLastOneSpeaks) {
  Trial before = Raced(kTinyShape, kTn, 900, 2700, 1800), since = Raced(kTinyShape, kTn, 1000, 3000, 2500),
        quick = Raced(kTinyShape, kTn, 800, 3000, 2000);
  before.campaign = "before", since.campaign = "since", quick.campaign = "quick";
  since.unix_ms = before.unix_ms + 1, quick.unix_ms = before.unix_ms + 2;
  since.subject = ExamplePlan(3), quick.subject = ExamplePlan(4);
  for (Trial* decisive : {&before, &since}) decisive->outcome.timings.push_back(Time("ours", 4000, Clock::kServer));
  EXPECT_DOUBLE_EQ(Board({before, since, quick})->modes[0].Find("lt_auto_max")->all.mean, 2.5);
  EXPECT_DOUBLE_EQ(Board({before, quick})->modes[0].Find("lt_auto_max")->all.mean, 2);
}

TEST(Selection, ALaterRaceOfRepeatedCallsDoesNotSpeakBeforeOneOnTheRing) {
  Trial ring = Raced(kTinyShape, kTn, 1000, 3000, 2000), repeated = Raced(kTinyShape, kTn, 500, 3000, 2000);
  for (Timing& timing : ring.outcome.timings) timing.clock = Clock::kDeviceCold;
  for (Comparison& comparison : ring.outcome.comparisons) comparison.clock = Clock::kDeviceCold;
  ring.campaign = "ring", repeated.campaign = "repeated";
  repeated.unix_ms = ring.unix_ms + 1;
  repeated.subject = ExamplePlan(3);
  for (Trial* decisive : {&ring, &repeated}) decisive->outcome.timings.push_back(Time("ours", 4000, Clock::kServer));
  const Result<Scoreboard> board = Board({ring, repeated});
  ASSERT_TRUE(board.ok());
  EXPECT_EQ(board->selection.leading, Clock::kDeviceCold);
  EXPECT_EQ(board->modes[0].mode, Clock::kDeviceCold);
  EXPECT_DOUBLE_EQ(board->modes[0].Find("lt_auto_max")->all.mean, 2);
  repeated.subject = ring.subject;
  EXPECT_EQ(Board({ring, repeated})->modes[0].mode, Clock::kDeviceCold) << "of the same kernel too";
}

TEST(Selection, TheShortProtocolSpeaksWhereThereIsAnyUnlessAnotherIsAskedFor) {
  Trial screen = Raced(kSplitKShape, kTn, 1000, 5000, 5000), precise = Raced(kTinyShape, kTn, 1000, 3000, 2000);
  Trial lasting = Raced(kTinyShape, kTn, 1000, 4000, 4000);
  screen.outcome.protocol = Protocol::kScreen;
  lasting.outcome.protocol = Protocol::kLong;
  EXPECT_EQ(Board({screen, precise, lasting})->selection.protocol, Protocol::kShort);
  EXPECT_EQ(Board({screen, precise, lasting})->shapes, 1);
  EXPECT_EQ(Board({screen, lasting})->selection.protocol, Protocol::kLong);
  EXPECT_EQ(Board({screen, precise}, std::nullopt, {.protocol = Protocol::kScreen})->shapes, 1);
  EXPECT_EQ(SelectRecords({screen}, {.protocol = Protocol::kLong}).status().message(),
            "no measurement in the long protocol; there are those in the screen one");
}

TEST(Selection, WhatIsNotOfOneDeviceTypeOrShapeIsRefusedInWords) {
  std::vector<Trial> trials = ThreeShapes();
  EXPECT_EQ(SelectRecords({}, {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(SelectRecords(trials, {.number_types = {ScalarType::kBf16}}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(SelectRecords(trials, {.shapes = std::vector<Shape>{{1, 1, 1}}}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(SelectRecords(trials, {.shapes = std::vector<Shape>{kTinyShape}})->other_shapes, 2);
  trials[0].setting.device_key = "h100";
  EXPECT_EQ(SelectRecords(trials, {}).status().message(), "the records are of h100 and h200: choose one with --device");
  EXPECT_EQ(SelectRecords(trials, {.device_key = "h100"})->shapes.size(), 1u);
  EXPECT_EQ(SelectRecords(trials, {.device_key = "a100"}).status().code(), StatusCode::kNotFound);
}

TEST(Selection, ProblemsWithAConstantBStandByThemselves) {
  std::vector<Trial> trials = ThreeShapes();
  trials.push_back(Raced(kTinyShape, kTn, 1, 3000, 2000));
  trials.back().gemm.kind.constant_b = true;
  EXPECT_EQ(SelectRecords(trials, {})->shapes.size(), 3u);
  EXPECT_DOUBLE_EQ(SelectRecords(trials, {})->shapes[0].ours.at(kTn)->outcome.TimeNs(), 1500);
  const Result<Selection> constant = SelectRecords(trials, {.number_types = {.constant_b = true}});
  ASSERT_EQ(constant->shapes.size(), 1u);
  EXPECT_DOUBLE_EQ(constant->shapes[0].ours.at(kTn)->outcome.TimeNs(), 1);
}

TEST(Selection, ProblemsWithF16AccumulationStandByThemselves) {
  const NumberTypes in_f16{ScalarType::kF16, Accumulation::kF16};
  Trial f32 = Raced(kTinyShape, kTn, 1000, 3000, 2000), f16 = Raced(kTinyShape, kTn, 800, 3000, 2000);
  EXPECT_EQ(SelectRecords({f32}, {.number_types = in_f16}).status().message(),
            "nothing was measured of problems with f16 in and out, f16 accumulation among these 1 records");
  f16.gemm.kind.accumulation = Accumulation::kF16;
  const std::vector<Trial> trials = {f32, f16};
  const Result<Scoreboard> usual = Board(trials), asked_for = Board(trials, std::nullopt, {.number_types = in_f16});
  EXPECT_DOUBLE_EQ(usual->modes[0].Find("lt_auto_max")->all.mean, 2);
  EXPECT_DOUBLE_EQ(asked_for->modes[0].Find("lt_auto_max")->all.mean, 2.5);
  EXPECT_EQ(ReportJson(*usual, "x")["accumulation"], "f32");
  EXPECT_EQ(ReportJson(*asked_for, "x")["accumulation"], "f16");
}

TEST(Selection, FailedTrialsAndThoseWithoutTimesAreNoRecordsOfOurs) {
  Trial wrong = Raced(kTinyShape, kTn, 1000, 3000, 2000), timeless = Measured(kTinyShape, kTn);
  wrong.outcome.kind = OutcomeKind::kWrong;
  EXPECT_EQ(SelectRecords({wrong, timeless}, {}).status().code(), StatusCode::kNotFound);
  Trial damaged = Raced(kTinyShape, kTn, 1000, 3000, 2000);
  damaged.outcome.timings[0].median_ns = std::nan("");
  EXPECT_EQ(Board({damaged}).status().code(), StatusCode::kNotFound) << "no time, no ratio";
}

TEST(Energies, StandByShapeWithTheThriftiestOfOursFirst) {
  const auto with_energy = [](Trial trial, double joules) {
    Timing ours = Time("ours", 500'000, Clock::kEnergy), auto_tn = Time("lt_auto_tn", 550'000, Clock::kEnergy);
    ours.energy = Energy{joules, {joules, joules}, 690, 1600};
    auto_tn.energy = Energy{0.4, {0.4, 0.4}, 700, 1650};
    trial.outcome.timings.push_back(ours);
    trial.outcome.timings.push_back(auto_tn);
    trial.outcome.comparisons.push_back(Ratio("lt_auto_tn", 0.4 / joules, 0.01, 6, Clock::kEnergy));
    return trial;
  };
  Trial faster = with_energy(Raced(kLargeShape, kTn, 1050, 3000, 2000), 0.34);
  faster.subject = ExamplePlan(3);
  const std::vector<Trial> trials = {with_energy(Raced(kLargeShape, kNn, 1000, 3000, 2000), 0.35), faster,
                                     with_energy(Raced(kLargeShape, kTn, 1100, 3000, 2000), 0.32),
                                     Raced(kTinyShape, kTn, 1000, 3000, 2000)};
  const std::vector<EnergyRow> rows = EnergyRows(*SelectRecords(trials, {}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].contender, "ours");
  EXPECT_EQ(rows[0].energy.joules, 0.32);
  EXPECT_NEAR(rows[0].tflops, 2 * kLargeShape.Volume() / 500'000 / 1e3, 1e-9);
  EXPECT_EQ(rows[0].over, std::nullopt);
  EXPECT_NEAR(rows[1].over->median, 1.25, 1e-12);
  EXPECT_EQ(EnergySheet(rows).rows.size(), 2u);
  const Scoreboard board = *Board(trials);
  EXPECT_EQ(ReportJson(board, "x")["energy"].size(), 2u);
  for (const ModeTable& table : board.modes) EXPECT_NE(table.mode, Clock::kEnergy);
}

// AutoTuning nn is 5 % slower than the heuristic's, tn as fast; both tn are one algorithm.
Trial RaceOfChoices() {
  Trial race = Measured(kTinyShape, kTn);
  race.subject = Nobody();
  race.outcome.timings = {Time("lt_auto_nn", 105), Time("lt_heuristic_nn", 100), Time("lt_auto_tn", 100),
                          Time("lt_heuristic_tn", 100)};
  race.outcome.comparisons = {Ratio("lt_heuristic_nn", 1 / 1.05, 0.01)};
  race.outcome.comparisons[0].contender = "lt_auto_nn";
  race.outcome.baseline_algorithms = {{"lt_auto_nn", "id1, best of 8 candidates"}, {"lt_heuristic_nn", "id2"}};
  return race;
}

TEST(Choices, OfAutoTuningThatAreSlowerThanTheHeuristicsAreNamed) {
  Trial race = RaceOfChoices();
  const std::vector<ChoiceRow> rows = ChoiceRows(*SelectRecords({race}, {}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].layout, kNn);
  EXPECT_DOUBLE_EQ(rows[0].statistics.geomean, 1 / 1.05);
  EXPECT_EQ(rows[0].statistics.clear_losses, 1);
  ASSERT_EQ(rows[0].slower.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0].slower[0].Slowdown(), 1.05);
  EXPECT_FALSE(rows[0].slower[0].same_algorithm);
  EXPECT_TRUE(rows[1].slower.empty());
  EXPECT_EQ(SlowerSheet(rows).rows.size(), 1u);
  EXPECT_EQ(ChoiceSheet(rows, Clock::kDevice).rows[0][6], "1");
  race.outcome.baseline_algorithms[1].second = "id1";
  EXPECT_TRUE(ChoiceRows(*SelectRecords({race}, {}))[0].slower[0].same_algorithm);
  EXPECT_TRUE(ChoiceRows(*SelectRecords(ThreeShapes(), {})).empty()) << "nobody ran the heuristic's";
}

TEST(Choices, StandInJsonAndCsvToo) {
  const std::vector<Trial> trials = {RaceOfChoices()};
  const Scoreboard board = *Board(trials);
  const auto nn = ReportJson(board, "here")["autotuning_over_heuristic"]["nn"];
  EXPECT_EQ(nn["shapes"], 1);
  EXPECT_EQ(nn["slower_by_2_percent"], 1);
  EXPECT_EQ(nn["slower"][0]["shape"], "64x64x64");
  EXPECT_DOUBLE_EQ(nn["slower"][0]["slowdown"], 1.05);
  EXPECT_NE(ReportCsv(board).find("\nautotuning_over_heuristic,device,lt_auto_nn,all,1,"), std::string::npos);
}

TEST(ReportJson, HasItsKeysAndKeepsRatiosAsRatios) {
  const nlohmann::ordered_json json = ReportJson(*Board(ThreeShapes()), "here");
  EXPECT_EQ(json["device"], "NVIDIA H200");
  EXPECT_EQ(json["date"], "2026-11-21");
  EXPECT_EQ(json["protocol"], "short");
  EXPECT_EQ(json["shapes"], 3);
  const auto& max = json["modes"]["device"]["lt_auto_max"];
  for (const char* key : {"mean", "geomean", "median", "std", "wins", "min", "flop_weighted", "shapes"})
    EXPECT_TRUE(max.contains(key)) << key;
  EXPECT_DOUBLE_EQ(max["mean"], 1.25);
  EXPECT_EQ(max["wins"], 2);
  EXPECT_EQ(max["clear_wins"], 2);
  EXPECT_EQ(max["clear_losses"], 1);
  EXPECT_DOUBLE_EQ(max["with_fallback"]["min"], 1.0);
  for (const char* name : {"tiny", "splitk", "skinny", "mid", "upper", "store", "large"})
    for (const char* key : {"shapes", "device_geomean", "offline_mean", "wins", "clear_wins"})
      EXPECT_TRUE(json["classes"][name].contains(key)) << name << " " << key;
  EXPECT_DOUBLE_EQ(json["classes"]["tiny"]["device_geomean"], 2);
  EXPECT_TRUE(json["classes"]["tiny"]["offline_mean"].is_null());
  EXPECT_EQ(json["classes"]["mid"]["shapes"], 0);
  EXPECT_DOUBLE_EQ(json["figures"]["figure_1"]["device"]["lt_auto_max"], 1.25);
  const auto& buckets = json["figures"]["figure_3"]["device"]["lt_auto_max"];
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[1]["log2_low"], 28);
  EXPECT_EQ(buckets[1]["log2_high"], 30);
  EXPECT_DOUBLE_EQ(buckets[1]["mean"], 1.25);
  EXPECT_GT(json["floor_ratio_mean"].get<double>(), 0);
}

TEST(ReportCsv, EveryLineHasTheHeadersFields) {
  const std::string csv = ReportCsv(*Board(ThreeShapes()));
  size_t begin = 0, lines = 0;
  for (size_t end = csv.find('\n'); end != csv.npos; begin = end + 1, end = csv.find('\n', begin), ++lines)
    EXPECT_EQ(std::count(csv.begin() + long(begin), csv.begin() + long(end), ','), 15)
        << csv.substr(begin, end - begin);
  EXPECT_EQ(begin, csv.size());
  EXPECT_GT(lines, 6u);
  EXPECT_NE(csv.find("\ntable1,device,lt_auto_max,all,3,1.25,"), std::string::npos) << csv;
}

TEST(Tables, SpeedUpsAreRatiosMinusOneInPerCent) {
  const Scoreboard board = *Board(ThreeShapes());
  const Sheet one = TableOne(board, board.modes[0]);
  ASSERT_EQ(one.rows.size(), 3u);
  EXPECT_EQ(one.rows[2][0], "lt_auto_max");
  EXPECT_EQ(one.rows[2][2], "+25.0 %");
  EXPECT_EQ(one.rows[2][6], "-50.0 %");
  EXPECT_EQ(one.rows[2][8], "2 (2)");
  EXPECT_NE(one.caption.find("t_baseline / t_ours - 1"), std::string::npos);
  EXPECT_EQ(TableTwo(board, board.modes[0]).rows[2][6], "+0.0 %");
  EXPECT_EQ(SummaryTable(board).rows[0][2], "1.250x");
  EXPECT_EQ(SummaryTable(board).columns.back().title, "wins (clear)");
}

TEST(Tables, WinsThatNoIntervalTellsAreNotCalledClear) {
  const auto cell_of = [](std::vector<Comparison> comparisons) {
    Trial trial = Raced(kTinyShape, kTn, 1000, 3000, 2000);
    trial.outcome.comparisons = std::move(comparisons);
    return SummaryTable(*Board({trial})).rows[0].back();
  };
  EXPECT_EQ(cell_of({}), "1 (-)");
  EXPECT_EQ(cell_of({Ratio("lt_auto_tn", 2, 1.5), Ratio("lt_auto_nn", 3, 1.5)}), "1 (0)");
}

TEST(Tables, AClockOfFewerShapesThanItsRowSaysOfHowMany) {
  Trial both = Raced(kTinyShape, kTn, 1000, 3000, 2000);
  both.outcome.timings.push_back(Time("ours", 1000, Clock::kOffline));
  both.outcome.timings.push_back(Time("lt_auto_tn", 4000, Clock::kOffline));
  both.outcome.comparisons.push_back(Ratio("lt_auto_tn", 4, 0.1, 20, Clock::kOffline));
  const Shape other = {kTinyShape.n, kTinyShape.m, kTinyShape.k * 2};
  ASSERT_EQ(Classify(other), Classify(kTinyShape));
  const Scoreboard board = *Board({both, Raced(other, kTn, 1000, 3000, 1500)});
  const Sheet by_class = ClassTable(board);
  EXPECT_EQ(by_class.rows,
            (std::vector<std::vector<std::string>>{{"tiny", "2", "1.732x", "2 (2)", "4.000x", "1 of 1 (1)"}}));
}

TEST(Tables, MarkdownIsATable) {
  const Sheet sheet{"Caption", {{"name", false}, {"value"}}, {{"a|b", "1"}, {"c", "23"}}};
  EXPECT_EQ(Markdown(sheet),
            "**Caption**\n\n"
            "| name | value |\n"
            "| ---- | ----: |\n"
            "| a\\|b |     1 |\n"
            "| c    |    23 |\n");
}

}  // namespace
}  // namespace gemmsmith
