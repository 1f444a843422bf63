#include "corpus/snippet.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "corpus/text_shards.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kSnippetKinds[] = {"file", "kernel", "function", "type", "block", "section"};

nlohmann::ordered_json JsonOf(const Snippet& snippet) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  const auto say = [&](const char* role, const std::string& content) {
    if (!content.empty()) messages.push_back({{"role", role}, {"content", content}});
  };
  say("system", snippet.context);
  say("user", snippet.instruction);
  say("assistant", snippet.text);
  return {{"messages", messages},       {"instruction_by", snippet.instruction_by},
          {"kind", Name(snippet.kind)}, {"title", snippet.title},
          {"source", snippet.source},   {"path", snippet.path},
          {"line", snippet.line},       {"license", snippet.license}};
}

Status ReadMessage(const nlohmann::json& message, Snippet& snippet) {
  const std::string role = message.at("role").get<std::string>();
  std::string* const content = role == "system"      ? &snippet.context
                               : role == "user"      ? &snippet.instruction
                               : role == "assistant" ? &snippet.text
                                                     : nullptr;
  if (content == nullptr || !content->empty()) return DataLoss("messages are of system, user and assistant, one each");
  *content = message.at("content").get<std::string>();
  return OkStatus();
}

Result<Snippet> SnippetOf(const nlohmann::json& json) try {
  if (!json.contains("messages"))
    return InvalidArgument("no text of corpus collect: its messages, source and licence are missing");
  Snippet snippet;
  for (const nlohmann::json& message : json.at("messages")) RETURN_IF_ERROR(ReadMessage(message, snippet));
  snippet.instruction_by = json.at("instruction_by").get<std::string>();
  const std::optional<SnippetKind> kind = ParseSnippetKind(json.at("kind").get<std::string>());
  if (!kind) return DataLoss("a \"kind\" that is not known");
  snippet.kind = *kind;
  snippet.title = json.at("title").get<std::string>();
  snippet.source = json.at("source").get<std::string>();
  snippet.path = json.at("path").get<std::string>();
  snippet.line = json.at("line").get<int64_t>();
  snippet.license = json.at("license").get<std::string>();
  if (snippet.text.empty()) return DataLoss("no message of the assistant");
  return snippet;
} catch (const nlohmann::json::exception&) {
  return DataLoss("a member of the text is missing, or of another type");
}

}  // namespace

std::string_view Name(SnippetKind kind) { return kSnippetKinds[size_t(kind)]; }

std::optional<SnippetKind> ParseSnippetKind(std::string_view name) {
  const auto found = std::find(std::begin(kSnippetKinds), std::end(kSnippetKinds), name);
  if (found == std::end(kSnippetKinds)) return std::nullopt;
  return SnippetKind(found - std::begin(kSnippetKinds));
}

Status WriteSnippets(const SnippetShard& shard, const std::filesystem::path& path) {
  std::vector<nlohmann::ordered_json> lines;
  for (const Snippet& snippet : shard.snippets) lines.push_back(JsonOf(snippet));
  return WriteShardLines(shard.origin, lines, path);
}

Result<SnippetShard> ReadSnippets(const std::filesystem::path& path) {
  SnippetShard shard;
  ASSIGN_OR_RETURN(shard.origin, ReadShardLines(path, [&](const nlohmann::json& json) -> Status {
                     ASSIGN_OR_RETURN(Snippet snippet, SnippetOf(json));
                     shard.snippets.push_back(std::move(snippet));
                     return OkStatus();
                   }));
  return shard;
}

}  // namespace gemmsmith
