// `gemmsmith serve` and `gemmsmith mcp` as programs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "archive/database.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "problem/gemm.h"
#include "serve/loopback_client.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::minutes kPatience{5};
constexpr int kRequests = 40, kClients = 20;

std::chrono::steady_clock::time_point Deadline() { return std::chrono::steady_clock::now() + kPatience; }

struct HttpAnswered {
  std::string status;  // "200"
  Json body;
};

class ServiceTest : public testing::Test {
 protected:
  std::vector<std::string> Words(std::vector<std::string> words) const {
    words.insert(words.begin(), {"/usr/bin/env", "GEMMSMITH_HOME=" + folder_.path().string(), GEMMSMITH_PROGRAM});
    return words;
  }

  void Start(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"serve", "--port", "0", "--device", "h200"});
    server_.emplace(*PipedProcess::Start(Words(words)));
    std::string line;
    while (!line.ends_with('\n')) {
      std::string next;
      ASSERT_TRUE(server_->ReadExactly(1, next, Deadline()).ok()) << server_->StderrTail();
      line += next;
    }
    const std::string_view rest = std::string_view(line).substr(line.find("://") + 3);
    port_ = int(*ParseInteger(rest.substr(rest.find(':') + 1, rest.find('/') - rest.find(':') - 1)));
  }

  HttpAnswered Ask(const std::string& line, const std::string& body = "", const std::string& headers = "") const {
    const std::string answer = LoopbackClient(port_).Ask(
        line + " HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) + "\r\nContent-Type: application/json\r\n" +
        "Content-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
    const size_t end = answer.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    return {answer.substr(9, 3), Json::parse(answer.substr(end + 4), nullptr, false)};
  }
  HttpAnswered ResultOf(const std::string& id) const { return Ask("GET /v1/result/" + id + "?wait=300"); }

  // Sources that end in the check of their text, and plans that are compiled.
  static Json Request(int i) {
    if (i % 2 == 0) return {{"problem", "64x64x64"}, {"source", "import triton  # " + std::to_string(i)}};
    const Shape shape{64 * (1 + i), 64, 64};
    return {{"problem", Print(shape)}, {"plan", "direct tile_m=32 warps_k=8"}};
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-service-test");
  std::optional<PipedProcess> server_;
  int port_ = 0;
};

TEST_F(ServiceTest, WhatWasAcceptedBeforeKill9IsAnsweredOnceAfterIt) {
  Start();
  std::vector<std::string> ids;
  Json batch = {{"requests", Json::array()}};
  for (int i = 0; i < kRequests; ++i) batch["requests"].push_back(Request(i));
  const HttpAnswered accepted = Ask("POST /v1/judge", batch.dump());
  ASSERT_EQ(accepted.status, "200") << accepted.body;
  for (const Json& result : accepted.body["results"]) ids.push_back(result["id"]);
  const HttpAnswered first = ResultOf(ids.front());
  server_->KillAndReap();

  Start();
  EXPECT_EQ(ResultOf(ids.front()).body, first.body);
  for (int i = 0; i < kRequests; ++i) {
    const HttpAnswered answer = ResultOf(ids[size_t(i)]);
    EXPECT_EQ(answer.status, i % 2 == 0 ? "200" : "503") << answer.body << "no GPU timed the plans";
  }
  server_->KillAndReap();
  const auto journal = *Database::Open(folder_.path() / "judge.sqlite");
  EXPECT_EQ(*journal->Integer("SELECT count(*) FROM request"), kRequests);
  EXPECT_EQ(*journal->Integer("SELECT count(*) FROM request WHERE state = 'pending'"), 0);
  const auto archive = *Database::Open(folder_.path() / "archive.sqlite");
  EXPECT_EQ(*archive->Integer("SELECT count(*) FROM trial"), kRequests / 2) << "each verdict is one trial";
}

TEST_F(ServiceTest, ManyClientsGetTheirOwnAnswers) {
  Start();
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int client = 0; client < kClients; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 5; ++i) {
        const std::string text = "import triton  # " + std::to_string(client * 10 + i);
        const HttpAnswered accepted = Ask("POST /v1/judge", Json{{"problem", "64x64x64"}, {"source", text}}.dump());
        if (accepted.status != "200") continue;
        const std::string id = accepted.body["results"][0]["id"];
        const HttpAnswered answer = ResultOf(id);
        right += answer.status == "200" && answer.body["id"] == id && answer.body["outcome"] == "illegal";
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, kClients * 5);
}

TEST_F(ServiceTest, OtherAddressesAndWrongTokensAreRefused) {
  const Result<ProcessResult> open = RunProcess(Words({"serve", "--address", "0.0.0.0"}), kPatience);
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->exit_code, 2);
  EXPECT_NE(open->output.find("token"), std::string::npos) << open->output;

  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "token", "secret\n").ok());
  Start({"--address", "0.0.0.0", "--token-file", (folder_.path() / "token").string()});
  EXPECT_EQ(Ask("GET /health").status, "401");
  EXPECT_EQ(Ask("GET /health", "", "Authorization: Bearer secreT\r\n").status, "401");
  EXPECT_EQ(Ask("GET /health", "", "Authorization: Bearer secret\r\n").status, "200");
}

TEST_F(ServiceTest, ASecondServiceOnOneJournalIsRefused) {
  Start();
  const Result<ProcessResult> second = RunProcess(Words({"serve", "--port", "0", "--device", "h200"}), kPatience);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->exit_code, 3) << second->output;
}

TEST_F(ServiceTest, McpAnswersLinesAndEndsWithItsInput) {
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "lines",
                              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n"
                              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                              "\"judge_plan\",\"arguments\":{\"problem\":\"255x255x511\",\"plan\":\"wgmma\"}}}\n")
                  .ok());
  std::vector<std::string> words = Words({"mcp", "--device", "h200"});
  words.insert(words.begin(), {"bash", "-c", "\"$@\" < \"$0\"", (folder_.path() / "lines").string()});
  const Result<ProcessResult> run = RunProcess(words, kPatience);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->exit_code, 0) << run->output;
  std::vector<std::string_view> lines = Split(run->output, '\n');
  ASSERT_EQ(lines.size(), 3u) << run->output;
  for (const std::string_view line : {lines[0], lines[1]}) {
    const Json answer = Json::parse(line);
    EXPECT_TRUE(answer["id"] == 1 || answer["result"]["structuredContent"]["outcome"] == "illegal") << answer;
  }
}

}  // namespace
}  // namespace gemmsmith
