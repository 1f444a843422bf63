// JSON-RPC 2.0: from the text of a message to calls, and from their results to the text of the answer.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gemmsmith {

struct RpcError {
  int code = 0;
  std::string message;
};
inline constexpr int kRpcParseError = -32700, kRpcInvalidRequest = -32600, kRpcMethodNotFound = -32601,
                     kRpcInvalidParams = -32602, kRpcBusy = -32000;

using RpcResult = std::variant<nlohmann::ordered_json, RpcError>;
// `params` is an object, empty where there was none.
using RpcHandler = std::function<RpcResult(const std::string& method, const nlohmann::ordered_json& params)>;

struct RpcCall {
  nlohmann::ordered_json id;  // a string or a number; null: a notification, which is not answered
  std::string method;
  nlohmann::ordered_json params;
};

// One message, perhaps a batch. An entry that is no call holds the error that answers it. Responses to calls of ours,
// which are never made, are left out.
struct RpcMessage {
  struct Entry {
    nlohmann::ordered_json id;
    std::variant<RpcCall, RpcError> call;
  };
  std::vector<Entry> entries;
  bool is_batch = false;

  bool Calls(std::string_view method) const;
};

// Any bytes may be given.
RpcMessage ParseRpc(std::string_view text);
// Makes the calls in their order. One line without its end; nullopt where nothing is to be answered.
std::optional<std::string> AnswerRpc(const RpcMessage& message, const RpcHandler& handler);
// One line that answers a message with this error, for each call that wants an answer.
std::optional<std::string> RefuseRpc(const RpcMessage& message, const RpcError& error);

}  // namespace gemmsmith
