#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "archive/segment.h"
#include "base/text.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

const std::string kRecorded = GEMMSMITH_DATA "/h200";

class ReportTest : public testing::Test {
 protected:
  Home home;
  std::string lines = home.File("trials.jsonl", JsonLines(MadeUpTrials({64, 64, 64}, 40, kTn)));
};

TEST_F(ReportTest, TheRecordedSpaceGivesEveryTable) {
  const Finished text = home.Run({"report", kRecorded});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  for (const char* part :
       {"NVIDIA H200", "short protocol", "Table 1, device", "Table 2, device", "Table 1, offline", "lt_auto_max",
        "cublas_tn", "By class", "Figure 3", "AutoTuning over the heuristic's choice"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  const nlohmann::json json = Parsed(home.Run({"report", kRecorded, "--json"}).out);
  EXPECT_EQ(json["command"], "report");
  EXPECT_EQ(json["shapes"], 100);
  EXPECT_EQ(json["other_shapes"], 20);
  EXPECT_EQ(json["date"], "2026-11-21");
  const nlohmann::json& max = json["modes"]["device"]["lt_auto_max"];
  EXPECT_EQ(max["shapes"], 100);
  EXPECT_NEAR(max["geomean"].get<double>(), 1.077, 0.001);
  EXPECT_EQ(max["wins"], 51);
  EXPECT_EQ(max["clear_wins"], 50);
  EXPECT_GE(max["with_fallback"]["min"], 1.0);
}

TEST_F(ReportTest, TheSummaryFitsAScreen) {
  const Finished summary = home.Run({"report", kRecorded, "--summary"});
  ASSERT_EQ(summary.exit_code, 0) << summary.error;
  EXPECT_LE(std::count(summary.out.begin(), summary.out.end(), '\n'), 24);
  for (const std::string_view line : Split(summary.out, '\n')) EXPECT_LE(line.size(), 120u) << line;
}

TEST_F(ReportTest, ShippedRecordsBeginWithProductsOfModels) {
  std::filesystem::create_directory_symlink(GEMMSMITH_SOURCE_DIR "/data/h200", home.Path("records/h200"));
  const Finished summary = home.Run({"report", "--summary"});
  ASSERT_EQ(summary.exit_code, 0) << summary.error;
  EXPECT_TRUE(summary.out.starts_with("  Products by m, device_cold")) << summary.out;
  EXPECT_NE(summary.out.find("\n1,000 shapes\n"), std::string::npos) << summary.out;
  const Finished models = home.Run({"report", "--models"});
  ASSERT_EQ(models.exit_code, 0) << models.error;
  EXPECT_NE(models.out.find("llama-3-8b"), std::string::npos) << models.out;
}

TEST_F(ReportTest, EveryFormCanBeWrittenToAFile) {
  for (const char* format : {"text", "markdown", "csv", "json"}) {
    const std::string file = home.Path(format);
    const Finished finished = home.Run({"report", kRecorded, "--format", format, "--output", file});
    ASSERT_EQ(finished.exit_code, 0) << finished.error;
    EXPECT_EQ(finished.out, "");
    EXPECT_FALSE(ReadFile(file)->empty());
    EXPECT_EQ(ReadFile(file)->find('\x1b'), std::string::npos);
  }
  EXPECT_NE(ReadFile(home.Path("markdown"))->find("| ---"), std::string::npos);
  EXPECT_TRUE(ReadFile(home.Path("csv"))->starts_with("table,mode,name,"));
}

TEST_F(ReportTest, BarsAreDrawnInWhatTheTerminalHas) {
  const Finished plain = home.Run({"report", kRecorded, "--figure"});
  ASSERT_EQ(plain.exit_code, 0) << plain.error;
  EXPECT_NE(plain.out.find("18 to 20"), std::string::npos) << plain.out;
}

// A race of a model's product on the ring.
Trial RacedOnRing(const Shape& shape, double ours_ns, double library_ns) {
  Trial trial = ExampleTimed(ExamplePlan(0), shape, ours_ns);
  trial.outcome.timings[0].clock = Clock::kDeviceCold;
  for (const char* library : {"lt_auto_tn", "lt_heuristic_tn"})
    trial.outcome.timings.push_back({.contender = library, .clock = Clock::kDeviceCold, .median_ns = library_ns});
  return trial;
}

TEST_F(ReportTest, StepsOfModelsStandInEveryForm) {
  const std::string records =
      home.File("models.jsonl",
                JsonLines({RacedOnRing({1, 6144, 4096}, 10'000, 12'500), RacedOnRing({1, 4096, 4096}, 8000, 8000)}));
  const Finished text = home.Run({"report", records, "--models"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  for (const char* part : {"2 of 557 products timed on device_cold", "decode", "2 of 188", "llama-3-8b"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
  for (const std::string_view line : Split(text.out, '\n')) EXPECT_LE(line.size(), 120u) << line;
  const Finished phases = home.Run({"report", records, "--model", "llama-3-8b"});
  EXPECT_NE(phases.out.find("2 of 5"), std::string::npos) << phases.out;
  EXPECT_NE(phases.out.find("0.576"), std::string::npos) << "32 times 18 us" << phases.out;
  const nlohmann::json json = Parsed(home.Run({"report", records, "--models", "--json"}).out);
  EXPECT_EQ(json["part"], "models");
  EXPECT_DOUBLE_EQ(json["groups"]["decode"]["over"]["lt_auto"]["flop_weighted"], 20'500.0 / 18'000);
  EXPECT_EQ(json["missing"].size(), 555u);
  EXPECT_TRUE(home.Run({"report", records, "--models", "--format", "csv"}).out.starts_with("model,pass,tokens,"));
  EXPECT_NE(home.Run({"report", records, "--models", "--format", "markdown"}).out.find("| ---"), std::string::npos);
  ExpectOneError(home.Run({"report", lines, "--models"}), 3, "--modes device_cold measures them");
}

TEST_F(ReportTest, PatternsOfTheRecordedSpaceStandInEveryForm) {
  const Finished text = home.Run({"report", kRecorded, "--patterns"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  for (const char* part :
       {"NVIDIA H200", "rank correlations", "by class", "log2(m n k)", "do not divide", "techniques"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  const nlohmann::json json = Parsed(home.Run({"report", kRecorded, "--patterns", "--json"}).out);
  EXPECT_EQ(json["part"], "patterns");
  EXPECT_EQ(json["shapes"], 100);
  EXPECT_EQ(json["winners"], 200);
  EXPECT_EQ(json["unopposed"], 0);
  int winners = 0;
  for (const nlohmann::json& group : json["choices"][0]["by_class"]) winners += group["winners"].get<int>();
  EXPECT_EQ(winners, 200);
  for (const nlohmann::json& sentence : json["sentences"])
    EXPECT_NE(text.out.find(sentence["text"].get<std::string>()), std::string::npos);
  EXPECT_FALSE(json["sentences"].empty());
  EXPECT_NE(home.Run({"report", kRecorded, "--patterns", "--format", "markdown"}).out.find("| ---"), std::string::npos);
  EXPECT_TRUE(home.Run({"report", kRecorded, "--patterns", "--format", "csv"}).out.starts_with("table,family,name,"));
}

TEST_F(ReportTest, PatternsNeedPlansOfOursAndNothingElse) {
  std::vector<Trial> trials = MadeUpTrials({64, 64, 64}, 3, kTn);
  for (Trial& trial : trials) {
    trial.outcome.comparisons.clear();
    std::erase_if(trial.outcome.timings, [](const Timing& timing) { return timing.contender != "ours"; });
  }
  const std::string ours = home.File("ours.jsonl", JsonLines(trials));
  EXPECT_EQ(Parsed(home.Run({"report", ours, "--patterns", "--json"}).out)["winners"], 1);
  ExpectOneError(home.Run({"report", GEMMSMITH_DATA "/h200/paper1000", "--patterns"}), 3, "no plan of ours");
  ExpectOneError(home.Run({"report", ours, "--patterns", "--summary"}), 2, "exclude each other");
  ExpectOneError(home.Run({"report", ours, "--patterns", "--against", "cublas_nn"}), 2, "leave out --against");
}

TEST_F(ReportTest, WithoutAnArchiveTheRecordsThatCameWithTheProgramAnswer) {
  home.Record(MadeUpTrials({64, 64, 64}, 40, kTn));
  const Finished finished = home.Run({"report", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_EQ(Parsed(finished.out)["device"], kMadeUpDevice);
}

TEST_F(ReportTest, WhereTheSearchesThatCountAreNamedTheseAnswer) {
  home.Record(MadeUpTrials({64, 64, 64}, 40, kTn));
  for (const std::string& segment : EncodeSegments(MadeUpTrials({128, 64, 64}, 40, kTn)))
    home.File("records/l40s/later/part.gsr", segment);
  home.File("records/l40s/standing", "# the searches\nlater\n");
  const Finished finished = home.Run({"report", "--shapes", "all", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_EQ(Parsed(finished.out)["shapes"], 1);
  EXPECT_TRUE(Parsed(finished.out)["source"].get<std::string>().ends_with("records/l40s/later"));
  EXPECT_EQ(home.Run({"optimize", "64x64x64", "--layout", "tn", "--device", "l40s"}).exit_code, 0)
      << "replays answer as before";
}

TEST_F(ReportTest, ADeviceThatWasOnlySearchedOnIsReportedWhereItIsAskedForAndNeverReplayed) {
  home.Record(MadeUpTrials({64, 64, 64}, 40, kTn));
  std::vector<Trial> elsewhere = MadeUpTrials({128, 64, 64}, 40, kTn);
  for (Trial& trial : elsewhere) trial.setting.device_key = "h100";
  for (const std::string& segment : EncodeSegments(elsewhere))
    home.File("records/h100/brief/part.gsr", segment);  // before l40s in the alphabet
  home.File("records/h100/standing", "brief\n");
  const auto source_of = [&](std::vector<std::string> device) {
    std::vector<std::string> words = {"report", "--shapes", "all", "--json"};
    words.insert(words.end(), device.begin(), device.end());
    const Finished finished = home.Run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.error;
    return Parsed(finished.out)["source"].get<std::string>();
  };
  EXPECT_TRUE(source_of({}).ends_with("l40s"));
  EXPECT_TRUE(source_of({"--device", "l40s"}).ends_with("l40s"));
  EXPECT_TRUE(source_of({"--device", "h100"}).ends_with("h100/brief"));
  ExpectOneError(home.Run({"report", "--device", "h200"}), 3, "those on l40s");
  EXPECT_EQ(home.Run({"optimize", "64x64x64", "--layout", "tn"}).exit_code, 0) << "replays are of the other";
  ExpectOneError(home.Run({"optimize", "64x64x64", "--device", "h100"}), 3, "recorded: l40s");
}

TEST_F(ReportTest, F16AccumulationIsReportedWhereItIsAskedFor) {
  std::vector<Trial> trials = MadeUpTrials({64, 64, 64}, 10, kTn);
  ExpectOneError(
      home.Run({"report", home.File("f32.jsonl", JsonLines(trials)), "--shapes", "all", "--accumulate", "f16"}), 3,
      "f16 accumulation");
  for (Trial& trial : trials) trial.gemm.kind.accumulation = Accumulation::kF16;
  const std::string record = home.File("f16.jsonl", JsonLines(trials));
  const Finished finished = home.Run({"report", record, "--shapes", "all", "--accumulate", "f16", "--summary"});
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_NE(finished.out.find("f16 in and out, f16 accumulation"), std::string::npos) << finished.out;
  ExpectOneError(home.Run({"report", record, "--shapes", "all"}), 3, "f32 accumulation");
}

TEST_F(ReportTest, WhatAReplayAnsweredIsNoMeasurement) {
  home.Record(MadeUpTrials({64, 64, 64}, 40, kTn));
  ASSERT_EQ(home.Run({"optimize", "64x64x64", "--layout", "tn", "--device", "l40s"}).exit_code, 0);
  const Finished finished = home.Run({"report", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_EQ(Parsed(finished.out)["date"], "2001-09-09");
}

TEST_F(ReportTest, TheArchiveAnswersWhereThereIsOne) {
  ASSERT_EQ(home.Run({"records", "import", lines}).exit_code, 0);
  const nlohmann::json json = Parsed(home.Run({"report", "--json", "--campaign", "made up"}).out);
  EXPECT_EQ(json["protocol"], "screen");
  EXPECT_EQ(json["shapes"], 1);
  EXPECT_EQ(json["modes"]["device"]["lt_auto_max"]["without_interval"], 1) << "three pairs are no interval";
  ExpectOneError(home.Run({"report", "--campaign", "none"}), 3, "nothing was measured");
}

TEST_F(ReportTest, WrongWordsNameTheRightOnes) {
  ExpectOneError(home.Run({"report", lines, "--format", "jsn"}), 2, "did you mean 'json'");
  ExpectOneError(home.Run({"report", lines, "--protocol", "shrt"}), 2, "did you mean 'short'");
  ExpectOneError(home.Run({"report", lines, "--shapes", "paper1000/tinny"}), 2, "paper1000/tiny");
  ExpectOneError(home.Run({"report", lines, "--summary", "--figure"}), 2, "exclude each other");
  ExpectOneError(home.Run({"report", lines, "--device", "gpu:0"}), 2, "h200");
  ExpectOneError(home.Run({"report", lines, "--against", "lt_auto_mx"}), 3, "did you mean 'lt_auto_max'");
}

TEST_F(ReportTest, WhatCannotBeReportedIsOneLine) {
  ExpectOneError(home.Run({"report", home.Path("nothing.gsr")}), 3, "nothing.gsr");
  ExpectOneError(home.Run({"report", home.File("empty.jsonl", "")}), 3, "empty.jsonl");
  ExpectOneError(home.Run({"report", home.File("damaged.gsr", "no segment")}), 1, "damaged.gsr");
  ExpectOneError(home.Run({"report", lines, "--shapes", "128x128x128"}), 3, "none of the shapes asked for");
  ExpectOneError(home.Run({"report", lines, "--type", "bf16"}), 3, "bf16");
  ExpectOneError(home.Run({"report", lines, "--device", "h100"}), 3, "l40s");
  ExpectOneError(home.Run({"report", lines}, "/dev/full"), 1, "No space left");
}

}  // namespace
}  // namespace gemmsmith
