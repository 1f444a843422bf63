#include "llm/openenv_http.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "llm/openenv_episode.h"
#include "llm/racing_judge.h"
#include "serve/websocket_frame.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

Json StepOf(const std::string& source) { return {{"type", "step"}, {"data", {{"source", source}}}}; }
Json ResetOf(const Json& data) { return {{"type", "reset"}, {"data", data}}; }

class OpenEnvHttpTest : public testing::Test {
 protected:
  static constexpr const char* kKey = "dGhlIHNhbXBsZSBub25jZQ==";

  HttpAnswer Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    HttpReply reply = http_.Answer({.method = method, .path = path, .headers = {}, .query = "", .body = body}).value();
    HttpPending* const pending = std::get_if<HttpPending>(&reply);
    while (pending != nullptr) {
      if (const std::optional<HttpAnswer> answer = (*pending)()) return *answer;
      std::this_thread::yield();
    }
    return std::get<HttpAnswer>(reply);
  }
  static Json BodyOf(const HttpAnswer& answer) { return Json::parse(*answer.body); }
  HttpAnswer Step(const Json& action) { return Ask("POST", "/step", Json{{"action", action}}.dump()); }

  HttpReply OpenSocket() {
    return http_
        .Answer({.method = "GET",
                 .path = "/ws",
                 .headers = {{"upgrade", "websocket"},
                             {"connection", "Upgrade"},
                             {"sec-websocket-version", "13"},
                             {"sec-websocket-key", kKey}},
                 .query = "",
                 .body = ""})
        .value();
  }
  std::shared_ptr<HttpStream> Connect() { return std::get<HttpUpgrade>(OpenSocket()).stream; }
  // The text of the one frame that answers.
  static Json Told(HttpStream& stream, const std::string& text) {
    stream.Receive(MaskedFrame(0x81, text));
    return Heard(stream);
  }
  static Json Told(HttpStream& stream, const Json& message) { return Told(stream, message.dump()); }
  static Json Heard(HttpStream& stream) {
    std::string output;
    while ((output = stream.TakeOutput()).empty()) std::this_thread::yield();
    return Json::parse(output.substr(output.find('{')));
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-openenv-test");
  const std::unique_ptr<JudgeJournal> journal_ = *JudgeJournal::Open(folder_.path() / "judge.sqlite");
  RacingJudge judge_;
  const std::unique_ptr<JudgeQueue> queue_ = *JudgeQueue::Open(judge_, *journal_, {.capacity = 2});
  const Device device_ = *FindDevice("h200");
  OpenEnvHttp http_{*queue_, device_, "1.2.3", 2};
};

TEST_F(OpenEnvHttpTest, AnEpisodeOverAWebSocketIsTaskSourceAndReward) {
  const std::shared_ptr<HttpStream> stream = Connect();
  const Json task = Told(*stream, ResetOf({{"problem", "64x128x256"}, {"episode_id", "e"}, {"seed", 7}}));
  EXPECT_EQ(task["type"], "observation");
  EXPECT_NE(task["data"]["observation"]["task"].get<std::string>().find("m = 64, n = 128, k = 256"), std::string::npos);
  EXPECT_TRUE(task["data"]["reward"].is_null());
  EXPECT_EQ(task["data"]["done"], false);
  const Json judged = Told(*stream, StepOf("fast"))["data"];
  EXPECT_EQ(judged["reward"], 1.5);
  EXPECT_EQ(judged["done"], true);
  EXPECT_EQ(judged["observation"]["verdict"], "measured");
  EXPECT_EQ(judged["observation"]["times"]["ours"]["device_cold"], 1000.0);
  const Json state = Told(*stream, Json{{"type", "state"}});
  EXPECT_EQ(state["data"]["episode_id"], "e");
  EXPECT_EQ(state["data"]["step_count"], 1);
  EXPECT_EQ(Told(*stream, StepOf("fast"))["data"]["code"], "EXECUTION_ERROR") << "the episode is over";
}

TEST_F(OpenEnvHttpTest, AnEpisodeHasAsManyTurnsAsItsResetSays) {
  const std::shared_ptr<HttpStream> stream = Connect();
  Told(*stream, ResetOf({{"problem", "64x64x64"}, {"turns", 3}}));
  EXPECT_EQ(Told(*stream, StepOf("ends"))["data"]["reward"], -0.5);
  EXPECT_EQ(Told(*stream, StepOf("I cannot.\n```\n"))["data"]["reward"], -1.0) << "no code";
  const Json last = Told(*stream, StepOf("Here:\n```\nfast\n// gemmsmith_descriptor_v1\n```\n"))["data"];
  EXPECT_EQ(last["reward"], 1.5) << last;
  EXPECT_EQ(last["done"], true);
}

TEST_F(OpenEnvHttpTest, WhatSaysNothingOfASourceIsAnErrorAndNoStep) {
  const std::shared_ptr<HttpStream> stream = Connect();
  Told(*stream, ResetOf({{"problem", "64x64x64"}}));
  for (const char* fate : {"untimed", "fails", "measured beside no baseline"}) {
    const Json answer = Told(*stream, StepOf(fate));
    EXPECT_EQ(answer["type"], "error") << fate;
    EXPECT_FALSE(answer["data"].contains("reward")) << fate;
    EXPECT_EQ(Step({{"source", fate}, {"problem", "64x64x64"}}).status, 503) << fate;
  }
  EXPECT_EQ(Told(*stream, Json{{"type", "state"}})["data"]["step_count"], 0);
  judge_.Open(false);
  queue_->Submit({SourceNamed("a"), SourceNamed("b")}).value();
  EXPECT_EQ(Told(*stream, StepOf("new"))["data"]["code"], "CAPACITY_REACHED");
  EXPECT_EQ(Step({{"source", "new"}, {"problem", "64x64x64"}}).status, 429);
  judge_.Open(true);
}

TEST_F(OpenEnvHttpTest, MessagesThatWaitAreAnsweredInTheirOrder) {
  const std::shared_ptr<HttpStream> stream = Connect();
  Told(*stream, ResetOf({{"problem", "64x64x64"}}));
  judge_.Open(false);
  stream->Receive(MaskedFrame(0x81, StepOf("fast").dump()) + MaskedFrame(0x81, R"({"type":"state"})") +
                  MaskedFrame(0x89, "?"));
  EXPECT_EQ(stream->TakeOutput(), "\x8a\x01?") << "a ping is answered meanwhile";
  EXPECT_TRUE(stream->IsWaiting());
  judge_.Open(true);
  std::string output;
  while (stream->IsWaiting()) output += stream->TakeOutput();
  EXPECT_LT(output.find("\"reward\":1.5"), output.find("\"step_count\":1")) << output;
  stream->Receive(MaskedFrame(0x81, R"({"type":"close"})"));
  EXPECT_EQ(stream->TakeOutput(), std::string("\x88\x02\x03\xe8"));
  EXPECT_TRUE(stream->IsOver());
}

TEST_F(OpenEnvHttpTest, WrongMessagesAreNamedAndTheSessionGoesOn) {
  const std::shared_ptr<HttpStream> stream = Connect();
  EXPECT_EQ(Told(*stream, StepOf("fast"))["data"]["code"], "VALIDATION_ERROR") << "before any reset";
  for (const char* text : {"", "{", "\x7f"})
    EXPECT_EQ(Told(*stream, std::string(text))["data"]["code"], "INVALID_JSON");
  for (const Json& message : {Json(7), Json::object(), Json{{"type", 3}}, Json{{"type", "mcp"}}})
    EXPECT_EQ(Told(*stream, message)["data"]["code"], "UNKNOWN_TYPE") << message;
  for (const Json& data : {Json(7), Json{{"problem", "64x64"}}, Json{{"problem", 3}}, Json{{"seed", -1}},
                           Json{{"turns", 0}}, Json{{"turns", 65}}, Json{{"episode_id", std::string(256, 'x')}}})
    EXPECT_EQ(Told(*stream, ResetOf(data))["data"]["code"], "VALIDATION_ERROR") << data;
  EXPECT_EQ(Told(*stream, ResetOf({{"problem", "64x64x64"}, {"unknown", 1}}))["type"], "observation");
  for (const Json& data : {Json(7), Json::object(), Json{{"source", 3}}, Json{{"source", "a"}, {"x", 1}},
                           Json{{"source", "a"}, {"problem", "64x64x128"}}})
    EXPECT_EQ(Told(*stream, Json{{"type", "step"}, {"data", data}})["data"]["code"], "VALIDATION_ERROR") << data;
  EXPECT_EQ(Told(*stream, StepOf("fast"))["data"]["reward"], 1.5);
}

TEST_F(OpenEnvHttpTest, OverHttpEachRequestIsAnEpisodeOfItsOwn) {
  EXPECT_EQ(BodyOf(Ask("POST", "/reset", R"({"problem":"64x64x64"})"))["observation"]["problem"],
            Print(*ParseProblem("64x64x64")));
  const Json judged = BodyOf(Step({{"source", "fast"}, {"problem", "64x64x64"}}));
  EXPECT_EQ(judged["reward"], 1.5);
  EXPECT_EQ(judged["done"], true);
  EXPECT_EQ(Step({{"source", "fast"}}).status, 400) << "without a problem";
  EXPECT_EQ(BodyOf(Ask("GET", "/state"))["step_count"], 0);
  EXPECT_EQ(BodyOf(Ask("GET", "/schema"))["action"]["required"], Json{"source"});
  EXPECT_EQ(BodyOf(Ask("GET", "/metadata"))["version"], "1.2.3");
  for (const char* body : {"{", "7", "{}"}) EXPECT_EQ(Ask("POST", "/step", body).status, 400) << body;
  EXPECT_EQ(Ask("GET", "/step").status, 405);
  EXPECT_EQ(Ask("POST", "/state", "{}").status, 405);
  EXPECT_EQ(Ask("DELETE", "/state").status, 405);
  EXPECT_EQ(Ask("GET", "/ws").status, 400) << "without a handshake";
  EXPECT_FALSE(http_.Answer({.method = "GET", .path = "/health"}).has_value());
}

TEST_F(OpenEnvHttpTest, ASeedDrawsTheSameProblemAgain) {
  const auto drawn = [&](int seed) {
    return BodyOf(Ask("POST", "/reset", Json{{"seed", seed}}.dump()))["observation"]["problem"];
  };
  std::set<std::string> problems;
  for (int seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(drawn(seed), drawn(seed));
    problems.insert(drawn(seed));
  }
  EXPECT_GT(problems.size(), 10u);
}

TEST_F(OpenEnvHttpTest, SessionsAreBounded) {
  std::shared_ptr<HttpStream> first = Connect(), second = Connect();
  EXPECT_EQ(std::get<HttpAnswer>(OpenSocket()).status, 503);
  first.reset();
  EXPECT_TRUE(std::holds_alternative<HttpUpgrade>(OpenSocket()));
}

}  // namespace
}  // namespace gemmsmith
