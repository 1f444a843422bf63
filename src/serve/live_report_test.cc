#include "serve/live_report.h"

#include <gtest/gtest.h>

#include "archive/example_trials.h"
#include "archive/replay.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr Shape kFirst{64, 64, 64}, kSecond{128, 256, 512};

Trial Judged(const Shape& shape, int plan, double ours_ns) {
  Trial trial{.gemm = {.shape = shape, .kind = {.layout = kTn}}, .subject = ExamplePlan(plan)};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = Protocol::kShort;
  for (const auto& [contender, ns] : {std::pair("ours", ours_ns), {"lt_auto_nn", 2000.0}, {"lt_auto_tn", 2400.0}})
    trial.outcome.timings.push_back({.contender = contender, .median_ns = ns, .mean_ns = ns, .sample_count = 20});
  for (const auto& [baseline, ns] : {std::pair("lt_auto_nn", 2000.0), {"lt_auto_tn", 2400.0}})
    trial.outcome.comparisons.push_back(
        {baseline, Clock::kDevice, {ns / ours_ns, ns / ours_ns, {ns / ours_ns, ns / ours_ns}, 20}});
  trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
  trial.unix_ms = 1'000'000'000'000;
  trial.campaign = "a run";
  return trial;
}

class LiveReportTest : public testing::Test {
 protected:
  LiveReportOptions Options() const { return {.archive = path_}; }
  void Store(const std::vector<Trial>& trials) const {
    const auto archive = Archive::Open(path_);
    ASSERT_TRUE(archive.ok() && (*archive)->Add(trials).ok());
  }
  static HttpAnswer Get(const LiveReport& report, const std::string& path) {
    return report.Answer({.method = "GET", .path = path, .headers = {}});
  }
  static Json StatusOf(const LiveReport& report) { return Json::parse(*Get(report, "/status.json").body); }
  static Json DataOf(const LiveReport& report) { return Json::parse(*Get(report, "/data.json").body); }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-live-report-test");
  const std::filesystem::path path_ = folder_.path() / "archive.sqlite";
};

TEST_F(LiveReportTest, WaitsForAnArchiveAndMakesNone) {
  LiveReport report(Options());
  EXPECT_EQ(report.Refresh().code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(StatusOf(report)["version"].is_null());
  EXPECT_NE(StatusOf(report)["trouble"].get<std::string>().find("no archive at " + path_.string()), std::string::npos);
  EXPECT_EQ(Get(report, "/data.json").status, 404);
  EXPECT_EQ(Get(report, "/").status, 200);
  EXPECT_EQ(Get(report, "/anything").status, 404);

  Store({});
  EXPECT_EQ(report.Refresh().code(), StatusCode::kNotFound) << "empty";
  Store({Judged(kFirst, 1, 1000)});
  EXPECT_TRUE(report.Refresh().ok());
  EXPECT_TRUE(StatusOf(report)["trouble"].is_null());
  EXPECT_EQ(DataOf(report)["shapes"]["m"], Json({64}));
}

TEST_F(LiveReportTest, DataIsMadeAnewWhenTrialsCameAndOnlyThen) {
  Store({Judged(kFirst, 1, 1000)});
  LiveReport report(Options());
  ASSERT_TRUE(report.Refresh().ok());
  const HttpAnswer before = Get(report, "/data.json");
  EXPECT_EQ(StatusOf(report)["version"], before.tag);
  ASSERT_TRUE(report.Refresh().ok());
  EXPECT_EQ(Get(report, "/data.json").body, before.body) << "the very same text, not made again";

  Store({Judged(kSecond, 1, 1600)});
  ASSERT_TRUE(report.Refresh().ok());
  EXPECT_NE(Get(report, "/data.json").tag, before.tag);
  EXPECT_EQ(StatusOf(report)["version"], Get(report, "/data.json").tag);
  EXPECT_EQ(DataOf(report)["shapes"]["m"], Json({64, 128}));
}

TEST_F(LiveReportTest, ManyTrialsComeInSeveralTransactionsAndNoneIsLost) {
  std::vector<Trial> trials;
  for (int i = 0; i < 4500; ++i) trials.push_back(Judged(i % 2 == 0 ? kFirst : kSecond, i, 1000 + i));
  Store(trials);
  LiveReport report(Options());
  ASSERT_TRUE(report.Refresh().ok());
  const size_t distinct = (*Archive::Open(path_))->Load({})->size();
  EXPECT_GT(distinct, 4000u);
  EXPECT_EQ(StatusOf(report)["trials"], distinct);
}

TEST_F(LiveReportTest, SaysHowFarTheRunHasCome) {
  LiveReportOptions options = Options();
  options.selection.shapes = {kFirst, kSecond, {32, 32, 32}};
  LiveReport report(options);
  Store({Judged(kFirst, 1, 1000), Judged(kFirst, 2, 800), Judged({16, 16, 16}, 1, 500)});
  ASSERT_TRUE(report.Refresh().ok());
  Trial wrong = Judged(kSecond, 1, 1);
  wrong.outcome = {.kind = OutcomeKind::kWrong, .protocol = Protocol::kShort};
  Store({Judged(kSecond, 2, 1600), wrong});
  ASSERT_TRUE(report.Refresh().ok());
  const Json status = StatusOf(report);
  EXPECT_EQ(status["trials"], 5);
  EXPECT_EQ(status["candidates"], 4) << "of the shapes that were asked for";
  EXPECT_EQ(status["shapes"], 2);
  EXPECT_EQ(status["shapes_asked"], 3);
  EXPECT_EQ(status["latest"]["shape"], "128x256x512");
  EXPECT_EQ(status["latest"]["candidates"], 2);
  EXPECT_EQ(status["latest"]["best_ns"], 1600);
  EXPECT_EQ(status["latest"]["over_autotuning"], 1.25) << "the harder of the two";
}

TEST_F(LiveReportTest, TellsOldTrialsFromThoseThatCameWhileItWatched) {
  Store({Judged(kFirst, 1, 1000)});
  LiveReport report(Options());
  ASSERT_TRUE(report.Refresh().ok());
  EXPECT_GT(StatusOf(report)["newest_ms_ago"], 1'000'000'000) << "stored in 2001";
  Store({Judged(kSecond, 1, 1000)});
  ASSERT_TRUE(report.Refresh().ok());
  EXPECT_LT(StatusOf(report)["newest_ms_ago"], 1'000'000'000) << "imported today";
}

TEST_F(LiveReportTest, AnswersOfAReplayAreCountedAndLeftOut) {
  Trial replayed = Judged(kFirst, 1, 1000);
  replayed.campaign = std::string(kReplayPrefix) + "x";
  Store({replayed});
  LiveReport report(Options());
  EXPECT_EQ(report.Refresh().code(), StatusCode::kNotFound);
  EXPECT_EQ(StatusOf(report)["replayed"], 1);
  EXPECT_EQ(StatusOf(report)["candidates"], 0);
}

TEST_F(LiveReportTest, RecordsOfASecondDeviceAreTroubleAndTheOldDataStands) {
  Store({Judged(kFirst, 1, 1000)});
  LiveReport report(Options());
  ASSERT_TRUE(report.Refresh().ok());
  const HttpAnswer before = Get(report, "/data.json");
  Trial other = Judged(kSecond, 1, 1000);
  other.setting.device_key = "l40s";
  Store({other});
  EXPECT_EQ(report.Refresh().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(report.Refresh().code(), StatusCode::kInvalidArgument) << "and still is";
  EXPECT_NE(StatusOf(report)["trouble"].get<std::string>().find("--device"), std::string::npos);
  EXPECT_EQ(Get(report, "/data.json").tag, before.tag);
}

TEST_F(LiveReportTest, AnArchiveInThePlaceOfAnotherIsReadFromItsBeginning) {
  Store({Judged(kFirst, 1, 1000), Judged(kFirst, 2, 1000)});
  LiveReport report(Options());
  ASSERT_TRUE(report.Refresh().ok());
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
  EXPECT_EQ(report.Refresh().code(), StatusCode::kNotFound);
  EXPECT_EQ(DataOf(report)["shapes"]["m"], Json({64})) << "what was seen stands";
  Store({Judged(kSecond, 1, 1000)});
  ASSERT_TRUE(report.Refresh().ok());
  EXPECT_EQ(DataOf(report)["shapes"]["m"], Json({128}));
  EXPECT_EQ(StatusOf(report)["trials"], 1);
}

TEST_F(LiveReportTest, ADamagedArchiveIsTroubleNotTheEnd) {
  ASSERT_TRUE(WriteFileAtomic(path_, std::string(10'000, 'x')).ok());
  LiveReport report(Options());
  EXPECT_EQ(report.Refresh().code(), StatusCode::kDataLoss);
  EXPECT_NE(StatusOf(report)["trouble"].get<std::string>().find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
