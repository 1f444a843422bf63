#include "llm/reward_http.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "llm/racing_judge.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

class RewardHttpTest : public testing::Test {
 protected:
  struct Answered {
    int status = 0;
    Json body;
  };
  Answered Post(const std::string& path, const Json& body, const std::string& method = "POST") {
    std::optional<HttpReply> reply = http_.Answer({.method = method, .path = path, .body = body.dump()});
    if (!reply) return {};
    HttpPending* const pending = std::get_if<HttpPending>(&*reply);
    while (pending != nullptr) {
      if (const std::optional<HttpAnswer> answer = (*pending)()) return {answer->status, Json::parse(*answer->body)};
      std::this_thread::yield();
    }
    const HttpAnswer& answer = std::get<HttpAnswer>(*reply);
    return {answer.status, Json::parse(*answer.body)};
  }
  static std::string Code(const std::string& fate) { return "```\n// gemmsmith_descriptor_v1 " + fate + "\n```\n"; }
  static Json Batch(const std::vector<std::string>& answers, const std::string& problem = "64x64x64") {
    Json body = {{"query", Json::array()}, {"prompts", Json::array()}, {"labels", Json::array()}};
    for (const std::string& answer : answers) {
      body["query"].push_back("Write. " + Code("of the prompt") + answer);
      body["prompts"].push_back("Write. " + Code("of the prompt"));
      body["labels"].push_back(problem);
    }
    return body;
  }
  static Json Row(const std::string& answer) {
    return {{"problem", "64x64x64 nn bf16 f32"},
            {"id", 7},
            {"responses_create_params", {{"input", "x"}}},
            {"response",
             {{"output",
               {{{"type", "reasoning"}},
                {{"type", "message"}, {"content", {{{"type", "output_text"}, {"text", answer}}}}}}}}}};
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-reward-http-test");
  const std::unique_ptr<JudgeJournal> journal_ = *JudgeJournal::Open(folder_.path() / "judge.sqlite");
  RacingJudge judge_;
  const std::unique_ptr<JudgeQueue> queue_ = *JudgeQueue::Open(judge_, *journal_, {.capacity = 3});
  RewardHttp http_{*queue_};
};

TEST_F(RewardHttpTest, ABatchOfOpenRlhfHasARewardForEachAnswer) {
  const Answered answered = Post("/get_reward", Batch({Code("fast"), "no code", Code("ends")}));
  ASSERT_EQ(answered.status, 200) << answered.body;
  EXPECT_EQ(answered.body["rewards"], (Json{1.5, -1.0, -0.5}));
  EXPECT_EQ(answered.body["scores"], answered.body["rewards"]);
  EXPECT_EQ(answered.body["extra_logs"]["passed"], (Json{1.0, 0.0, 0.0}));
}

TEST_F(RewardHttpTest, ARowOfNemoGymComesBackWithItsReward) {
  EXPECT_EQ(Post("/seed_session", Row("")).status, 200);
  const Answered answered = Post("/verify", Row(Code("fast")));
  ASSERT_EQ(answered.status, 200) << answered.body;
  EXPECT_EQ(answered.body["reward"], 1.5);
  EXPECT_EQ(answered.body["id"], 7);
  EXPECT_EQ(answered.body["response"], Row(Code("fast"))["response"]);
  EXPECT_EQ(Post("/verify", Row("I cannot")).body["reward"], -1.0);
}

TEST_F(RewardHttpTest, WhatSaysNothingOfASourceIsNoReward) {
  for (const char* fate : {"untimed", "fails", "measured beside no baseline"}) {
    const Answered answered = Post("/get_reward", Batch({Code("fast"), Code(fate)}));
    EXPECT_EQ(answered.status, 503) << fate;
    EXPECT_FALSE(answered.body.contains("rewards")) << fate;
    EXPECT_EQ(Post("/verify", Row(Code(fate))).status, 503) << fate;
  }
  judge_.Open(false);
  queue_->Submit({SourceNamed("a"), SourceNamed("b"), SourceNamed("c")}).value();
  EXPECT_EQ(Post("/get_reward", Batch({Code("new")})).status, 429);
  judge_.Open(true);
}

TEST_F(RewardHttpTest, NoSourceOfAPromptGetsAReward) {
  Json cut = Batch({"no code", "no code"});
  cut["query"][1] = cut["query"][1].get<std::string>().substr(1);
  const Answered answered = Post("/get_reward", cut);
  EXPECT_EQ(answered.status, 400);
  EXPECT_NE(answered.body["error"].get<std::string>().find("query 1"), std::string::npos) << answered.body;
}

TEST_F(RewardHttpTest, WrongBodiesAreNamed) {
  EXPECT_EQ(Post("/get_reward", Batch({Code("x")}, "64x64")).status, 400);
  EXPECT_EQ(Post("/get_reward", Batch({})).status, 400);
  EXPECT_EQ(Post("/get_reward", Batch({"1", "2", "3", "4"})).status, 200) << "none of them has code";
  EXPECT_EQ(Post("/get_reward", Batch({Code("1"), Code("2"), Code("3"), Code("4")})).status, 400);
  Json uneven = Batch({"1", "2"});
  uneven["labels"].erase(0);
  EXPECT_EQ(Post("/get_reward", uneven).status, 400);
  for (const Json& body : {Json(1), Json::object(), Json{{"query", "text"}}, Json{{"query", {1}}}})
    EXPECT_EQ(Post("/get_reward", body).status, 400) << body;
  for (const Json& body : {Json::object(), Json{{"problem", "64x64x64"}},
                           Json{{"problem", "64x64x64"}, {"response", {{"output", 3}}}}, Json{{"problem", 3}}})
    EXPECT_EQ(Post("/verify", body).status, 400) << body;
  EXPECT_EQ(Post("/verify", Row("x"), "GET").status, 405);
  EXPECT_EQ(Post("/v1/judge", Row("x")).status, 0) << "no wire of a trainer";
}

}  // namespace
}  // namespace gemmsmith
