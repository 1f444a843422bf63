// The Model Context Protocol: its methods, and its transport over standard input and output, one JSON-RPC message a
// line.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "agents/json_rpc.h"
#include "agents/tools.h"

namespace gemmsmith {

// The methods of a server that has tools and nothing else. Holds no state of a session.
class McpServer {
 public:
  McpServer(Tools& tools, std::string version) : tools_(tools), version_(std::move(version)) {}
  // For any thread; waits where a tool does.
  RpcResult Handle(const std::string& method, const nlohmann::ordered_json& params) const;

  // The same for one thread that must not wait: begin the call, ask until it is due, end it.
  using Begun = std::variant<RpcResult, AwaitedVerdict>;
  Begun Begin(const std::string& method, const nlohmann::ordered_json& params) const;
  bool IsDue(const Begun& call) const;
  RpcResult End(const Begun& call) const;

  static bool Speaks(std::string_view version);

 private:
  nlohmann::ordered_json Initialize(const nlohmann::ordered_json& params) const;
  Begun BeginTool(const nlohmann::ordered_json& params) const;

  Tools& tools_;
  const std::string version_;
};

struct McpLimits {
  size_t line_bytes = size_t{8} << 20;  // a longer line is dropped and refused
  size_t threads = 16;                  // calls of tools side by side
  size_t waiting = 256;                 // further ones are refused as busy
};

// Answers the lines of `in` on `out` until `in` ends and everything is answered, or `out` fails. Tools are called on
// threads of their own, so a client may ask for other things meanwhile; answers come in any order.
Status ServeMcp(const McpServer& server, int in, int out, const McpLimits& limits = {});

}  // namespace gemmsmith
