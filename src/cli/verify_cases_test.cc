#include "cli/verify_cases.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gemmsmith {
namespace {

constexpr Terminal kPlain{};

class SelfTestAnswer : public testing::Test {
 protected:
  SelfTestAnswer() {
    Add("timing_side_stream", {OutcomeKind::kCheated, OutcomeKind::kWrong}, "an unjoined stream");
    See(OutcomeKind::kCheated, "honesty", "", "work goes on");
    See(OutcomeKind::kCheated, "honesty", "", "work goes on");
    Add("inputs_missed", {OutcomeKind::kWrong}, "something subtle");
    See(OutcomeKind::kWrong, "correctness", "binary", "got 1, expected 2");
    See(OutcomeKind::kMeasured, "", "", "");
    Add("naive", {}, "plain CUDA");
    See(OutcomeKind::kMeasured, "", "", "");
    See(OutcomeKind::kMeasured, "", "", "");
    for (CaseReport& report : reports_) report.verdict = VerdictOn(*report.tested, report.seen);
  }

  void Add(std::string name, std::vector<OutcomeKind> expected, std::string subject) {
    auto made = std::make_unique<Case>();
    made->kind = expected.empty() ? "honest" : "timing";
    made->name = std::move(name);
    made->subject = std::move(subject);
    made->expected = std::move(expected);
    made->gemm.shape = {64, 64, 64};
    reports_.push_back({.tested = made.get()});
    cases_.push_back(std::move(made));
  }
  void See(OutcomeKind kind, std::string stage, std::string test, std::string reason) {
    Sighting sighting{.seed = reports_.back().seen.size() + 1};
    sighting.outcome.kind = kind;
    sighting.outcome.stage = std::move(stage);
    sighting.outcome.verdict.test = std::move(test);
    sighting.outcome.reason = std::move(reason);
    reports_.back().seen.push_back(std::move(sighting));
  }

  std::vector<std::unique_ptr<Case>> cases_;
  std::vector<CaseReport> reports_;
};

TEST_F(SelfTestAnswer, TheMatrixHasARowACaseAndSaysWhereItWasCaught) {
  const std::string text = SelfTestText(reports_, 2, kPlain);
  EXPECT_NE(text.find("cheated|wrong"), std::string::npos) << text;
  EXPECT_NE(text.find("wrong, measured"), std::string::npos) << text;
  EXPECT_NE(text.find("correctness: binary, -"), std::string::npos) << text;
  EXPECT_NE(text.find("passes"), std::string::npos) << text;
}

TEST_F(SelfTestAnswer, WhatIsNotAsExpectedIsToldWithItsReasons) {
  const std::string text = SelfTestText(reports_, 2, kPlain);
  EXPECT_NE(text.find("missed inputs_missed: something subtle\n"
                      "  seed 1: wrong at correctness: binary: got 1, expected 2\n"
                      "  seed 2: measured\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1 of 2 broken kernels caught as expected, 0 caught otherwise, 1 missed; 1 of 1 honest kernel "
                      "passed, 0 false alarms; 2 seeds\n"),
            std::string::npos)
      << text;
}

TEST_F(SelfTestAnswer, JsonHoldsEverySeed) {
  const Json json = SelfTestJson(reports_, 2);
  EXPECT_EQ(json["all_as_expected"], false);
  EXPECT_EQ(json["missed"], 1);
  EXPECT_EQ(json["cases"].size(), 3u);
  EXPECT_EQ(json["cases"][1]["verdict"], "missed");
  EXPECT_EQ(json["cases"][1]["seen"][0]["test"], "binary");
  EXPECT_EQ(json["cases"][1]["seen"][1]["outcome"], "measured");
  EXPECT_EQ(json["cases"][2]["honest"], true);
}

TEST_F(SelfTestAnswer, WhatCouldNotBeJudgedSaysWhy) {
  reports_.resize(1);
  reports_[0].seen.clear();
  reports_[0].verdict = CaseVerdict::kNotJudged;
  reports_[0].why_not = "the GPU is lost";
  const std::string text = SelfTestText(reports_, 2, kPlain);
  EXPECT_NE(text.find("not_judged timing_side_stream: an unjoined stream\n  the GPU is lost\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1 not judged"), std::string::npos) << text;
}

}  // namespace
}  // namespace gemmsmith
