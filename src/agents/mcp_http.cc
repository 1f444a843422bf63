#include "agents/mcp_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agents/json_answer.h"
#include "base/text.h"
#include "base/unpredictable.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kJsonType = "application/json", kEventType = "text/event-stream";
constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr int kBusyRetrySeconds = 5;

// One error of JSON-RPC that answers no call in particular.
HttpAnswer RpcRefusal(int status, int code, std::string message) {
  const RpcMessage whole{.entries = {{nullptr, RpcError{code, std::move(message)}}}};
  return JsonAnswer(status, RefuseRpc(whole, {}).value_or(""));
}

HttpAnswer Refusal(int status, std::string message) {
  return RpcRefusal(status, kRpcInvalidRequest, std::move(message));
}

// Whether an Accept header has the type; an empty one has every type. Weights are not read.
bool Accepts(std::string_view accept, std::string_view type) {
  if (accept.empty()) return true;
  const std::string any = fmt::format("{}/*", type.substr(0, type.find('/')));
  for (std::string_view range : Split(accept, ',')) {
    range = range.substr(0, range.find(';'));
    for (const std::string_view word : SplitWords(range))
      if (word == type || word == any || word == "*/*") return true;
  }
  return false;
}

// A text that is no call at all, as against one among others.
const RpcError* WholeError(const RpcMessage& message) {
  if (message.is_batch || message.entries.size() != 1 || !message.entries[0].id.is_null()) return nullptr;
  return std::get_if<RpcError>(&message.entries[0].call);
}

// The calls of one message in their order, begun.
struct BegunMessage {
  RpcMessage message;
  std::vector<McpServer::Begun> calls;

  bool IsDue(const McpServer& server) const {
    size_t next = 0;
    return std::all_of(message.entries.begin(), message.entries.end(), [&](const RpcMessage::Entry& entry) {
      if (!std::holds_alternative<RpcCall>(entry.call)) return true;
      const McpServer::Begun& call = calls[next++];
      return entry.id.is_null() || server.IsDue(call);  // a notification is not waited for
    });
  }

  std::optional<std::string> Answer(const McpServer& server) const {
    return AnswerRpc(message, [&, next = size_t{0}](const std::string&, const nlohmann::ordered_json&) mutable {
      return server.End(calls[next++]);
    });
  }
};

BegunMessage BeginAll(const McpServer& server, const RpcMessage& message) {
  BegunMessage begun{message, {}};
  for (const RpcMessage::Entry& entry : message.entries)
    if (const RpcCall* const call = std::get_if<RpcCall>(&entry.call))
      begun.calls.push_back(server.Begin(call->method, call->params));
  return begun;
}

HttpAnswer WithBody(HttpAnswer answer, const std::optional<std::string>& line, bool as_event) {
  if (!line) {
    answer.status = 202;
    return answer;
  }
  answer.content_type = as_event ? kEventType : kJsonType;
  answer.body =
      std::make_shared<const std::string>(as_event ? fmt::format("event: message\ndata: {}\n\n", *line) : *line + "\n");
  return answer;
}

}  // namespace

std::optional<HttpReply> McpHttp::Answer(const HttpRequest& request) {
  if (request.path != "/mcp") return std::nullopt;
  if (request.method == "POST") return Take(request);
  if (request.method == "DELETE") return Delete(request);
  HttpAnswer refusal = Refusal(405, "POST a message; this server sends none of its own");
  refusal.headers["Allow"] = "POST, DELETE";
  return refusal;
}

HttpReply McpHttp::Take(const HttpRequest& request) {
  const std::string_view accept = request.Header("accept"), version = request.Header("mcp-protocol-version");
  const bool takes_json = Accepts(accept, kJsonType);
  if (!takes_json && !Accepts(accept, kEventType))
    return Refusal(406, fmt::format("answers are {} or {}", kJsonType, kEventType));
  if (!version.empty() && !McpServer::Speaks(version)) return Refusal(400, "an MCP-Protocol-Version not spoken here");
  const RpcMessage message = ParseRpc(request.body);
  if (const RpcError* const error = WholeError(message)) return RpcRefusal(400, error->code, error->message);
  HttpAnswer answer;
  if (message.Calls("initialize")) {
    if (message.entries.size() != 1) return Refusal(400, "'initialize' stands alone");
    answer.headers[kSessionHeader] = BeginSession();
  } else if (std::optional<HttpAnswer> refusal = CheckSession(request)) {
    return *std::move(refusal);
  }
  return AnswerTo(message, !takes_json, std::move(answer));
}

HttpReply McpHttp::AnswerTo(const RpcMessage& message, bool as_event, HttpAnswer answer) {
  const bool is_full = size_t(waiting_.use_count() - 1) >= limits_.waiting;
  if (is_full && message.Calls("tools/call")) {
    HttpAnswer busy =
        WithBody({}, RefuseRpc(message, {kRpcBusy, "too many calls are waiting: ask again later"}), false);
    busy.status = 429;
    busy.retry_after_seconds = kBusyRetrySeconds;
    return busy;
  }
  const BegunMessage begun = BeginAll(server_, message);
  if (begun.IsDue(server_)) return WithBody(std::move(answer), begun.Answer(server_), as_event);
  return HttpPending([this, begun, as_event, answer, place = waiting_]() -> std::optional<HttpAnswer> {
    if (!begun.IsDue(server_)) return std::nullopt;
    return WithBody(answer, begun.Answer(server_), as_event);
  });
}

HttpReply McpHttp::Delete(const HttpRequest& request) {
  if (std::optional<HttpAnswer> refusal = CheckSession(request)) return *std::move(refusal);
  last_uses_.erase(std::string(request.Header("mcp-session-id")));
  return HttpAnswer();
}

std::string McpHttp::BeginSession() {
  if (last_uses_.size() >= limits_.sessions)
    last_uses_.erase(std::min_element(last_uses_.begin(), last_uses_.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; }));
  std::string id = fmt::format("{:016x}{:016x}", UnpredictableSeed(), UnpredictableSeed());
  last_uses_[id] = ++uses_;
  return id;
}

std::optional<HttpAnswer> McpHttp::CheckSession(const HttpRequest& request) {
  const std::string id(request.Header("mcp-session-id"));
  if (id.empty()) return Refusal(400, "the header Mcp-Session-Id is missing: it comes with the answer to 'initialize'");
  const auto session = last_uses_.find(id);
  if (session == last_uses_.end()) return Refusal(404, "no such session: begin with 'initialize'");
  session->second = ++uses_;
  return std::nullopt;
}

}  // namespace gemmsmith
