#include "agents/mcp_http.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "agents/fake_judge.h"
#include "agents/settled_reply.h"
#include "base/files.h"
#include "base/random.h"
#include "serve/loopback_client.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;
using Headers = std::map<std::string, std::string>;

Json Call(int id, const std::string& method, const Json& params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
}

Json CallTool(int id, const std::string& tool, const Json& arguments) {
  return Call(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
}

Json JudgeSource(int id, const std::string& text, int wait_seconds = 300) {
  return CallTool(id, "judge_source", {{"problem", "64x64x64"}, {"source", text}, {"wait_seconds", wait_seconds}});
}

const Json kInitialized = {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};

class McpHttpTest : public testing::Test {
 protected:
  HttpReply Reply(const std::string& method, const std::string& body, Headers headers) {
    return http_.Answer({.method = method, .path = "/mcp", .headers = std::move(headers), .query = "", .body = body})
        .value();
  }
  HttpAnswer Post(const std::string& body, Headers headers) { return Now(Reply("POST", body, std::move(headers))); }
  HttpAnswer Post(const Json& message) { return Post(message.dump(), session_); }
  Headers NewSession() {
    const HttpAnswer answer = Post(Call(0, "initialize", {{"protocolVersion", "2025-06-18"}}).dump(), {});
    EXPECT_EQ(BodyOf(answer)["result"]["protocolVersion"], "2025-06-18");
    return {{"mcp-session-id", answer.headers.at("Mcp-Session-Id")}};
  }
  static Json BodyOf(const HttpAnswer& answer) { return Json::parse(*answer.body); }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-mcp-http-test");
  const std::unique_ptr<Archive> archive_ = *Archive::Open(folder_.path() / "archive.sqlite");
  const std::unique_ptr<JudgeJournal> journal_ = *JudgeJournal::Open(folder_.path() / "judge.sqlite");
  FakeJudge judge_;
  const std::unique_ptr<JudgeQueue> queue_ = *JudgeQueue::Open(judge_, *journal_, {.capacity = 4});
  Tools tools_{ToolGround{*queue_, *journal_, *archive_, *FindDevice("h200"), std::nullopt}};
  const McpServer server_{tools_, "1.2.3"};
  McpHttp http_{server_, {.sessions = 3, .waiting = 2}};
  const Headers session_ = NewSession();
};

TEST_F(McpHttpTest, ASessionListsAndCallsTheToolsOfStdio) {
  EXPECT_EQ(Post(kInitialized).status, 202);
  EXPECT_EQ(*Post(kInitialized).body, "");
  EXPECT_EQ(BodyOf(Post(Call(1, "tools/list")))["result"]["tools"], Tools::List());
  const HttpAnswer judged = Post(JudgeSource(2, "ends"));
  EXPECT_EQ(judged.status, 200);
  EXPECT_EQ(judged.content_type, "application/json");
  EXPECT_EQ(BodyOf(judged)["id"], 2);
  EXPECT_EQ(BodyOf(judged)["result"]["structuredContent"]["outcome"], "wrong");
  EXPECT_EQ(BodyOf(Post(Call(3, "no such")))["error"]["code"], kRpcMethodNotFound);
}

TEST_F(McpHttpTest, AClientOfEventsAloneGetsOneEvent) {
  const auto asking = [&](const std::string& accept) {
    Headers headers = session_;
    headers["accept"] = accept;
    return Post(Call(1, "ping").dump(), headers);
  };
  const HttpAnswer event = asking("text/event-stream");
  EXPECT_EQ(event.content_type, "text/event-stream");
  EXPECT_EQ(*event.body, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
  for (const char* accept : {"application/json, text/event-stream", "text/html, application/*;q=0.5", "*/*"})
    EXPECT_EQ(asking(accept).content_type, "application/json") << accept;
  EXPECT_EQ(asking("text/html, image/*").status, 406);
}

TEST_F(McpHttpTest, SessionsAreNamedKnownAndEnded) {
  EXPECT_EQ(Post(Call(1, "ping").dump(), {}).status, 400);
  EXPECT_EQ(Post(Call(1, "ping").dump(), {{"mcp-session-id", "no such"}}).status, 404);
  EXPECT_EQ(Now(Reply("DELETE", "", {})).status, 400);
  EXPECT_EQ(Now(Reply("DELETE", "", session_)).status, 200);
  EXPECT_EQ(Now(Reply("DELETE", "", session_)).status, 404);
  EXPECT_EQ(Post(Call(1, "ping")).status, 404);
  EXPECT_EQ(http_.sessions(), 0u);
}

TEST_F(McpHttpTest, OfManySessionsTheOneThatWasSilentLongestEnds) {
  const Headers second = NewSession(), third = NewSession();
  EXPECT_EQ(Post(Call(1, "ping")).status, 200);
  NewSession();
  EXPECT_EQ(http_.sessions(), 3u);
  EXPECT_EQ(Post(Call(1, "ping").dump(), second).status, 404);
  EXPECT_EQ(Post(Call(1, "ping")).status, 200);
}

TEST_F(McpHttpTest, OnlyVersionsThatAreSpokenAreTaken) {
  Headers headers = session_;
  for (const auto& [version, status] : {std::pair("2025-06-18", 200), {"2025-03-26", 200}, {"1999-01-01", 400}}) {
    headers["mcp-protocol-version"] = version;
    EXPECT_EQ(Post(Call(1, "ping").dump(), headers).status, status) << version;
  }
}

TEST_F(McpHttpTest, OtherMethodsAndPathsAreNotServed) {
  for (const char* method : {"GET", "HEAD"}) {
    const HttpAnswer answer = Now(Reply(method, "", session_));
    EXPECT_EQ(answer.status, 405);
    EXPECT_EQ(answer.headers.at("Allow"), "POST, DELETE");
  }
  EXPECT_FALSE(http_.Answer({.method = "POST", .path = "/mcp/"}).has_value());
}

TEST_F(McpHttpTest, WhatIsNoMessageIs400WithAnErrorOfTheProtocol) {
  for (const auto& [body, code] : {std::pair("", kRpcParseError),
                                   {"{", kRpcParseError},
                                   {"7", kRpcInvalidRequest},
                                   {"[]", kRpcInvalidRequest},
                                   {"{}", kRpcInvalidRequest},
                                   {R"({"jsonrpc":"1.0","method":"ping"})", kRpcInvalidRequest}}) {
    const HttpAnswer answer = Post(body, session_);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(BodyOf(answer)["error"]["code"], code) << body;
  }
  const Json batch = {Call(1, "initialize"), Call(2, "ping")};
  EXPECT_EQ(Post(batch).status, 400);
}

TEST_F(McpHttpTest, ABatchWaitsForAllItsVerdictsAndNoNotification) {
  judge_.Open(false);
  Json unasked = JudgeSource(0, "b");
  unasked.erase("id");
  EXPECT_EQ(Post(unasked).status, 202) << "while the judge holds it";
  HttpReply reply = Reply("POST", Json{JudgeSource(1, "a"), kInitialized, Call(2, "ping"), 7}.dump(), session_);
  HttpPending& pending = std::get<HttpPending>(reply);
  EXPECT_FALSE(pending().has_value());
  judge_.Open(true);
  const Json answers = BodyOf(Now(pending));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["result"]["structuredContent"]["outcome"], "measured");
  EXPECT_EQ(answers[1]["id"], 2);
  EXPECT_EQ(answers[2]["error"]["code"], kRpcInvalidRequest);
}

TEST_F(McpHttpTest, AVerdictThatTakesLongIsPendingAndTooManyWaitersAre429) {
  judge_.Open(false);
  const HttpAnswer pending = Post(JudgeSource(1, "a", 0));
  EXPECT_EQ(BodyOf(pending)["result"]["structuredContent"]["state"], "pending");
  {
    const HttpReply first = Reply("POST", JudgeSource(2, "a").dump(), session_);
    const HttpReply second = Reply("POST", JudgeSource(3, "a").dump(), session_);
    const HttpAnswer busy = Post(JudgeSource(4, "a"));
    EXPECT_EQ(busy.status, 429);
    EXPECT_GT(busy.retry_after_seconds, 0);
    EXPECT_EQ(BodyOf(busy)["error"]["code"], kRpcBusy);
    EXPECT_EQ(BodyOf(busy)["id"], 4);
    EXPECT_EQ(Post(Call(5, "ping")).status, 200);
  }
  EXPECT_EQ(Post(JudgeSource(6, "a", 0)).status, 200) << "their clients went away";
  judge_.Open(true);
}

TEST_F(McpHttpTest, AFullQueueIsAnErrorInWordsAsOverStdio) {
  judge_.Open(false);
  for (const char* text : {"a", "b", "c", "d"}) Post(JudgeSource(1, text, 0));
  const Json full = BodyOf(Post(JudgeSource(2, "e")))["result"];
  EXPECT_EQ(full["isError"], true) << full;
  EXPECT_NE(full["content"][0]["text"].get<std::string>().find("again"), std::string::npos);
  judge_.Open(true);
}

TEST_F(McpHttpTest, ABodyOfTwoMebibytesIsReadWhole) {
  const std::string text(2 << 20, 'x');
  const Json id = BodyOf(Post(JudgeSource(1, text)))["result"]["structuredContent"]["id"];
  EXPECT_EQ(BodyOf(Post(CallTool(2, "show_source", {{"id", id}})))["result"]["content"][0]["text"], text);
}

TEST_F(McpHttpTest, TenThousandSpoiltMessagesAreAnswered) {
  const std::string whole = JudgeSource(1, "untimed", 0).dump();
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string spoilt = whole.substr(0, random.Below(8) == 0 ? random.Below(whole.size() + 1) : whole.size());
    for (int changes = 0; changes < 2 && !spoilt.empty(); ++changes)
      spoilt[random.Below(spoilt.size())] = char(random.Below(256));
    const int status = Post(spoilt, session_).status;
    ASSERT_TRUE(status == 400 || status == 200 || status == 202) << status << spoilt;
  }
}

TEST_F(McpHttpTest, OverASocketHeadersAreCheckedAndSent) {
  const auto server = *HttpServer::Listen(0, {.body_bytes = 1 << 20}, {.token = "secret"});
  std::atomic<bool> is_over = false;
  std::thread thread([&] {
    EXPECT_TRUE(
        server
            ->Serve([&](const HttpRequest& request) { return *http_.Answer(request); }, [&] { return is_over.load(); })
            .ok());
  });
  const auto asked = [&](const std::string& method, const std::string& headers, const std::string& body) {
    return LoopbackClient(server->port())
        .Ask(fmt::format("{} /mcp HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n{}\r\n{}", method,
                         server->port(), body.size(), headers, body));
  };
  const std::string token = "Authorization: Bearer secret\r\n", type = "Content-Type: application/json\r\n",
                    body = Call(1, "initialize").dump();
  const std::string begun = asked("POST", token + type, body);
  EXPECT_TRUE(begun.starts_with("HTTP/1.1 200 ")) << begun;
  const size_t at = begun.find("Mcp-Session-Id: ");
  ASSERT_NE(at, std::string::npos);
  const std::string session = begun.substr(at, begun.find("\r\n", at) - at) + "\r\n";
  EXPECT_EQ(session.size(), std::string("Mcp-Session-Id: \r\n").size() + 32);
  EXPECT_TRUE(asked("POST", token + type + session, Call(1, "ping").dump()).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(asked("POST", type, body).starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(asked("POST", token, body).starts_with("HTTP/1.1 415 "));
  EXPECT_TRUE(asked("POST", token + type, std::string((1 << 20) + 1, ' ')).starts_with("HTTP/1.1 413 "));
  for (const char* method : {"POST", "DELETE", "GET"})
    EXPECT_TRUE(
        asked(method, token + type + session + "Origin: http://evil.example\r\n", "").starts_with("HTTP/1.1 403 "))
        << method;
  EXPECT_NE(asked("GET", token, "").find("Allow: POST, DELETE\r\n"), std::string::npos);
  EXPECT_TRUE(asked("DELETE", token + session, "").starts_with("HTTP/1.1 200 "));
  is_over = true;
  thread.join();
}

}  // namespace
}  // namespace gemmsmith
