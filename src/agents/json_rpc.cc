#include "agents/json_rpc.h"

#include <algorithm>

#include "agents/bounded_json.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBatch = 64;

Json ResponseOf(const Json& id, const RpcResult& result) {
  Json response = {{"jsonrpc", "2.0"}, {"id", id}};
  if (const RpcError* const error = std::get_if<RpcError>(&result))
    response["error"] = {{"code", error->code}, {"message", error->message}};
  else
    response["result"] = std::get<Json>(result);
  return response;
}

bool IsId(const Json& json) { return json.is_string() || json.is_number(); }

bool IsResponse(const Json& json) {
  return json.is_object() && !json.contains("method") && (json.contains("result") || json.contains("error"));
}

RpcMessage::Entry Wrong(Json id, std::string message) {
  return {std::move(id), RpcError{kRpcInvalidRequest, std::move(message)}};
}

RpcMessage::Entry EntryOf(const Json& json) {
  if (!json.is_object()) return Wrong(nullptr, "a message is an object");
  const auto id = json.find("id");
  const bool has_id = id != json.end();
  if (has_id && !IsId(*id)) return Wrong(nullptr, "'id' is neither a string nor a number");
  const Json answer_to = has_id ? *id : Json();
  const auto version = json.find("jsonrpc"), method = json.find("method"), params = json.find("params");
  if (version == json.end() || *version != "2.0") return Wrong(answer_to, "'jsonrpc' is not \"2.0\"");
  if (method == json.end() || !method->is_string()) return Wrong(answer_to, "'method' is no string");
  if (params != json.end() && !params->is_object())
    return {answer_to, RpcError{kRpcInvalidParams, "'params' is no object"}};
  return {answer_to, RpcCall{answer_to, method->get<std::string>(), params == json.end() ? Json::object() : *params}};
}

std::optional<std::string> TextOf(const RpcMessage& message, Json responses) {
  if (responses.empty()) return std::nullopt;
  const Json& answer = message.is_batch ? responses : responses.front();
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

bool RpcMessage::Calls(std::string_view method) const {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    const RpcCall* const call = std::get_if<RpcCall>(&entry.call);
    return call != nullptr && call->method == method;
  });
}

RpcMessage ParseRpc(std::string_view text) {
  const Result<Json> parsed = ParseBoundedJson(text);
  if (!parsed.ok()) return {.entries = {{nullptr, RpcError{kRpcParseError, parsed.status().message()}}}};
  const Json& json = *parsed;
  if (!json.is_array()) {
    if (IsResponse(json)) return {};
    return {.entries = {EntryOf(json)}};
  }
  if (json.empty()) return {.entries = {Wrong(nullptr, "an empty batch")}};
  if (json.size() > kMaxBatch) return {.entries = {Wrong(nullptr, "a batch of more than 64 messages")}};
  RpcMessage message{.is_batch = true};
  for (const Json& one : json)
    if (!IsResponse(one)) message.entries.push_back(EntryOf(one));
  return message;
}

std::optional<std::string> AnswerRpc(const RpcMessage& message, const RpcHandler& handler) {
  Json responses = Json::array();
  for (const RpcMessage::Entry& entry : message.entries) {
    const RpcCall* const call = std::get_if<RpcCall>(&entry.call);
    if (call == nullptr) {
      responses.push_back(ResponseOf(entry.id, std::get<RpcError>(entry.call)));
      continue;
    }
    const RpcResult result = handler(call->method, call->params);
    if (!call->id.is_null()) responses.push_back(ResponseOf(call->id, result));
  }
  return TextOf(message, std::move(responses));
}

std::optional<std::string> RefuseRpc(const RpcMessage& message, const RpcError& error) {
  return AnswerRpc(message, [&](const std::string&, const Json&) { return RpcResult(error); });
}

}  // namespace gemmsmith
