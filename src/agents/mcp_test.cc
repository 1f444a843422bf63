#include "agents/mcp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "agents/fake_judge.h"
#include "base/descriptors.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

class McpTest : public testing::Test {
 protected:
  Json Handled(const std::string& method, const Json& params = Json::object()) {
    const RpcResult result = server_.Handle(method, params);
    if (const RpcError* const error = std::get_if<RpcError>(&result)) return error->code;
    return std::get<Json>(result);
  }
  Json Called(const std::string& tool, const Json& arguments) {
    return Handled("tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  static std::string TextOf(const Json& result) { return result["content"][0]["text"]; }

  // What the server writes for these bytes.
  std::string Served(const std::string& bytes, const McpLimits& limits = {}) {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC) + pipe2(out, O_CLOEXEC), 0);
    std::thread writer([&] {
      WriteAll(in[1], bytes);
      close(in[1]);
    });
    std::string answers;
    std::thread reader([&] { answers.resize(size_t(ReadUpTo(out[0], 1 << 20, answers))); });
    EXPECT_TRUE(ServeMcp(server_, in[0], out[1], limits).ok());
    close(out[1]);
    writer.join(), reader.join();
    close(in[0]), close(out[0]);
    return answers;
  }
  static std::vector<Json> Lines(const std::string& answers) {
    std::vector<Json> lines;
    for (size_t from = 0; from < answers.size();) {
      const size_t end = answers.find('\n', from);
      lines.push_back(Json::parse(answers.substr(from, end - from)));
      from = end + 1;
    }
    return lines;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-mcp-test");
  const std::unique_ptr<Archive> archive_ = *Archive::Open(folder_.path() / "archive.sqlite");
  const std::unique_ptr<JudgeJournal> journal_ = *JudgeJournal::Open(folder_.path() / "judge.sqlite");
  FakeJudge judge_;
  const std::unique_ptr<JudgeQueue> queue_ = *JudgeQueue::Open(judge_, *journal_, {.capacity = 4});
  Tools tools_{ToolGround{*queue_, *journal_, *archive_, *FindDevice("h200"), std::nullopt}};
  const McpServer server_{tools_, "1.2.3"};
};

TEST_F(McpTest, AKnownVersionIsAcceptedAndAnyOtherIsAnsweredWithTheNewest) {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
    EXPECT_EQ(Handled("initialize", {{"protocolVersion", version}})["protocolVersion"], version);
  for (const Json& wrong : {Json("1999-01-01"), Json(7), Json()})
    EXPECT_EQ(Handled("initialize", {{"protocolVersion", wrong}})["protocolVersion"], "2025-11-25");
  const Json answer = Handled("initialize");
  EXPECT_EQ(answer["serverInfo"]["version"], "1.2.3");
  EXPECT_TRUE(answer["capabilities"].contains("tools"));
}

TEST_F(McpTest, EveryToolHasASchemaAndWrongCallsAnError) {
  const Json tools = Handled("tools/list")["tools"];
  ASSERT_EQ(tools.size(), 6u);
  for (const Json& tool : tools) {
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
    const Json answer = Called(tool["name"], {{"no such", 1}});
    EXPECT_TRUE(answer["isError"]) << answer;
    EXPECT_NE(TextOf(answer).find("no such"), std::string::npos);
    EXPECT_TRUE(Called(tool["name"], Json::object())["isError"]) << tool["name"];
  }
}

TEST_F(McpTest, UnknownMethodsAndToolsAreErrorsOfTheProtocol) {
  EXPECT_EQ(Handled("ping"), Json::object());
  EXPECT_EQ(Handled("resources/list"), kRpcMethodNotFound);
  EXPECT_EQ(Handled("tools/call"), kRpcInvalidParams);
  EXPECT_EQ(Handled("tools/call", {{"name", 7}}), kRpcInvalidParams);
  EXPECT_EQ(Handled("tools/call", {{"name", "no such"}}), kRpcInvalidParams);
  EXPECT_EQ(Handled("tools/call", {{"name", "get_task"}, {"arguments", {1}}}), kRpcInvalidParams);
}

TEST_F(McpTest, ATaskHasProblemFloorRulesAndExample) {
  const std::string text = TextOf(Called("get_task", {{"problem", "64x128x256 nn bf16 f32"}}));
  for (const char* part : {"m = 64, n = 128, k = 256", "\"gemm nn bf16 f32\"", "NVIDIA H200", "# Floor",
                           "cuTensorMapEncodeTiled", "Element = __nv_bfloat16"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST_F(McpTest, AVerdictIsNoErrorWhateverItSays) {
  const Json wrong = Called("judge_source", {{"problem", "64x64x64"}, {"source", "ends"}});
  EXPECT_FALSE(wrong["isError"]) << wrong;
  EXPECT_EQ(wrong["structuredContent"]["outcome"], "wrong");
  EXPECT_EQ(Json::parse(TextOf(wrong)), wrong["structuredContent"]);
  const Json untimed = Called("judge_source", {{"problem", "64x64x64"}, {"source", "untimed"}});
  EXPECT_FALSE(untimed["isError"]);
  EXPECT_FALSE(untimed["structuredContent"].contains("outcome")) << "there is none";
  EXPECT_TRUE(Called("judge_source", {{"problem", "64x64x64"}, {"source", "fails"}})["isError"]);
}

TEST_F(McpTest, AVerdictThatTakesLongIsFetchedLater) {
  judge_.Open(false);
  const Json pending =
      Called("judge_source", {{"problem", "64x64x64"}, {"source", "ends"}, {"wait_seconds", 0}})["structuredContent"];
  EXPECT_EQ(pending["state"], "pending");
  EXPECT_EQ(Called("get_result", {{"id", pending["id"]}, {"wait_seconds", 0}})["structuredContent"], pending);
  judge_.Open(true);
  EXPECT_EQ(Called("get_result", {{"id", pending["id"]}, {"wait_seconds", 300}})["structuredContent"]["outcome"],
            "wrong");
  EXPECT_EQ(TextOf(Called("show_source", {{"id", pending["id"]}})), "ends");
  EXPECT_TRUE(Called("get_result", {{"id", "0123"}})["isError"]);
  EXPECT_TRUE(Called("get_result", {{"id", pending["id"]}, {"wait_seconds", -1}})["isError"]);
  EXPECT_TRUE(Called("get_result", {{"id", pending["id"]}, {"wait_seconds", 1.5}})["isError"]);
}

TEST_F(McpTest, APlanIsShownAsAStandaloneSourceIfItIsLegal) {
  const Json arguments = {{"problem", "256x256x512"}, {"plan", "direct tile_m=32 warps_k=8"}};
  const std::string text = TextOf(Called("show_source", arguments));
  EXPECT_NE(text.find("gemmsmith_descriptor_v1"), std::string::npos);
  const Json illegal = Called("show_source", {{"problem", "255x255x511"}, {"plan", "wgmma"}});
  EXPECT_TRUE(illegal["isError"]) << TextOf(illegal);
}

TEST_F(McpTest, LinesAreAnsweredUntilTheInputEnds) {
  const std::vector<Json> answers = Lines(Served(
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\r\n"
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n  \nrubbish\n"
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"judge_source\",\"arguments\":"
      "{\"problem\":\"64x64x64\",\"source\":\"a\"}}}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}"));
  ASSERT_EQ(answers.size(), 4u);
  for (const Json& answer : answers) {
    EXPECT_EQ(answer.contains("error"), answer["id"].is_null()) << answer;
    EXPECT_TRUE(answer["id"] != 2 || answer["result"]["structuredContent"]["outcome"] == "measured") << answer;
  }
}

TEST_F(McpTest, ALongLineIsRefusedAndTheNextOneAnswered) {
  const std::string bytes =
      std::string(300'000, 'x') + "\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n" + std::string(300'000, 'x');
  const std::vector<Json> answers = Lines(Served(bytes, {.line_bytes = 1000}));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["error"]["code"], kRpcParseError);
  EXPECT_EQ(answers[1]["id"], 3);
  EXPECT_EQ(answers[2]["error"]["code"], kRpcParseError);
}

TEST_F(McpTest, TooManyCallsAtOnceAreRefusedAsBusyAndEachIsAnsweredOnce) {
  std::string bytes;
  for (int i = 0; i < 100; ++i)
    bytes +=
        "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(i) +
        ",\"method\":\"tools/call\",\"params\":{\"name\":\"list_best\",\"arguments\":{\"problem\":\"64x64x64\"}}}\n";
  std::set<int> ids;
  for (const Json& answer : Lines(Served(bytes, {.threads = 1, .waiting = 1}))) {
    EXPECT_TRUE(ids.insert(answer["id"].get<int>()).second);
    EXPECT_TRUE(answer.contains("result") || answer["error"]["code"] == kRpcBusy) << answer;
  }
  EXPECT_EQ(ids.size(), 100u);
}

TEST_F(McpTest, AFullQueueIsAnErrorInWords) {
  judge_.Open(false);
  for (const char* text : {"a", "b", "c", "d"})
    Called("judge_source", {{"problem", "64x64x64"}, {"source", text}, {"wait_seconds", 0}});
  const Json full = Called("judge_source", {{"problem", "64x64x64"}, {"source", "e"}});
  EXPECT_TRUE(full["isError"]);
  EXPECT_NE(TextOf(full).find("again"), std::string::npos);
  judge_.Open(true);
}

}  // namespace
}  // namespace gemmsmith
