// gemmsmith compare: traces made, kept, scored again, and refused where they do not belong.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "policy/model.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

class CompareTest : public testing::Test {
 protected:
  CompareTest() {
    std::vector<Trial> trials;
    for (const Shape& shape : {Shape{64, 64, 512}, Shape{1, 4096, 4096}, Shape{64, 64, 64}})
      for (Trial& trial : MadeUpTrials(shape, 90, kTn)) trials.push_back(std::move(trial));
    home.Record(trials);
  }

  Finished Recompute(Words words) const {
    for (const char* word : {"3", "--repeats", "--recompute", "compare"}) words.insert(words.begin(), word);
    return home.Run(words);
  }
  std::string Weights() const {
    ModelConfig config = DefaultModelConfig();
    config.width = 16, config.layers = 1, config.hidden = 32;
    return home.File("weights.safetensors", EncodeModel(NewModel(config, 1)));
  }

  Home home;
  const std::string traces = home.Path("records/l40s/compare/some.gtr");
};

TEST_F(CompareTest, WithoutTracesItSaysHowToMakeThem) {
  ExpectOneError(home.Run({"compare"}), 3, "make some with 'gemmsmith compare --recompute'");
}

// Traces are of exact records: whoever writes these anew, rounded, takes the command of the README away.
TEST_F(CompareTest, TheTracesThatComeAlongAreOfTheRecordsThatComeAlong) {
  const std::string recorded = GEMMSMITH_DATA "/h200";
  for (const char* const traces_file : {"/compare/policy.gtr", "/compare/searches.gtr"}) {
    const Finished scored = home.Run({"compare", recorded + traces_file, "--records", recorded, "--json"});
    ASSERT_EQ(scored.exit_code, 0) << scored.error;
    EXPECT_EQ(Parsed(scored.out)["heldout_shapes"], 60);
  }
}

TEST_F(CompareTest, WhatWasMadeIsScoredAgainAlike) {
  constexpr double kRounding = 1e-12;  // repeats that agree have an interval of one number
  const Finished made = Recompute({"--contenders", "random,local,bayes", "-o", traces, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  const nlohmann::json json = Parsed(made.out);
  EXPECT_EQ(json["heldout_shapes"], 2);
  EXPECT_EQ(json["held_out"], "512,8192,offgrid");
  EXPECT_EQ(json["repeats"], 3);
  EXPECT_EQ(json["proposers"].size(), 3u);
  for (const auto& [name, proposer] : json["proposers"].items()) {
    double last = 0;
    for (const char* budget : {"1", "2", "4", "8", "16", "32", "64"}) {
      const nlohmann::json& point = proposer["curve"][budget];
      EXPECT_GE(point["mean"], last) << name << " " << budget;
      EXPECT_LE(point["lo"], point["mean"].get<double>() + kRounding);
      EXPECT_GE(point["hi"], point["mean"].get<double>() - kRounding);
      last = point["mean"];
    }
    EXPECT_GT(last, 0.5);
    EXPECT_LE(last, 1);
  }
  EXPECT_GT(json["random_closed_form"]["curve"]["64"]["mean"], json["random_closed_form"]["curve"]["1"]["mean"]);
  EXPECT_EQ(Recompute({"--contenders", "random,local,bayes", "-o", traces, "--json"}).out, made.out);
  for (const Words& words : {Words{"compare", "--json"}, Words{"compare", traces, "--json"}})
    EXPECT_EQ(Parsed(home.Run(words).out)["proposers"], json["proposers"]);
}

TEST_F(CompareTest, PeopleSeeTablesCurvesAndWhereTheNumbersAreFrom) {
  ASSERT_EQ(Recompute({"--contenders", "random,ranked", "-o", traces}).exit_code, 0);
  const Finished text = home.Run({"compare"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  for (const char* part : {"2 shapes that training keeps out (512,8192,offgrid)", "replayed: recorded on an MADE-UP",
                           "2001-09-09", "98 % after", "random, exactly", "where 95 % of the repeats lie",
                           "evaluations", "random measured less random exactly", "some.gtr"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  for (const std::string_view line : Split(text.out, '\n')) EXPECT_LE(line.size(), 120u) << line;
}

TEST_F(CompareTest, PoliciesCompeteUnderTheirNamesAndFilesAreReadBesideEachOther) {
  const std::string weights = Weights(), policies = home.Path("policies.gtr");
  ASSERT_EQ(Recompute({"--contenders", "random", "-o", traces}).exit_code, 0);
  const Finished made = Recompute({"--policy", "policy=" + weights, "--policy", "other=" + weights, "--contenders",
                                   "policy,other", "-o", policies});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  const nlohmann::json json = Parsed(home.Run({"compare", traces, policies, "--json"}).out);
  EXPECT_EQ(json["proposers"].size(), 3u);
  EXPECT_EQ(json["proposers"]["policy"]["curve"], json["proposers"]["other"]["curve"]);
  EXPECT_TRUE(json["proposers"]["policy"]["origin"].get<std::string>().starts_with("weights "));
  ExpectOneError(home.Run({"compare", traces, traces}), 2, "'random' is in more than one of these traces");
  const std::string rubbish = home.File("rubbish.safetensors", "rubbish");
  ExpectOneError(Recompute({"--policy", "policy=" + rubbish}), 1, "no safetensors file");
}

TEST_F(CompareTest, PoliciesMayHaveExperienceOfWhatIsNotHeldOut) {
  const std::string records = home.Path("records/l40s"), policy = "policy=" + Weights();
  const auto with = [&](const std::string& source) {
    return Recompute({"--policy", policy, "--contenders", "policy", "--experience", source, "--json"});
  };
  const nlohmann::json json = Parsed(with(records).out);
  EXPECT_NE(json["proposers"]["policy"]["origin"].get<std::string>().find(" experience "), std::string::npos);
  ExpectOneError(with(fmt::format("{},nowhere", records)), 3, "nowhere");
  ExpectOneError(Recompute({"--policy", policy, "--hold-out", "64,4096", "--experience", records}), 2,
                 "no timed plan of a shape that is not held out");
  ExpectOneError(home.Run({"compare", "--experience", records}), 2, "--experience goes with --recompute");
  EXPECT_EQ(Parsed(Recompute({"--policy", policy, "--contenders", "policy", "--json"}).out), json) << "unless told";
  const nlohmann::json plain = Parsed(with("none").out);
  EXPECT_EQ(plain["proposers"]["policy"]["origin"].get<std::string>().find(" experience "), std::string::npos);
}

TEST_F(CompareTest, TheShippedPolicyCompetesUnlessAnotherIsNamed) {
  const nlohmann::json json = Parsed(Recompute({"--contenders", "policy,random", "--json"}).out);
  EXPECT_EQ(json["proposers"].size(), 2u);
  EXPECT_GT(json["proposers"]["policy"]["curve"]["64"]["mean"], 0.5);
  ExpectOneError(Recompute({"--contenders", "policy", "--policy", "other=" + Weights()}), 2,
                 "'policy' is no contender");
}

TEST_F(CompareTest, TheRuleSaysWhichProblemsAreCompared) {
  const nlohmann::json json = Parsed(Recompute({"--contenders", "random", "--hold-out", "64", "--json"}).out);
  EXPECT_EQ(json["heldout_shapes"], 2);
  EXPECT_EQ(json["held_out"], "64");
  ExpectOneError(Recompute({"--contenders", "random", "--hold-out", "2048"}), 3, "is held out by 2048");
  ExpectOneError(Recompute({"--contenders", "random", "--shapes", "64x64x64"}), 3,
                 "no recorded problem among the shapes of '64x64x64' is held out by 512,8192,offgrid");
}

TEST_F(CompareTest, TracesThatAreDamagedOrOfOtherRecordsAreRefusedInALine) {
  ASSERT_EQ(Recompute({"--contenders", "random", "-o", traces}).exit_code, 0);
  std::vector<Trial> others = MadeUpTrials({64, 64, 512}, 50, kTn);
  for (Trial& trial : MadeUpTrials({1, 4096, 4096}, 50, kTn)) others.push_back(std::move(trial));
  const std::string records = home.File("others.jsonl", JsonLines(others));
  ExpectOneError(home.Run({"compare", traces, "--records", records}), 2, "made from other records of gemm 1x4096x4096");
  const std::string bytes = *ReadFile(traces);
  ExpectOneError(home.Run({"compare", home.File("cut.gtr", bytes.substr(0, bytes.size() / 2))}), 1,
                 "cut.gtr: the traces are damaged");
  ExpectOneError(home.Run({"compare", home.File("no.gtr", "no traces")}), 1, "no.gtr: not a file of traces");
  ExpectOneError(home.Run({"compare", "there_is_none.gtr"}), 3, "there_is_none.gtr");
  ExpectOneError(home.Run({"compare", traces, "--records", "there_are_none.gsr"}), 3, "there_are_none.gsr");
}

TEST_F(CompareTest, AFullDiskIsSaidInALine) {
  const Finished finished = Recompute({"--contenders", "random", "-o", "/dev/full/x.gtr"});
  EXPECT_EQ(finished.exit_code, 1);
  ExpectOneError(finished, 1, "/dev/full");
}

}  // namespace
}  // namespace gemmsmith
