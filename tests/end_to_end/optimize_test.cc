// The main job on a machine without a GPU: answered from a record that the test makes up.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "archive/archive.h"
#include "base/files.h"
#include "base/text.h"
#include "policy/model.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

int JudgedOfFirstLayout(const nlohmann::json& answer) {
  int judged = 0;
  for (const nlohmann::json& count : answer["layouts"][0]["outcomes"]) judged += count.get<int>();
  return judged;
}

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

TEST_F(OptimizeTest, WhereNobodyChoseThePolicyProposesWhatItKnowsAndLocalSearchTheRest) {
  const auto proposer_on = [](const std::string& device, ScalarType type, const Words& more) {
    std::vector<Trial> trials = MadeUpTrials({64, 64, 64}, 5, kTn);
    for (Trial& trial : trials) {
      trial.setting.device_key = device;
      trial.gemm.kind.type = type;
    }
    const Home other;
    other.Record(trials);
    Words words = {"optimize", "64x64x64", "--layout", "tn", "--budget-evals", "4", "--json", "--device", device};
    words.insert(words.end(), more.begin(), more.end());
    return Parsed(other.Run(words).out)["proposer"];
  };
  EXPECT_EQ(proposer_on("h200", ScalarType::kF16, {}), "policy");
  EXPECT_EQ(proposer_on("h200", ScalarType::kF16, {"--proposer", "ranked"}), "ranked");
  EXPECT_EQ(proposer_on("h200", ScalarType::kBf16, {"--type", "bf16"}), "local");
  EXPECT_EQ(proposer_on("l40s", ScalarType::kF16, {}), "local");
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

TEST_F(OptimizeTest, ABriefRunJudgesFourCandidatesWhereNobodySaysOtherwise) {
  EXPECT_EQ(JudgedOfFirstLayout(Parsed(Optimize("64x64x64", {"--brief", "--json"}).out)), 4);
  EXPECT_EQ(JudgedOfFirstLayout(Parsed(Optimize("64x64x64", {"--brief", "--budget-evals", "7", "--json"}).out)), 7);
}

TEST_F(OptimizeTest, EveryProposerFindsTheBestOfASpaceItExhausts) {
  std::set<std::string> plans;
  for (const char* proposer : {"random", "ranked", "local", "evolution"}) {
    const nlohmann::json json = Parsed(Optimize("64x64x64", {"--proposer", proposer, "--layout", "tn", "--json"}).out);
    plans.insert(json["layouts"][0]["plan"].get<std::string>());
    EXPECT_EQ(JudgedOfFirstLayout(json), 100);
  }
  EXPECT_EQ(plans.size(), 1u);
}

TEST_F(OptimizeTest, APolicyProposesFromItsWeights) {
  const std::string weights = home.Path("weights.safetensors");
  ModelConfig config = DefaultModelConfig();
  config.width = 16, config.layers = 1, config.hidden = 32;
  ASSERT_TRUE(WriteFileAtomic(weights, EncodeModel(NewModel(config, 1))).ok());
  const Words words = {"--proposer", "policy", "--weights", weights, "--layout", "tn", "--json"};
  const nlohmann::json json = Parsed(Optimize("64x64x64", words).out);
  EXPECT_EQ(json["proposer"], "policy");
  EXPECT_EQ(JudgedOfFirstLayout(json), 100);
  ASSERT_TRUE(WriteFileAtomic(weights, "nonsense").ok());
  ExpectOneError(Optimize("64x64x64", words), 1, "no safetensors file");
}

TEST_F(OptimizeTest, TheShippedPolicyHasExperienceOfOtherShapes) {
  const auto campaign_with = [&](Words words) {
    words.insert(words.end(), {"--proposer", "policy", "--layout", "tn", "--budget-evals", "20", "--json"});
    return Parsed(Optimize("64x64x64", words).out)["layouts"][0]["campaign"].get<std::string>();
  };
  EXPECT_NE(campaign_with({}).find(" experience="), std::string::npos);
  EXPECT_EQ(campaign_with({"--experience", "none"}).find(" experience="), std::string::npos);
}

TEST_F(OptimizeTest, AnObjectiveThatNoRecordingHoldsIsRefused) {
  ExpectOneError(Optimize("64x64x64", {"--objective", "energy"}), 3,
                 "--objective energy needs a GPU: no recording holds energies");
}

TEST_F(OptimizeTest, JsonHasItsDocumentedKeys) {
  const nlohmann::json json = Parsed(Optimize("64x64x64", {"--json"}).out);
  for (const char* key : {"command", "shape", "type", "accumulation", "replayed", "recorded_date", "setting",
                          "proposer", "objective", "seed", "floor_ns", "layouts", "best", "archive"}) {
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

TEST_F(OptimizeTest, WhereNothingWasJudgedItSaysNoMore) {
  const Finished finished = Optimize("64x64x64", {"--limit-seconds", "0.000001"});
  EXPECT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_NE(finished.out.find("nothing was judged yet"), std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("no candidate passed"), std::string::npos) << finished.out;
}

TEST_F(OptimizeTest, AFreshRunThatWasNotFinishedIsGoneOnWithByItsName) {
  for (const std::string& what : {std::string("64x64x64"), home.File("shapes", "64x64x64 128x64x64")}) {
    const Finished limited = Optimize(what, {"--fresh", "--limit-seconds", "0.000001"});
    ASSERT_EQ(limited.exit_code, 0) << limited.error;
    EXPECT_EQ(limited.error.find("the same command"), std::string::npos) << limited.error;
    const size_t begin = limited.error.find("--name '");
    ASSERT_NE(begin, std::string::npos) << limited.error;
    const std::string name = limited.error.substr(begin + 8, limited.error.find('\'', begin + 8) - begin - 8);
    const nlohmann::json json = Parsed(Optimize(what, {"--name", name, "--json"}).out);
    const std::string campaign = json.contains("campaign") ? json["campaign"] : json["layouts"][0]["campaign"];
    EXPECT_EQ(campaign, "replay " + name);
    EXPECT_NE(name.find(" fresh="), std::string::npos) << name;
  }
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
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_NE(finished.error.find("left out 200 trials that a recording answered"), std::string::npos) << finished.error;
  EXPECT_FALSE(std::filesystem::exists(home.Path("mine.jsonl")));
  EXPECT_EQ(Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"], 200) << "no finals: the record has none";
}

TEST_F(OptimizeTest, TwoAtOnceOnOneArchiveBothFinish) {
  const Words words = Command("64x64x64");
  const pid_t first = home.Start(words, home.Path("out1"), home.Path("error1"));
  const pid_t second = home.Start(words, home.Path("out2"), home.Path("error2"));
  EXPECT_EQ(Home::Wait(first), 0) << *ReadFile(home.Path("error1"));
  EXPECT_EQ(Home::Wait(second), 0) << *ReadFile(home.Path("error2"));
  EXPECT_EQ(*ReadFile(home.Path("out1")), *ReadFile(home.Path("out2")));
}

// So many shapes that no run ends before its signal.
TEST_F(OptimizeTest, AnInterruptedRunKeepsEverythingAndGoesOn) {
  std::vector<Trial> recorded;
  std::string shapes;
  for (int m = 256; m <= 256 * 6; m += 256) {
    for (Trial& trial : MadeUpTrials({m, 512, 4096}, 15000, kTn)) recorded.push_back(std::move(trial));
    shapes += Print(Shape{m, 512, 4096}) + "\n";
  }
  home.Record(recorded);
  const Words words = Command(home.File("shapes", shapes), {"--budget-evals", "1000000", "--proposer", "random"});
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
  EXPECT_LT(kept, int64_t(recorded.size()));
  const Finished resumed = home.Run(words);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"], recorded.size()) << "each once";
}

TEST_F(OptimizeTest, EvaluateAnswersRecordedCellsOnly) {
  const std::string plan = Print(MadeUpTrials({64, 64, 64}, 100, kTn)[1].plan());
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

// A record of two problems, of which one has its fastest plans in the short protocol too.
class OptimizeSetTest : public OptimizeTest {
 protected:
  OptimizeSetTest() {
    std::vector<Trial> trials = MadeUpTrials({64, 64, 64}, 60, kTn);
    std::erase_if(trials, [](const Trial& trial) { return trial.outcome.kind != OutcomeKind::kMeasured; });
    std::sort(trials.begin(), trials.end(),
              [](const Trial& a, const Trial& b) { return a.outcome.TimeNs() < b.outcome.TimeNs(); });
    for (size_t i = 0; i < 4; ++i) {
      careful.push_back(trials[i]);
      careful.back().outcome.protocol = Protocol::kShort;
    }
    for (const Trial& trial : careful) trials.push_back(trial);
    for (const Trial& trial : MadeUpTrials({128, 128, 128}, 40, kTn)) trials.push_back(trial);
    home.Record(trials);
    shapes = home.File("shapes", "64x64x64 128x128x128\n128x64x64 # no layout nn\n");
  }
  std::vector<Trial> careful;
  std::string shapes;
};

TEST_F(OptimizeSetTest, TellsClassesAndWhatWasNotRecorded) {
  const Finished finished = Optimize(shapes, {"--layout", "tn"});
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  EXPECT_NE(finished.out.find("2 of 2 problems done, geometric mean "), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("1 of 3 problems not recorded: 128x64x64 tn"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("1 judged in the screen protocol only: nothing more careful was recorded"),
            std::string::npos)
      << finished.out;
  EXPECT_NE(finished.out.find("tiny"), std::string::npos);
  EXPECT_NE(finished.out.find("finals by time"), std::string::npos) << finished.out;
  EXPECT_FALSE(std::filesystem::exists(home.Path("home/kernels"))) << "sources are written where they are asked for";
}

TEST_F(OptimizeSetTest, AnswersCarryTheProtocolThatWasRecorded) {
  const nlohmann::json json = Parsed(Optimize(shapes, {"--json", "--budget-evals", "1000"}).out);
  std::map<std::string, std::string> protocols;
  for (const nlohmann::json& result : json["results"]) protocols[result["shape"]] = result["protocol"];
  EXPECT_EQ(protocols["64x64x64"], "short");
  EXPECT_EQ(protocols["128x128x128"], "screen");
  EXPECT_EQ(Parsed(Optimize("64x64x64", {"--json"}).out)["layouts"][0]["judgement"]["protocol"], "short");
}

TEST_F(OptimizeSetTest, JsonHasItsDocumentedKeys) {
  const nlohmann::json json = Parsed(Optimize(shapes, {"--json"}).out);
  for (const char* key :
       {"command", "set",         "shapes",       "type",     "accumulation", "replayed",       "recorded_date",
        "setting", "proposer",    "seed",         "campaign", "problems",     "complete",       "found",
        "left",    "stop_reason", "not_recorded", "outcomes", "misses",       "geometric_mean", "over_autotuning",
        "results", "records",     "archive",      "objective"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["shapes"], 3);
  EXPECT_EQ(json["problems"], 2);
  EXPECT_EQ(json["not_recorded"]["problems"], 4);
  for (const char* key :
       {"problem", "shape", "layout", "class", "complete", "plan", "protocol", "time_ns", "interval_ns",
        "over_autotuning", "over_autotuning_interval", "chained_ns", "source", "standalone"})
    EXPECT_TRUE(json["results"][0].contains(key)) << key;
}

TEST_F(OptimizeSetTest, ASecondRunFindsWhatTheFirstFinishedAndSaysTheSame) {
  const Words words = {"--budget-evals", "20", "--json"};
  const nlohmann::json first = Parsed(Optimize(shapes, words).out), second = Parsed(Optimize(shapes, words).out);
  EXPECT_EQ(first["found"], 0);
  EXPECT_EQ(second["complete"], 2);
  EXPECT_EQ(first["results"], second["results"]);
  EXPECT_EQ(first["geometric_mean"], second["geometric_mean"]);
}

TEST_F(OptimizeSetTest, TheLimitEndsItWithWhatIsLeftSaid) {
  home.Record(MadeUpTrials({256, 512, 4096}, 15000, kTn));
  const std::string large = home.File("large", "256x512x4096");
  const Words words = {"--limit-seconds", "0.001", "--budget-evals", "1000000", "--json"};
  const Finished finished = Optimize(large, words);
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  const nlohmann::json json = Parsed(finished.out);
  EXPECT_EQ(json["left"], 1);
  EXPECT_EQ(json["stop_reason"], "budget of 0.001 s used");
  EXPECT_TRUE(json["geometric_mean"].is_null()) << "nothing is complete";
  EXPECT_TRUE(json["over_autotuning"].empty());
  const int64_t kept = Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"];
  int64_t judged = 0;
  for (const nlohmann::json& count : json["outcomes"]) judged += count.get<int64_t>();
  EXPECT_EQ(kept, judged);
}

TEST_F(OptimizeSetTest, SourcesGoWhereTheyAreAskedFor) {
  const nlohmann::json json = Parsed(Optimize(shapes, {"--output", home.Path("sources"), "--json"}).out);
  for (const nlohmann::json& result : json["results"])
    EXPECT_TRUE(ReadFile(result["standalone"].get<std::string>()).ok());
}

TEST_F(OptimizeSetTest, WhereNothingWasRecordedTheFirstFiveAreNamed) {
  ExpectOneError(Optimize("paper1000/large"), 3, "problems not recorded: ");
  ExpectOneError(Optimize("offgrid"), 3, ", 17x31x63 tn, 100x100x100 nn, ...");
}

TEST_F(OptimizeSetTest, AProblemComesInTheLayoutThatItsFileNames) {
  const std::string list = home.File("list", "64x64x64 tn\n124x128x128 col-row\n");
  const Finished finished = Optimize(list, {"--json"});
  const nlohmann::json json = Parsed(finished.out);
  ASSERT_EQ(json["results"].size(), 1u);
  EXPECT_EQ(json["results"][0]["layout"], "tn");
  EXPECT_EQ(json["shapes"], 1);
  EXPECT_EQ(json["not_recorded"]["problems"], 0);
  EXPECT_NE(finished.error.find("left out: 1 problem with a column-major A"), std::string::npos) << finished.error;
  ExpectOneError(Optimize(home.File("none", "64x60x64 col-row\n")), 3, "no kernel reads the column-major A");
}

TEST_F(OptimizeSetTest, AReplayIsNoRecord) {
  ExpectOneError(Optimize(shapes, {"--record", home.Path("x.gsr")}), 2, "replay");
  ExpectOneError(Optimize(shapes, {"--record", home.Path("x.csv")}), 2, ".gsr");
}

TEST_F(OptimizeSetTest, WhatIsWrongAnywhereIsRefusedBeforeAnInstrumentIsOpened) {
  const std::string bad = home.File("bad", "64x64");
  for (const Finished& finished : {Optimize(shapes, {"--record", home.Path("x.csv")}), Optimize(bad)}) {
    EXPECT_EQ(finished.error.find("recording of"), std::string::npos) << finished.error;
    EXPECT_EQ(finished.exit_code, 2) << finished.error;
  }
  ExpectOneError(home.Run({"optimize", shapes, "--device", "h300", "--record", home.Path("x.csv")}), 2, ".gsr");
}

TEST_F(OptimizeSetTest, TheSameNameResumes) {
  const Words words = {"--name", "mine", "--budget-evals", "20", "--json", "--seed"};
  const auto with_seed = [&](const char* seed) {
    Words all = words;
    all.emplace_back(seed);
    return Parsed(Optimize(shapes, all).out);
  };
  const nlohmann::json first = with_seed("1");
  const auto stored = [&] { return Parsed(home.Run({"records", "stats", "--json"}).out)["replayed"]; };
  const nlohmann::json before = stored();
  const nlohmann::json second = with_seed("2");
  EXPECT_EQ(second["campaign"], "replay mine");
  EXPECT_EQ(second["results"], first["results"]);
  EXPECT_EQ(stored(), before) << "another seed judged something in a problem that was done";
}

TEST_F(OptimizeSetTest, EvaluateNamesTheProtocolThatThereIs) {
  const std::string fastest = Print(careful[0].plan());
  const Words words = {"evaluate", fastest, "64x64x64", "--device", "l40s", "--json"};
  EXPECT_EQ(Parsed(home.Run(words).out)["protocol"], "short");
  const std::string screened = Print(MadeUpTrials({128, 128, 128}, 40, kTn)[0].plan());
  ExpectOneError(home.Run({"evaluate", screened, "128x128x128", "--device", "l40s", "--protocol", "short"}), 3,
                 "in the screen protocol only");
  ExpectOneError(home.Run({"evaluate", fastest, "64x64x64", "--device", "l40s", "--counters"}), 3,
                 "no counters were recorded with it; --counters needs a GPU");
  ExpectOneError(home.Run({"verify", fastest, "64x64x64", "--device", "l40s"}), 3, "needs a GPU");
  ExpectOneError(home.Run({"promote", "--device", "l40s"}), 2, "a GPU measures");
  ExpectOneError(home.Run({"optimize", "64x64x64", "--promote", "--device", "l40s"}), 3, "which needs a GPU");
}

TEST(VerifyTest, FilesAreReadBeforeAGpuIsLookedFor) {
  const Home home;
  const std::string good = "gemm 64x64x64 tn f16 f32 | direct tile_m=32  # a comment";
  ExpectOneError(home.Run({"verify", "--pairs", home.File("pairs", good + "\ngemm 64x64 | direct")}), 2, "pairs:2: ");
  ExpectOneError(home.Run({"verify", "--pairs", home.File("none", "gemm 64x64x64 tn f16 f32")}), 2, "PROBLEM | PLAN");
  ExpectOneError(home.Run({"verify", "--pairs", home.File("alone", "\ndirect")}), 2,
                 "alone:2: a line is PROBLEM | PLAN");
  ExpectOneError(home.Run({"verify", "--pairs", home.File("nobody", "# nothing")}), 2, "holds no plan");
  ExpectOneError(home.Run({"verify", "--winners", "--archive", home.Path("nothing.sqlite")}), 3, "nothing.sqlite");
  EXPECT_FALSE(std::filesystem::exists(home.Path("nothing.sqlite")));
  ExpectOneError(home.Run({"verify", home.File("empty", "# nothing"), "64x64x64"}), 2, "holds no plan");
  ExpectOneError(home.Run({"verify", (home.Path("no.cu")).string(), "64x64x64"}), 2, "cannot open");
  ExpectOneError(home.Run({"verify", home.File("plan", "direct tile_m=32\n"), "64x64x64", "--device", "h200"}), 3,
                 "a recording tests nothing");
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
