// The Model Context Protocol over HTTP: the transport "Streamable HTTP", without a stream of the server's own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents/mcp.h"
#include "serve/http_server.h"

namespace gemmsmith {

struct McpHttpLimits {
  size_t sessions = 1024;  // with more, the one that was silent longest ends
  size_t waiting = 256;    // messages that wait for a verdict; further ones are answered with 429
};

class McpHttp {
 public:
  explicit McpHttp(const McpServer& server, McpHttpLimits limits = {}) : server_(server), limits_(limits) {}

  // nullopt: the path is not /mcp. A call of a tool is waited for as its arguments say. Host, Origin and token are the
  // server's to check.
  std::optional<HttpReply> Answer(const HttpRequest& request);

  size_t sessions() const { return last_uses_.size(); }

 private:
  HttpReply Take(const HttpRequest& request);
  HttpReply AnswerTo(const RpcMessage& message, bool as_event, HttpAnswer answer);
  HttpReply Delete(const HttpRequest& request);
  std::string BeginSession();
  // Why a request outside a session is not answered.
  std::optional<HttpAnswer> CheckSession(const HttpRequest& request);

  const McpServer& server_;
  const McpHttpLimits limits_;
  std::map<std::string, uint64_t> last_uses_;  // of sessions
  uint64_t uses_ = 0;
  // Each message that waits holds a copy.
  const std::shared_ptr<const int> waiting_ = std::make_shared<const int>();
};

}  // namespace gemmsmith
