#include "serve/http_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "serve/loopback_client.h"

namespace gemmsmith {
namespace {

using std::chrono::milliseconds;

const std::string kLongBody(8'000'000, 'x');

// Says what it was told, when it is asked for the third time, and ends with a full stop.
class Echo : public HttpStream {
 public:
  void Receive(std::string_view bytes) override { told_ += bytes; }
  std::string TakeOutput() override {
    if (told_.empty() || ++asked_ % 3 != 0) return "";
    is_over_ = told_.ends_with('.');
    return std::exchange(told_, {});
  }
  bool IsWaiting() const override { return !told_.empty(); }
  bool IsOver() const override { return is_over_; }

 private:
  std::string told_;
  int asked_ = 0;
  bool is_over_ = false;
};

// One of a bounded number of places, which an answer holds while it is waited for.
const auto kPlace = std::make_shared<const int>(0);

HttpReply Handle(const HttpRequest& request) {
  if (request.path == "/place") return [place = kPlace]() -> std::optional<HttpAnswer> { return std::nullopt; };
  if (request.path == "/echo") return PlainAnswer(200, request.query + request.body);
  if (request.path == "/later")
    return [asked = 0]() mutable -> std::optional<HttpAnswer> {
      if (++asked < 4) return std::nullopt;
      return HttpAnswer{.status = 429, .retry_after_seconds = 5};
    };
  if (request.path == "/never") return []() -> std::optional<HttpAnswer> { return std::nullopt; };
  if (request.path == "/stream") return HttpUpgrade{{{"Upgrade", "echo"}}, std::make_shared<Echo>()};
  if (request.path == "/tagged")
    return HttpAnswer{.body = std::make_shared<const std::string>("body of " + request.method), .tag = "\"7\""};
  if (request.path == "/long") return HttpAnswer{.body = std::make_shared<const std::string>(kLongBody)};
  return PlainAnswer(404, "nothing");
}

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpLimits limits, HttpAccess access = {}) {
    server_ = *HttpServer::Listen(0, limits, access);
    thread_ = std::thread([this] { EXPECT_TRUE(server_->Serve(Handle, [this] { return is_over_.load(); }).ok()); });
  }
  void TearDown() override {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }

  LoopbackClient Client() const { return LoopbackClient(server_->port()); }
  std::string Ask(const std::string& line, const std::string& headers = "") const {
    return Client().Ask(line + " HTTP/1.1\r\nHost: localhost:" + std::to_string(server_->port()) + "\r\n" + headers +
                        "\r\n");
  }

  std::unique_ptr<HttpServer> server_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

TEST_F(HttpServerTest, AnswersWithBodyAndTag) {
  Start({});
  const std::string answer = Ask("GET /tagged");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nbody of GET")) << answer;
  EXPECT_NE(answer.find("ETag: \"7\"\r\n"), std::string::npos);
  EXPECT_NE(answer.find("Content-Length: 11\r\n"), std::string::npos);
  EXPECT_EQ(answer.find("Access-Control"), std::string::npos) << "pages of other sites may not read";
}

TEST_F(HttpServerTest, WhoHasTheBodyIsNotSentItAgain) {
  Start({});
  const std::string known = Ask("GET /tagged", "If-None-Match: \"6\", \"7\"\r\n");
  EXPECT_TRUE(known.starts_with("HTTP/1.1 304 Not Modified\r\n")) << known;
  EXPECT_TRUE(known.ends_with("\r\n\r\n"));
  EXPECT_TRUE(Ask("GET /tagged", "If-None-Match: \"6\"\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(Ask("GET /other", "If-None-Match: *\r\n").starts_with("HTTP/1.1 404"));
}

TEST_F(HttpServerTest, HeadIsGetWithoutTheBody) {
  Start({});
  const std::string answer = Ask("HEAD /tagged");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Length: 12\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, NothingButGetAndHead) {
  Start({});
  for (const char* line : {"POST /tagged", "PUT /tagged", "OPTIONS /tagged", "get /tagged"}) {
    const std::string answer = Ask(line);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
    EXPECT_NE(answer.find("Allow: GET, HEAD\r\n"), std::string::npos);
  }
}

TEST_F(HttpServerTest, AnotherSitesNameIsRefused) {
  Start({});
  const int port = server_->port();
  for (const std::string& host :
       {fmt::format("evil.example:{}", port), std::string("localhost:1"), std::string("localhost")})
    EXPECT_TRUE(Client().Ask("GET /tagged HTTP/1.1\r\nHost: " + host + "\r\n\r\n").starts_with("HTTP/1.1 400 "))
        << host;
  EXPECT_TRUE(Client().Ask("GET /tagged HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 ")) << "without any Host";
  EXPECT_TRUE(Client()
                  .Ask(fmt::format("GET /tagged HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", port))
                  .starts_with("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, RubbishAndTooLongRequestsAreRefused) {
  Start({.request_bytes = 500});
  EXPECT_TRUE(Client().Ask("\x16\x03\x01 hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
  const std::string answer = Ask("GET /tagged", "X: " + std::string(2'000'000, 'x') + "\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 ") || answer.empty()) << answer;
  EXPECT_TRUE(Ask("GET /tagged", "X: " + std::string(600, 'x') + "\r\n").starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(Ask("GET /tagged").starts_with("HTTP/1.1 200 ")) << "and serves on";
}

TEST_F(HttpServerTest, HalfRequestsEndWithTheirTimeAndHoldNobodyUp) {
  Start({.request_time = milliseconds(300)});
  LoopbackClient half = Client(), silent = Client();
  half.Send("GET /tagged HTTP/1.1\r\nHost: local");
  EXPECT_TRUE(Ask("GET /tagged").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(half.ReadToEnd().starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(silent.ReadToEnd(), "");
}

TEST_F(HttpServerTest, ARequestInManyPiecesIsOne) {
  Start({});
  LoopbackClient slow = Client();
  for (const char c : fmt::format("GET /tagged HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server_->port()))
    slow.Send(std::string(1, c));
  EXPECT_TRUE(slow.ReadToEnd().starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, ManyConnectionsCloseTheOldestAndHoldNobodyUp) {
  Start({.connections = 8});
  std::vector<LoopbackClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(Client());
    clients.back().Send("GET /");
  }
  EXPECT_TRUE(Ask("GET /tagged").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(clients.front().ReadToEnd(), "");
}

TEST_F(HttpServerTest, WhoGoesAwayInTheMiddleOfALongAnswerHarmsNobody) {
  Start({});
  for (int i = 0; i < 20; ++i)
    Client().Send(fmt::format("GET /long HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server_->port()));
  const std::string answer = Ask("GET /long");
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + kLongBody)) << answer.size();
}

TEST_F(HttpServerTest, APostIsTakenWhereBodiesAre) {
  const std::string headers = "Content-Type: application/json; charset=utf-8\r\nContent-Length: 4\r\n";
  Start({.body_bytes = 100});
  const auto asked = [&](const std::string& head) {
    return Client().Ask(
        fmt::format("POST /echo?q= HTTP/1.1\r\nHost: localhost:{}\r\n{}\r\nbody", server_->port(), head));
  };
  EXPECT_TRUE(asked(headers).ends_with("\r\n\r\nq=body\n"));
  EXPECT_TRUE(asked("Content-Length: 4\r\n").starts_with("HTTP/1.1 415 "));
  EXPECT_TRUE(asked("Content-Type: text/plain\r\nContent-Length: 4\r\n").starts_with("HTTP/1.1 415 "));
  EXPECT_TRUE(asked(headers + "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(asked("Content-Type: application/json\r\nContent-Length: 101\r\n").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(Ask("PUT /echo", "Content-Length: 0\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(Ask("DELETE /echo?q").ends_with("\r\n\r\nq\n"));
}

TEST_F(HttpServerTest, APageOfAnotherOriginIsRefusedWhateverItAsks) {
  Start({.body_bytes = 100});
  for (const char* method : {"GET", "HEAD", "DELETE"}) {
    EXPECT_TRUE(Ask(method + std::string(" /tagged"), "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403 "));
    const std::string own = fmt::format("Origin: http://localhost:{}\r\n", server_->port());
    EXPECT_TRUE(Ask(method + std::string(" /tagged"), own).starts_with("HTTP/1.1 200 ")) << method;
  }
}

TEST_F(HttpServerTest, WhoAsksBeforeSendingABodyIsToldToGoOn) {
  Start({.body_bytes = 100});
  LoopbackClient client = Client();
  client.Send(
      fmt::format("POST /echo HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n"
                  "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n",
                  server_->port()));
  client.Send("bo");
  client.Send("dy");
  const std::string answer = client.ReadToEnd();
  EXPECT_TRUE(answer.ends_with("\r\n\r\nbody\n")) << answer;
}

TEST_F(HttpServerTest, AnAnswerThatIsWaitedForHoldsNobodyUp) {
  Start({});
  LoopbackClient never = Client();
  never.Send(fmt::format("GET /never HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server_->port()));
  const std::string later = Ask("GET /later");
  EXPECT_TRUE(later.starts_with("HTTP/1.1 429 Too Many Requests\r\n")) << later;
  EXPECT_NE(later.find("Retry-After: 5\r\n"), std::string::npos);
  EXPECT_TRUE(Ask("GET /tagged").starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AClientThatLeavesWhileItWaitsGivesItsPlaceBack) {
  Start({});
  const auto waits_for_places = [](long taken) {
    for (int i = 0; i < 5000 && kPlace.use_count() != 1 + taken; ++i) std::this_thread::sleep_for(milliseconds(1));
    return kPlace.use_count() == 1 + taken;
  };
  {
    std::vector<LoopbackClient> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(Client());
      clients.back().Send(fmt::format("GET /place HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server_->port()));
    }
    EXPECT_TRUE(waits_for_places(3));
  }
  EXPECT_TRUE(waits_for_places(0)) << kPlace.use_count();
}

TEST_F(HttpServerTest, AnUpgradedConnectionIsAStreamOfBothSides) {
  Start({});
  LoopbackClient client = Client();
  client.Send(fmt::format("GET /stream HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server_->port()));
  client.Send("hel");
  client.Send("lo.");
  EXPECT_TRUE(Ask("GET /tagged").starts_with("HTTP/1.1 200 "));
  const std::string answer = client.ReadToEnd();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nhello.")) << answer;
  EXPECT_EQ(Ask("GET /stream", "Origin: http://evil.example\r\n").substr(0, 12), "HTTP/1.1 403");
}

TEST_F(HttpServerTest, WithATokenOnlyItsBearersAreAnsweredUnderAnyName) {
  Start({.body_bytes = 100}, {.address = "0.0.0.0", .token = "secret"});
  const auto asked = [&](const std::string& headers) {
    return Client().Ask("GET /tagged HTTP/1.1\r\nHost: any.example\r\n" + headers + "\r\n").substr(0, 12);
  };
  EXPECT_EQ(asked(""), "HTTP/1.1 401");
  for (const char* wrong : {"secre", "secrets", "SECRET", "", "secretsecret"})
    EXPECT_EQ(asked("Authorization: Bearer " + std::string(wrong) + "\r\n"), "HTTP/1.1 401") << wrong;
  EXPECT_EQ(asked("Authorization: Bearer secret\r\n"), "HTTP/1.1 200");
  const std::string early = Client().Ask("POST /echo HTTP/1.1\r\nContent-Length: 50\r\n\r\n");
  EXPECT_TRUE(early.starts_with("HTTP/1.1 401")) << "without waiting for the body";
}

TEST_F(HttpServerTest, AnotherAddressNeedsAToken) {
  EXPECT_EQ(HttpServer::Listen(0, {}, {.address = "0.0.0.0"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(HttpServer::Listen(0, {}, {.address = "localhost"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(HttpServer::Listen(0, {}, {.address = "127.0.0.1"}).ok());
}

TEST_F(HttpServerTest, APortInUseIsOneLineThatSaysWhatToDo) {
  Start({});
  const auto second = HttpServer::Listen(server_->port());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find("in use: choose another"), std::string::npos) << second.status().message();
}

}  // namespace
}  // namespace gemmsmith
