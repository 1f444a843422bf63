#include "agents/json_rpc.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

// Calls "echo" answer their parameters; every other method is missing.
RpcResult Echo(const std::string& method, const Json& params) {
  if (method == "echo") return params;
  return RpcError{kRpcMethodNotFound, "no method"};
}

Json Answered(std::string_view text) {
  const std::optional<std::string> answer = AnswerRpc(ParseRpc(text), Echo);
  return answer ? Json::parse(*answer) : Json("nothing");
}

int CodeOf(const Json& answer) { return answer.at("error").at("code").get<int>(); }

TEST(JsonRpc, ACallIsAnsweredUnderItsId) {
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","id":7,"method":"echo","params":{"a":1}})"),
            Json::parse(R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})"));
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","id":"x","method":"echo"})")["id"], "x");
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","id":"x","method":"echo"})")["result"], Json::object());
}

TEST(JsonRpc, ANotificationAndAResponseAreNotAnswered) {
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","method":"echo"})"), "nothing");
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","method":"no such"})"), "nothing");
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","id":1,"result":{}})"), "nothing");
  EXPECT_EQ(Answered(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})"), "nothing");
}

TEST(JsonRpc, WrongMessagesHaveTheirCodes) {
  EXPECT_EQ(CodeOf(Answered("")), kRpcParseError);
  EXPECT_EQ(CodeOf(Answered("{")), kRpcParseError);
  EXPECT_EQ(CodeOf(Answered("{\"a\":\"\xff\"}")), kRpcParseError);
  EXPECT_EQ(CodeOf(Answered("7")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered("null")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered("[]")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"id":1,"method":"echo"})")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"1.0","id":1,"method":"echo"})")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"2.0","id":1,"method":7})")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"2.0","id":1})")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"2.0","id":null,"method":"echo"})")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"2.0","id":{},"method":"echo"})")), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":[1]})")), kRpcInvalidParams);
  EXPECT_EQ(CodeOf(Answered(R"({"jsonrpc":"2.0","id":1,"method":"no such"})")), kRpcMethodNotFound);
}

TEST(JsonRpc, ABatchIsAnsweredTogetherWithoutItsNotifications) {
  const Json answers = Answered(
      R"([{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"echo"},7,
          {"jsonrpc":"2.0","id":2,"method":"no such"}])");
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["id"], 1);
  EXPECT_EQ(CodeOf(answers[1]), kRpcInvalidRequest);
  EXPECT_EQ(CodeOf(answers[2]), kRpcMethodNotFound);
  EXPECT_EQ(Answered(R"([{"jsonrpc":"2.0","method":"echo"}])"), "nothing");
}

TEST(JsonRpc, ALargeBatchIsRefusedAsOne) {
  std::string batch = "[1";
  for (int i = 0; i < 10'000; ++i) batch += ",1";
  EXPECT_EQ(CodeOf(Answered(batch + "]")), kRpcInvalidRequest);
}

TEST(JsonRpc, DeepNestingIsNoTrouble) {
  const std::string opened(1'000'000, '['), closed(1'000'000, ']');
  EXPECT_EQ(CodeOf(Answered(opened)), kRpcParseError);
  EXPECT_EQ(CodeOf(Answered(opened + closed)), kRpcParseError);
  const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":)";
  EXPECT_EQ(CodeOf(Answered(call + opened + closed + "}}")), kRpcParseError);
  EXPECT_EQ(Answered(call + "\"" + opened + "\"}}")["result"]["a"], opened) << "brackets in a text are no depth";
}

TEST(JsonRpc, AnObjectOfManyMembersIsRefusedBeforeItIsBuilt) {
  const auto params_of = [](int members) {
    std::string text;
    for (int i = 0; i < members; ++i) text += fmt::format("{}\"a{}\":{{\"b\":\":\"}}", i == 0 ? "" : ",", i);
    return R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{)" + text + "}}";
  };
  EXPECT_EQ(Answered(params_of(512))["result"].size(), 512u) << "colons in texts and in other objects do not count";
  EXPECT_EQ(CodeOf(Answered(params_of(513))), kRpcParseError);
  EXPECT_EQ(CodeOf(Answered(params_of(200'000))), kRpcParseError) << "a service that builds it is busy for a minute";
}

TEST(JsonRpc, AMessageCutAnywhereIsAParseError) {
  const std::string whole = R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a\u00e9b"}})";
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(CodeOf(Answered(whole.substr(0, i))), kRpcParseError) << i;
}

TEST(JsonRpc, FiftyThousandSpoiltMessagesAreAnsweredOrIgnored) {
  const std::string whole = R"([{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,2.5,true,null]}}])";
  Random random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string spoilt = whole;
    for (int changes = 0; changes < 3; ++changes) spoilt[random.Below(spoilt.size())] = char(random.Below(256));
    const std::optional<std::string> answer = AnswerRpc(ParseRpc(spoilt), Echo);
    ASSERT_TRUE(!answer || Json::accept(*answer)) << spoilt;
  }
}

TEST(JsonRpc, ARefusalAnswersEveryCall) {
  const RpcMessage message =
      ParseRpc(R"([{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"echo"}])");
  const Json answers = Json::parse(*RefuseRpc(message, {kRpcBusy, "busy"}));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(CodeOf(answers[1]), kRpcBusy);
}

}  // namespace
}  // namespace gemmsmith
