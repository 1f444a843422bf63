// The main job on a machine without a GPU: answered from a record that the test makes up.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <set>

#include "archive/archive.h"
#include "base/text.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

// Replay is asked for by key, so that the tests mean the same where there is a GPU.
class OptimizeTest : public testing::Test {
 protected:
  OptimizeTest() {
    std::vector<Trial> trials = MadeUpTrials({64, 64, 64}, 100, kNn);
    for (const Trial& trial : MadeUpTrials({64, 64, 64}, 100, kTn)) trials.push_back(trial);
    for (const Trial& trial : MadeUpTrials({128, 64, 64}, 20, kTn)) trials.push_back(trial);
    home.Record(trials);
  }

  Words Command(const std::string& shape, const Words& more = {}) const {
    Words words = {"optimize", shape, "--device", "l40s"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Finished Optimize(const std::string& shape, const Words& more = {}) const { return home.Run(Command(shape, more)); }

  Home home;
};

TEST_F(OptimizeTest, SaysThatItReplaysWithDeviceAndDateAndNamesTheBest) {
  const Finished finished = Optimize("64x64x64");
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_NE(finished.out.find("replayed: measured on an MADE-UP DEVICE on 2001-09-09; no GPU was used"),
            std::string::npos)
      << finished.out;
  EXPECT_NE(finished.out.find("cuBLASLt AutoTuning"), std::string::npos);
  EXPECT_NE(finished.error.find("recording of an MADE-UP DEVICE, 2001-09-09"), std::string::npos) << finished.error;
}

TEST_F(OptimizeTest, TablesFitEightyColumns) {
  const Finished finished = Optimize("64x64x64");
  for (const std::string_view line : Split(finished.out, '\n')) {
    if (line.find("plan") != line.npos || line.find('/') != line.npos) continue;  // texts to copy are not cut
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST_F(OptimizeTest, WritesTheSourcesItNames) {
  const std::string folder = home.Path("out folder");
  const nlohmann::json json = Parsed(Optimize("64x64x64", {"--output", folder, "--json"}).out);
  for (const nlohmann::json& layout : json["layouts"]) {
    for (const char* key : {"source", "standalone"}) {
      const std::string path = layout[key];
      EXPECT_TRUE(path.starts_with(folder)) << path;
      ASSERT_TRUE(ReadFile(path).ok()) << path;
      EXPECT_NE(ReadFile(path)->find("__global__"), std::string::npos);
    }
  }
}

TEST_F(OptimizeTest, SameSeedSameOutputWhetherResumedOrFresh) {
  const std::string first = Optimize("64x64x64", {"--seed", "5", "--budget-evals", "30"}).out;
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(Optimize("64x64x64", {"--seed", "5", "--budget-evals", "30"}).out, first);
  EXPECT_EQ(Optimize("64x64x64", {"--seed", "5", "--budget-evals", "30", "--fresh"}).out, first);
  const Home other;
  other.Record(MadeUpTrials({64, 64, 64}, 100, kNn));
  EXPECT_NE(other.Run(Command("64x64x64", {"--seed", "6"})).out, first);
}

TEST_F(OptimizeTest, EveryProposerFindsTheBestOfASpaceItExhausts) {
  std::set<std::string> plans;
  for (const char* proposer : {"random", "ranked", "local", "evolution"}) {
    const nlohmann::json json = Parsed(Optimize("64x64x64", {"--proposer", proposer, "--layout", "tn", "--json"}).out);
    plans.insert(json["layouts"][0]["plan"].get<std::string>());
    int judged = 0;
    for (const nlohmann::json& count : json["layouts"][0]["outcomes"]) judged += count.get<int>();
    EXPECT_EQ(judged, 100);
  }
  EXPECT_EQ(plans.size(), 1u);
}

TEST_F(OptimizeTest, JsonHasItsDocumentedKeys) {
  const nlohmann::json json = Parsed(Optimize("64x64x64", {"--json"}).out);
  for (const char* key : {"command", "shape", "type", "accumulation", "replayed", "recorded_date", "setting",
                          "proposer", "seed", "floor_ns", "layouts", "best", "archive"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["replayed"], true);
  EXPECT_EQ(json["recorded_date"], "2001-09-09");
  for (const char* key :
       {"layout", "problem", "campaign", "stop_reason", "outcomes", "misses", "plan", "time_ns", "interval_ns",
        "tflops", "percent_of_floor", "speed_ups", "judgement", "source", "standalone"}) {
    EXPECT_TRUE(json["layouts"][0].contains(key)) << key;
  }
  EXPECT_FALSE(json["best"]["speed_ups"].empty());
}

TEST_F(OptimizeTest, AnUnrecordedShapeGetsTheNearestRecordedOnes) {
  const Finished finished = Optimize("70x70x70");
  ExpectOneError(finished, 3, "64x64x64, 128x64x64");
  EXPECT_EQ(finished.out, "");
  ExpectOneError(Optimize("64x64x64", {"--type", "bf16"}), 3, "64x64x64 (f16)");
}

TEST_F(OptimizeTest, ALayoutThatWasNotRecordedIsLeftOutUnlessItAloneIsAskedFor) {
  const nlohmann::json json = Parsed(Optimize("128x64x64", {"--json"}).out);
  ASSERT_EQ(json["layouts"].size(), 1u);
  EXPECT_EQ(json["layouts"][0]["layout"], "tn");
  ExpectOneError(Optimize("128x64x64", {"--layout", "nn"}), 3, "was not recorded");
}

TEST_F(OptimizeTest, WhereNothingPassesItExitsWithFour) {
  std::vector<Trial> failing = MadeUpTrials({64, 64, 64}, 5, kTn);
  for (Trial& trial : failing)
    trial.outcome = {.kind = OutcomeKind::kWrong, .stage = "correctness", .reason = "made up"};
  const Home hopeless;
  hopeless.Record(failing);
  const Finished finished = hopeless.Run(Command("64x64x64"));
  EXPECT_EQ(finished.exit_code, 4) << finished.error;
  EXPECT_NE(finished.out.find("no candidate passed"), std::string::npos);
}

TEST_F(OptimizeTest, UnknownDevicesAndMissingGpusAreNamed) {
  ExpectOneError(home.Run({"optimize", "64x64x64", "--device", "h300"}), 3, "recorded: l40s");
  const Finished gpu = home.Run({"optimize", "64x64x64", "--device", "gpu:999"});
  ExpectOneError(gpu, 3, gpu.error.find("driver") != std::string::npos ? "driver" : "GPU 999");
}

TEST_F(OptimizeTest, WithoutAnyRecordItSaysWhereItLooked) {
  const Finished finished = Home().Run({"optimize", "64x64x64", "--device", "h200"});
  ExpectOneError(finished, 3, "GEMMSMITH_RECORDS");
}

TEST_F(OptimizeTest, ADamagedRecordIsNamed) {
  home.File("records/l40s/part9.gsr", "garbage");
  ExpectOneError(Optimize("64x64x64"), 1, "part9.gsr");
}

TEST_F(OptimizeTest, AFullDiskIsOneLine) {
  ExpectOneError(home.Run(Command("64x64x64"), "/dev/full"), 1, "No space left");
  ExpectOneError(Optimize("64x64x64", {"--output", "/dev/full/x"}), 1, "/dev/full");
  const Finished archive = Optimize("64x64x64", {"--archive", "/dev/full"});
  ExpectOneError(archive, archive.exit_code, "/dev/full");
  EXPECT_NE(archive.exit_code, 0);
}

TEST_F(OptimizeTest, ReplayedTrialsAreNeverExported) {
  ASSERT_EQ(Optimize("64x64x64").exit_code, 0);
  const Finished finished = home.Run({"records", "export", "-o", home.Path("mine.jsonl"), "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_EQ(Parsed(finished.out)["trials"], 0);
  EXPECT_EQ(Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"], 200 + 8) << "judged, and finalists again";
}

TEST_F(OptimizeTest, TwoAtOnceOnOneArchiveBothFinish) {
  const Words words = Command("64x64x64");
  const pid_t first = home.Start(words, home.Path("out1"), home.Path("error1"));
  const pid_t second = home.Start(words, home.Path("out2"), home.Path("error2"));
  EXPECT_EQ(Home::Wait(first), 0) << *ReadFile(home.Path("error1"));
  EXPECT_EQ(Home::Wait(second), 0) << *ReadFile(home.Path("error2"));
  EXPECT_EQ(*ReadFile(home.Path("out1")), *ReadFile(home.Path("out2")));
}

TEST_F(OptimizeTest, AnInterruptedRunKeepsEverythingAndGoesOn) {
  home.Record(MadeUpTrials({256, 512, 4096}, 15000, kTn));
  const Words words = Command("256x512x4096", {"--budget-evals", "1000000", "--proposer", "random"});
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t pid = home.Start(words, home.Path("out"), home.Path("error"));
    const std::string archive = home.Path("home/archive.sqlite-wal");
    // The first trials are being stored once the log of the database grows.
    for (int i = 0; i < 10000 && (!std::filesystem::exists(archive) || std::filesystem::file_size(archive) < 100000);
         ++i)
      usleep(1000);
    usleep(20000);
    kill(pid, signal);
    const Finished finished{.exit_code = Home::Wait(pid), .error = *ReadFile(home.Path("error"))};
    ExpectOneError(finished, 130, "interrupted");
  }
  const int64_t kept = Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"];
  EXPECT_GT(kept, 0);
  const Finished resumed =
      home.Run(Command("256x512x4096", {"--budget-evals", std::to_string(kept + 10), "--proposer", "random"}));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"], kept + 10 + 4)
      << "ten more and the finalists";
}

TEST_F(OptimizeTest, EvaluateAnswersRecordedCellsOnly) {
  const std::string plan = Print(MadeUpTrials({64, 64, 64}, 100, kTn)[1].plan);
  const Finished known = home.Run({"evaluate", plan, "64x64x64", "--device", "l40s", "--json"});
  const nlohmann::json json = Parsed(known.out);
  EXPECT_EQ(known.exit_code, json["outcome"] == "measured" ? 0 : 4);
  EXPECT_EQ(json["replayed"], true);
  ExpectOneError(home.Run({"evaluate", plan, "1x1x1", "--device", "l40s"}), 3, "was not recorded");
}

TEST_F(OptimizeTest, ATerminalGetsColoursUnlessRefusedAndPipesNever) {
  EXPECT_EQ(Optimize("64x64x64").out.find('\x1b'), std::string::npos);
  const Finished colourful = home.RunAtTerminal(Command("64x64x64"), 120, {});
  EXPECT_EQ(colourful.exit_code, 0);
  EXPECT_NE(colourful.out.find("\x1b[1m"), std::string::npos);
  const Finished plain = home.RunAtTerminal(Command("64x64x64"), 120, {"NO_COLOR=1"});
  EXPECT_EQ(plain.out.find("\x1b[1m"), std::string::npos);
  const Finished dumb = home.RunAtTerminal(Command("64x64x64"), 120, {"TERM=dumb"});
  EXPECT_EQ(dumb.out.find('\x1b'), std::string::npos);
}

TEST_F(OptimizeTest, TheBarNeverOutgrowsANarrowTerminal) {
  for (const int columns : {20, 40, 80}) {
    const Finished finished = home.RunAtTerminal(Command("64x64x64", {"--fresh"}), columns, {"NO_COLOR=1", "LC_ALL=C"});
    EXPECT_EQ(finished.exit_code, 0);
    const std::string erase = "\r\x1b[K";
    // What is drawn between two erasures is one state of the bar; what follows the last one is the report.
    size_t begin = finished.out.find(erase), bars = 0;
    for (size_t end = 0; (end = finished.out.find(erase, begin + 1)) != std::string::npos; begin = end, ++bars) {
      EXPECT_LT(end - begin - erase.size(), size_t(columns)) << finished.out.substr(begin, end - begin);
    }
    EXPECT_GT(bars, 0u);
  }
}

TEST(DoctorTest, SaysWhatThereIsAsTextAndAsJson) {
  const Home home;
  home.Record(MadeUpTrials({64, 64, 64}, 3, kTn));
  const Finished finished = home.Run({"doctor"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_NE(finished.out.find(kMadeUpDevice), std::string::npos);
  const nlohmann::json json = Parsed(home.Run({"doctor", "--json"}).out);
  for (const nlohmann::json& finding : json["findings"]) {
    EXPECT_FALSE(finding["name"].get<std::string>().empty());
    EXPECT_FALSE(finding["text"].get<std::string>().empty()) << finding;
  }
}

}  // namespace
}  // namespace gemmsmith
