#include "llm/chat_endpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "serve/http_server.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

// An endpoint of our own that answers as `handler` says, through the real libcurl.
class ChatEndpointTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<HttpClient>> client = HttpClient::Open();
    if (!client.ok()) GTEST_SKIP() << client.status().message();
  }
  void Serve(HttpHandler handler, std::string token = "") {
    Result<std::unique_ptr<HttpServer>> server =
        HttpServer::Listen(0, {.body_bytes = 1 << 20}, {.token = std::move(token)});
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    thread_ = std::jthread([this, handler = std::move(handler)] {
      EXPECT_TRUE(server_
                      ->Serve([&](const HttpRequest& request) { return ++asked_, handler(request); },
                              [this] { return ends_.load(); })
                      .ok());
    });
  }
  ~ChatEndpointTest() override { ends_ = true; }

  std::unique_ptr<ChatEndpoint> Endpoint(std::string key = "", int retries = 3) {
    return *ChatEndpoint::Open({.url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1/",
                                .key = std::move(key),
                                .retries = retries,
                                .first_pause = 0.01},
                               *HttpClient::Open());
  }
  static HttpAnswer Answers(const Json& json) {
    HttpAnswer answer = PlainAnswer(200, json.dump());
    answer.content_type = "application/json";
    return answer;
  }
  static Json Completion(const Json& content, const char* reason = "stop") {
    return {{"choices", {{{"message", {{"role", "assistant"}, {"content", content}}}, {"finish_reason", reason}}}},
            {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 3}}}};
  }
  const ChatRequest request_{.model = "m", .messages = {{"user", "caf\u00e9"}}, .temperature = 0.5, .seed = 1};

  std::atomic<bool> ends_ = false;
  std::atomic<int> asked_ = 0;
  std::unique_ptr<HttpServer> server_;
  std::jthread thread_;
};

TEST_F(ChatEndpointTest, AsksWithMessagesAndReadsTextAndTokens) {
  Json body;
  std::string target;
  Serve([&](const HttpRequest& request) -> HttpReply {
    body = Json::parse(request.body), target = request.path;
    return Answers(Completion("hello", "length"));
  });
  const Result<ChatAnswer> answer = Endpoint()->Ask(request_);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, (ChatAnswer{.text = "hello", .is_cut = true, .prompt_tokens = 7, .answer_tokens = 3}));
  EXPECT_EQ(target, "/v1/chat/completions");
  EXPECT_EQ(body["messages"][0]["content"], "caf\u00e9");
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["temperature"], 0.5);
}

TEST_F(ChatEndpointTest, SendsItsKeyAndSaysWhatToDoWithoutOne) {
  Serve([](const HttpRequest&) -> HttpReply { return Answers(Completion("x")); }, "secret");
  EXPECT_TRUE(Endpoint("secret")->Ask(request_).ok());
  const Status failure = Endpoint("wrong")->Ask(request_).status();
  EXPECT_EQ(failure.code(), StatusCode::kUnavailable);
  const std::string why = failure.message();
  EXPECT_NE(why.find("401"), why.npos) << why;
  EXPECT_NE(why.find("set OPENAI_API_KEY"), why.npos) << why;
  EXPECT_EQ(why.find("secret"), why.npos);
}

TEST_F(ChatEndpointTest, ABusyEndpointIsAskedAgain) {
  Serve([&](const HttpRequest&) -> HttpReply {
    if (asked_ > 2) return Answers(Completion("late"));
    return PlainAnswer(asked_ == 1 ? 429 : 503, "busy");
  });
  EXPECT_EQ(Endpoint()->Ask(request_)->text, "late");
  EXPECT_EQ(asked_, 3);
}

TEST_F(ChatEndpointTest, WhatCannotSucceedIsAskedOnce) {
  Serve([](const HttpRequest&) -> HttpReply {
    return PlainAnswer(400, Json{{"error", {{"message", "context\x1b too long"}}}}.dump());
  });
  const Status refusal = Endpoint()->Ask(request_).status();
  EXPECT_EQ(refusal.code(), StatusCode::kInvalidArgument);
  const std::string why = refusal.message();
  EXPECT_TRUE(why.ends_with("/v1/chat/completions answers 400: context? too long")) << why;
  EXPECT_EQ(asked_, 1);
}

TEST_F(ChatEndpointTest, GivesUpAfterItsRetries) {
  Serve([](const HttpRequest&) -> HttpReply { return PlainAnswer(500, "broken"); });
  EXPECT_EQ(Endpoint("", 2)->Ask(request_).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(asked_, 3);
}

TEST_F(ChatEndpointTest, AnswersThatAreNoneAreRefused) {
  std::string body;
  Serve([&](const HttpRequest&) -> HttpReply { return PlainAnswer(200, body); });
  for (const char* wrong : {"", "no JSON", "{}", "{\"choices\": []}", "[[[[", "{\"choices\": [{\"message\": 3}]}"}) {
    body = wrong;
    EXPECT_EQ(Endpoint()->Ask(request_).status().code(), StatusCode::kUnavailable) << wrong;
    EXPECT_EQ(Endpoint()->FirstModel().status().code(), StatusCode::kUnavailable) << wrong;
  }
  body = Completion(nullptr).dump();
  EXPECT_EQ(Endpoint()->Ask(request_)->text, "");
}

TEST_F(ChatEndpointTest, TakesTheFirstModelThatIsListed) {
  Serve([](const HttpRequest& request) -> HttpReply {
    EXPECT_EQ(request.path, "/v1/models");
    return Answers({{"data", {{{"id", "first"}}, {{"id", "second"}}}}});
  });
  EXPECT_EQ(*Endpoint()->FirstModel(), "first");
}

TEST_F(ChatEndpointTest, NobodyThereIsALine) {
  const auto endpoint = *ChatEndpoint::Open({.url = "http://127.0.0.1:1/v1", .retries = 0}, *HttpClient::Open());
  const Result<ChatAnswer> answer = endpoint->Ask(request_);
  EXPECT_EQ(answer.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(answer.status().message().find("127.0.0.1"), std::string::npos) << answer.status().message();
  EXPECT_FALSE(ChatEndpoint::Open({.url = "file:///etc/passwd"}, *HttpClient::Open()).ok());
}

TEST_F(ChatEndpointTest, AnInterruptEndsAPause) {
  Serve([](const HttpRequest&) -> HttpReply { return PlainAnswer(503, "busy"); });
  const auto endpoint = *ChatEndpoint::Open({.url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1",
                                             .first_pause = 60,
                                             .stop = [this] { return asked_ > 0; }},
                                            *HttpClient::Open());
  EXPECT_EQ(endpoint->Ask(request_).status().code(), StatusCode::kInterrupted);
}

}  // namespace
}  // namespace gemmsmith
