#include "agents/mcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kVersions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

constexpr const char* kInstructions =
    "gemmsmith judges GEMM kernels for NVIDIA GPUs. Ask get_task for a problem and its rules, write a CUDA source, "
    "send it to judge_source, read the words of the verdict, improve, repeat. list_best says what is to be beaten, "
    "show_source gives a known kernel as a text. A state of 'untimed' or 'failed' says nothing about the source.";

}  // namespace

Json McpServer::Initialize(const Json& params) const {
  const auto asked = params.find("protocolVersion");
  const bool is_known = asked != params.end() && asked->is_string() &&
                        std::find(kVersions.begin(), kVersions.end(), asked->get<std::string>()) != kVersions.end();
  return {{"protocolVersion", is_known ? *asked : Json(kVersions.front())},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", {{"name", "gemmsmith"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

RpcResult McpServer::CallTool(const Json& params) const {
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string()) return RpcError{kRpcInvalidParams, "'name' is no string"};
  if (!Tools::Has(*name))
    return RpcError{kRpcInvalidParams, fmt::format("no tool '{}'", WithoutControls(name->get<std::string>()))};
  const auto arguments = params.find("arguments");
  const bool is_given = arguments != params.end() && !arguments->is_null();
  if (is_given && !arguments->is_object()) return RpcError{kRpcInvalidParams, "'arguments' is no object"};
  const ToolAnswer answer = tools_.Call(*name, is_given ? *arguments : Json::object());
  Json result = {{"content", {{{"type", "text"}, {"text", answer.text}}}}, {"isError", answer.is_error}};
  if (answer.is_json) result["structuredContent"] = Json::parse(answer.text);
  return result;
}

RpcResult McpServer::Handle(const std::string& method, const Json& params) const {
  if (method == "initialize") return Initialize(params);
  if (method == "ping" || method.starts_with("notifications/")) return Json::object();
  if (method == "tools/list") return Json{{"tools", Tools::List()}};
  if (method == "tools/call") return CallTool(params);
  return RpcError{kRpcMethodNotFound, fmt::format("no method '{}'", WithoutControls(method))};
}

}  // namespace gemmsmith
