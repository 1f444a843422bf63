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

RpcResult ResultOf(const ToolAnswer& answer) {
  Json result = {{"content", {{{"type", "text"}, {"text", answer.text}}}}, {"isError", answer.is_error}};
  if (answer.is_json) result["structuredContent"] = Json::parse(answer.text);
  return result;
}

RpcResult WrongParams(std::string message) { return RpcError{kRpcInvalidParams, std::move(message)}; }

}  // namespace

bool McpServer::Speaks(std::string_view version) {
  return std::find(kVersions.begin(), kVersions.end(), version) != kVersions.end();
}

Json McpServer::Initialize(const Json& params) const {
  const auto asked = params.find("protocolVersion");
  const bool is_known = asked != params.end() && asked->is_string() && Speaks(asked->get<std::string>());
  return {{"protocolVersion", is_known ? *asked : Json(kVersions.front())},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", {{"name", "gemmsmith"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

McpServer::Begun McpServer::BeginTool(const Json& params) const {
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string()) return WrongParams("'name' is no string");
  if (!Tools::Has(*name)) return WrongParams(fmt::format("no tool '{}'", WithoutControls(name->get<std::string>())));
  const auto arguments = params.find("arguments");
  const bool is_given = arguments != params.end() && !arguments->is_null();
  if (is_given && !arguments->is_object()) return WrongParams("'arguments' is no object");
  BegunCall begun = tools_.Begin(*name, is_given ? *arguments : Json::object());
  if (AwaitedVerdict* const verdict = std::get_if<AwaitedVerdict>(&begun)) return std::move(*verdict);
  return ResultOf(std::get<ToolAnswer>(begun));
}

McpServer::Begun McpServer::Begin(const std::string& method, const Json& params) const {
  if (method == "initialize") return RpcResult(Initialize(params));
  if (method == "ping" || method.starts_with("notifications/")) return RpcResult(Json::object());
  if (method == "tools/list") return RpcResult(Json{{"tools", Tools::List()}});
  if (method == "tools/call") return BeginTool(params);
  return RpcResult(RpcError{kRpcMethodNotFound, fmt::format("no method '{}'", WithoutControls(method))});
}

bool McpServer::IsDue(const Begun& call) const {
  const AwaitedVerdict* const verdict = std::get_if<AwaitedVerdict>(&call);
  return verdict == nullptr || tools_.IsDue(*verdict);
}

RpcResult McpServer::End(const Begun& call) const {
  if (const AwaitedVerdict* const verdict = std::get_if<AwaitedVerdict>(&call))
    return ResultOf(tools_.Answer(*verdict));
  return std::get<RpcResult>(call);
}

RpcResult McpServer::Handle(const std::string& method, const Json& params) const {
  const Begun call = Begin(method, params);
  if (const AwaitedVerdict* const verdict = std::get_if<AwaitedVerdict>(&call)) return ResultOf(tools_.Await(*verdict));
  return std::get<RpcResult>(call);
}

}  // namespace gemmsmith
