#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

std::string SomeLegalPlan(const Home& home) {
  const Finished listed = home.Run({"plan", "list", "64x64x64", "--count", "1"});
  return listed.out.substr(0, listed.out.find('\n'));
}

TEST(PlanTest, EveryListedPlanIsLegal) {
  const Home home;
  const Finished listed = home.Run({"plan", "list", "64x64x64", "--count", "5"});
  ASSERT_EQ(listed.exit_code, 0) << listed.error;
  int plans = 0;
  for (const std::string_view line : Split(listed.out, '\n')) {
    if (line.empty()) continue;
    ++plans;
    EXPECT_EQ(home.Run({"plan", "check", std::string(line), "64x64x64"}).exit_code, 0) << line;
  }
  EXPECT_EQ(plans, 5);
}

TEST(PlanTest, AnIllegalPlanExitsWithFourAndAllReasons) {
  const Home home;
  const Words words = {"plan", "check", "direct tile_m=16 tile_n=8 warps_m=4 warps_n=4 warps_k=16", "64x64x64"};
  const Finished text = home.Run(words);
  EXPECT_EQ(text.exit_code, 4);
  EXPECT_TRUE(text.out.starts_with("illegal: ")) << text.out;
  Words with_json = words;
  with_json.push_back("--json");
  const nlohmann::json json = Parsed(home.Run(with_json).out);
  EXPECT_EQ(json["legal"], false);
  EXPECT_GE(json["reasons"].size(), 2u);
  EXPECT_EQ(size_t(std::count(text.out.begin(), text.out.end(), '\n')), json["reasons"].size() + 1);
}

TEST(PlanTest, EmitsThinAndStandaloneSources) {
  const Home home;
  const std::string plan = SomeLegalPlan(home);
  const Finished thin = home.Run({"plan", "emit", plan, "64x64x64"});
  EXPECT_EQ(thin.exit_code, 0);
  EXPECT_NE(thin.out.find("#include \"gemm_direct.cuh\""), std::string::npos);
  const std::string path = home.Path("kernels/one.cu");
  const Finished standalone = home.Run({"plan", "emit", plan, "64x64x64", "--standalone", "-o", path});
  EXPECT_EQ(standalone.exit_code, 0) << standalone.error;
  const Result<std::string> text = ReadFile(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->find("#include \""), std::string::npos) << "includes something of ours";
}

TEST(PlanTest, EmitsFlatSourcesInStylesAndSaysWhatHasNone) {
  const Home home;
  const std::string plan = "direct tile_n=8";
  const Finished plain = home.Run({"plan", "emit", plan, "64x64x64", "--flat"}),
                 other = home.Run({"plan", "emit", plan, "64x64x64", "--flat", "--style", "1"});
  EXPECT_EQ(plain.exit_code + other.exit_code, 0) << plain.error << other.error;
  EXPECT_NE(plain.out.find("extern \"C\" cudaError_t gemm("), std::string::npos) << plain.out;
  EXPECT_NE(plain.out, other.out);
  ExpectOneError(home.Run({"plan", "emit", "wgmma", "64x64x64", "--flat"}), 2, "wgmma");
  ExpectOneError(home.Run({"plan", "emit", plan, "64x64x64", "--style", "1"}), 2, "--flat");
  ExpectOneError(home.Run({"plan", "emit", plan, "64x64x64", "--flat", "--standalone"}), 2, "exclude");
}

TEST(PlanTest, AnIllegalPlanIsNotEmitted) {
  const Finished finished = Home().Run({"plan", "emit", "direct tile_n=8 warps_n=4", "64x64x64"});
  ExpectOneError(finished, 4, "illegal");
  EXPECT_EQ(finished.out, "");
}

TEST(PlanTest, ExplainsEveryParameter) {
  const nlohmann::json json = Parsed(Home().Run({"plan", "explain", "--json"}).out);
  ASSERT_FALSE(json["families"].empty());
  for (const nlohmann::json& parameter : json["families"][0]["parameters"]) {
    EXPECT_FALSE(parameter["meaning"].get<std::string>().empty());
    EXPECT_FALSE(parameter["values"].empty());
    EXPECT_NE(std::find(parameter["values"].begin(), parameter["values"].end(), parameter["default"]),
              parameter["values"].end());
  }
}

TEST(PlanTest, ListsNothingForAnUnservedProblemWithExitFour) {
  // A leading dimension shorter than a line is wrong use; one without any legal plan is no candidate.
  ExpectOneError(Home().Run({"plan", "list", "64x64x64", "--lda", "63"}), 2, "lda");
}

TEST(PlanTest, FactsComeFromTheMachineCodeOrTheToolchainIsNamed) {
  const Home home;
  const Finished finished = home.Run({"plan", "facts", SomeLegalPlan(home), "64x64x64", "--json"});
  if (finished.exit_code == 3) {
    ExpectOneError(finished, 3, "nvrtc");
    GTEST_SKIP() << "no CUDA toolkit here";
  }
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  const nlohmann::json json = Parsed(finished.out);
  EXPECT_GT(json["facts"]["registers"], 0);
  EXPECT_GT(json["facts"]["mma_f32"], 0);
  EXPECT_EQ(json["facts"]["local_bytes"], 0);
  EXPECT_EQ(json["architecture"], "sm_90a");
}

TEST(PlanTest, AFullDiskIsOneLineWhereverItIs) {
  const Home home;
  const std::string plan = SomeLegalPlan(home);
  ExpectOneError(home.Run({"plan", "emit", plan, "64x64x64"}, "/dev/full"), 1, "No space left");
  ExpectOneError(home.Run({"plan", "list", "64x64x64", "--json"}, "/dev/full"), 1, "No space left");
  ExpectOneError(home.Run({"--help"}, "/dev/full"), 1, "No space left");
  EXPECT_EQ(home.Run({"plan", "emit", plan, "64x64x64", "-o", "/dev/full/x.cu"}).exit_code, 1);
}

}  // namespace
}  // namespace gemmsmith
