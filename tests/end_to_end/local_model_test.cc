// optimize --proposer llm over the exchanges of a real model (cassettes/README.md), without the model.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

TEST(LocalModelTest, ARealRunIsReplayedWithoutEndpointCompilerAndGpu) {
  const Home home;
  const std::string nowhere = "http://127.0.0.1:9/v1", cassette = GEMMSMITH_CASSETTES "/smollm2.jsonl";
  const std::string recorded = *ReadFile(cassette);
  const auto replay = [&] {
    return home.Run({"optimize", "64x64x64", "--layout", "tn", "--proposer", "llm", "--endpoint", nowhere, "--cassette",
                     cassette, "--json"});
  };
  const Finished replayed = replay();
  ASSERT_EQ(replayed.exit_code, 4) << replayed.error << "cassettes/README.md says how to record it again";
  const nlohmann::json run = Parsed(replayed.out)["runs"][0];
  EXPECT_EQ(run["model"], "smollm2-135m-instruct");
  EXPECT_EQ(run["answers"], 9);
  EXPECT_EQ(run["unreadable"], 9);
  EXPECT_EQ(run["outcomes"], nlohmann::json::object());
  EXPECT_EQ(run["prompt_tokens"], 47764);
  EXPECT_EQ(run["answer_tokens"], 1197);
  EXPECT_EQ(run["stop_reason"], "budget of 9 answers used");
  EXPECT_EQ(replay().out, replayed.out);
  EXPECT_EQ(*ReadFile(cassette), recorded);
}

}  // namespace
}  // namespace gemmsmith
