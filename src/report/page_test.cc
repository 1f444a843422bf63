#include "report/page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr Shape kSmall{64, 64, 64}, kLarge{128, 256, 512};

Timing PageTiming(std::string contender, double ns) {
  return {.contender = std::move(contender),
          .median_ns = ns,
          .mean_ns = ns,
          .interval = {ns * 0.99, ns * 1.02},
          .sample_count = 20};
}

Trial Candidate(const Shape& shape, int plan, double ours_ns, Protocol protocol, int64_t unix_ms) {
  Trial trial{.gemm = {.shape = shape, .kind = {.layout = kTn}}, .subject = ExamplePlan(plan)};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = protocol;
  trial.outcome.timings = {PageTiming("ours", ours_ns)};
  trial.setting = {.device_key = "h200", .device_name = "NVIDIA H200"};
  trial.unix_ms = unix_ms;
  return trial;
}

Trial Raced(const Shape& shape, double ours_ns, double baseline_ns, double half_width,
            const std::string& baseline = "lt_auto_nn") {
  Trial trial = Candidate(shape, 0, ours_ns, Protocol::kShort, 100);
  trial.outcome.timings.push_back(PageTiming(baseline, baseline_ns));
  const double ratio = baseline_ns / ours_ns;
  trial.outcome.comparisons = {
      {baseline, Clock::kDevice, {ratio, ratio, {ratio - half_width, ratio + half_width}, 20}}};
  return trial;
}

PageContent Content(const std::vector<Trial>& trials) { return *MakePageContent("a record", trials, {}, std::nullopt); }

TEST(Histories, KeepEveryCandidateThatWasFasterThanAllBeforeIt) {
  std::vector<Trial> trials = {
      Candidate(kSmall, 1, 3000, Protocol::kScreen, 2), Candidate(kSmall, 2, 5000, Protocol::kScreen, 1),
      Candidate(kSmall, 3, 4000, Protocol::kScreen, 4), Candidate(kSmall, 4, 2000, Protocol::kScreen, 5),
      Candidate(kSmall, 4, 1900, Protocol::kShort, 6)};
  trials.push_back(Candidate(kSmall, 5, 1, Protocol::kScreen, 3));
  trials.back().outcome = {.kind = OutcomeKind::kWrong, .protocol = Protocol::kScreen};
  const SearchHistories histories = Content(trials).histories;
  EXPECT_EQ(histories.protocol, Protocol::kScreen);
  ASSERT_EQ(histories.problems.size(), 1u);
  const SearchHistory& history = histories.problems[0];
  EXPECT_EQ(history.candidates(), 5);
  EXPECT_EQ(history.outcomes.at(OutcomeKind::kWrong), 1);
  ASSERT_EQ(history.bests.size(), 3u);
  EXPECT_EQ(history.bests[0].candidate, 1);
  EXPECT_EQ(history.bests[1].candidate, 2);
  EXPECT_EQ(history.bests[2].candidate, 5) << "the wrong one counts as a candidate";
  EXPECT_EQ(history.bests[2].time_ns, 2000);
}

TEST(Histories, AreEmptyWithoutCandidates) {
  Trial race = Raced(kSmall, 1000, 2000, 0.1);
  race.subject = Nobody{};
  race.outcome.timings[0].contender = "cublas_nn";
  EXPECT_TRUE(Content({race}).histories.problems.empty());
}

TEST(PageData, HoldsAColumnForEachRowInTheOrderOfTheShapes) {
  const Json data = PageData(Content({Raced(kSmall, 1000, 2000, 0.1), Raced(kLarge, 2000, 1900, 0.01)}));
  EXPECT_EQ(data["shapes"]["m"], Json({64, 128}));
  const Json& row = data["modes"]["device"]["rows"]["lt_auto_nn"];
  EXPECT_EQ(row["ratio"], Json({2, 0.95}));
  EXPECT_EQ(row["verdict"], Json({2, -2}));
  EXPECT_EQ(row["low"][0], -500) << "ten-thousandths of 2";
  EXPECT_EQ(data["modes"]["device"]["times"]["ours_max"], Json({1000, 2000}));
  EXPECT_EQ(data["report"]["modes"]["device"]["lt_auto_nn"]["clear_wins"], 1);
  EXPECT_EQ(data["runs"]["role"], Json({"ours", "ours"}));
  EXPECT_EQ(data["runs"]["median_ns"][0], Json({1000, 2000}));
  EXPECT_EQ(data["runs"]["low"][0], Json({-100, -100}));
}

TEST(PageData, WhereMediansAloneWereRecordedARunHasNoInterval) {
  Trial trial = Raced(kSmall, 1000, 2000, 0.1);
  for (Timing& timing : trial.outcome.timings) timing.interval = {};
  const Json data = PageData(Content({trial}));
  EXPECT_EQ(data["runs"]["low"][0], Json({nullptr, nullptr}));
  EXPECT_EQ(data["runs"]["high"][0], Json({nullptr, nullptr}));
}

TEST(PageData, WithoutAnythingToCompareSaysSoAndKeepsTheTimes) {
  const Json data = PageData(Content({Candidate(kSmall, 0, 1234.5678, Protocol::kShort, 1)}));
  EXPECT_TRUE(data["report"].is_null());
  EXPECT_NE(data["not_compared"].get<std::string>().find("no two contenders"), std::string::npos);
  EXPECT_EQ(data["modes"]["device"]["times"]["ours_max"], Json({1234.57}));
}

TEST(PageData, OfAnUnknownDeviceHasNoFloor) {
  Trial trial = Raced(kSmall, 1000, 2000, 0.1);
  trial.setting.device_key = "other";
  const Json data = PageData(Content({trial}));
  EXPECT_TRUE(data["ceilings"].is_null());
  EXPECT_TRUE(data["shapes"]["floor_ns"][0].is_null());
}

TEST(PageData, HasTheCurvesOfSearchesWhereSomebodyBringsThem) {
  const std::vector<Trial> trials = {Raced(kSmall, 1000, 2000, 0.1)};
  PageContent content = Content(trials);
  EXPECT_TRUE(PageData(content)["comparison"].is_null());
  content.comparison = SearchComparison{.shapes = 1, .problems = 2, .curves = {{.name = "policy"}}};
  content.comparison->curves[0].scores = {{.mean = 0.5, .interval = {0.25, 0.75}}, {.mean = 1, .interval = {1, 1}}};
  const Json comparison = PageData(content)["comparison"];
  EXPECT_EQ(comparison["problems"], 2);
  EXPECT_EQ(comparison["budgets"].back(), 64);
  EXPECT_EQ(comparison["curves"][0]["name"], "policy");
  EXPECT_EQ(comparison["curves"][0]["mean"], Json({0.5, 1}));
  EXPECT_EQ(comparison["curves"][0]["low"], Json({0.25, 1}));
}

TEST(HtmlPage, NoNameEndsTheScriptThatHoldsIt) {
  const std::string name = "</script><script>alert(1)</script><!--";
  const std::string plain = HtmlPage(Content({Raced(kSmall, 1000, 2000, 0.1)}));
  const std::string sly = HtmlPage(Content({Raced(kSmall, 1000, 2000, 0.1, name)}));
  EXPECT_EQ(sly.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(sly.find("\\u003c/script>\\u003cscript>alert(1)"), std::string::npos);
  for (const std::string place : {"@CONNECTIONS@", "@STYLE@", "@LIBRARY@", "@DATA@", "@SCRIPT@"})
    EXPECT_EQ(plain.find(place), std::string::npos) << place;
}

TEST(HtmlPage, OnlyTheLiveOneMayAskItsServer) {
  EXPECT_NE(HtmlPage(Content({Raced(kSmall, 1000, 2000, 0.1)})).find("connect-src 'none'"), std::string::npos);
  EXPECT_NE(LivePage().find("connect-src 'self'"), std::string::npos);
  EXPECT_NE(LivePage().find("id=\"data\">null</script>"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
