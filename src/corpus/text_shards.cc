#include "corpus/text_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionName = "gemmsmith_texts";
constexpr int kShardVersion = 1;

struct ShardHeader {
  std::string origin;
  int64_t texts = 0;
};

std::string LineOf(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<nlohmann::json> ParseLine(std::string_view line) {
  nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return DataLoss("the line is no JSON object; cut off?");
  return json;
}

Result<std::string> TextIn(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return DataLoss(fmt::format("no text \"{}\"", name));
  return found->get<std::string>();
}

Result<ShardHeader> HeaderOf(std::string_view line) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseLine(line));
  const auto version = json.find(kVersionName);
  if (version == json.end()) return DataLoss("no shard of texts: gemmsmith corpus flat writes them");
  if (*version != kShardVersion) return DataLoss(fmt::format("another version of texts: known is {}", kShardVersion));
  ShardHeader header;
  ASSIGN_OR_RETURN(header.origin, TextIn(json, "origin"));
  const auto texts = json.find("texts");
  if (texts == json.end() || !texts->is_number_unsigned()) return DataLoss("no number \"texts\"");
  header.texts = texts->get<int64_t>();
  return header;
}

// The last message is the text; the prompt has the others, in order.
Result<TextExample> ExampleOfMessages(const nlohmann::json& messages) {
  if (!messages.is_array() || messages.empty()) return DataLoss("\"messages\" is no list of messages");
  TextExample example;
  for (const nlohmann::json& message : messages) {
    if (!message.is_object()) return DataLoss("\"messages\" is no list of messages");
    if (!example.text.empty()) example.prompt += example.text + "\n";
    ASSIGN_OR_RETURN(example.text, TextIn(message, "content"));
  }
  return example;
}

Result<TextExample> ExampleOf(const nlohmann::json& json) {
  if (const auto messages = json.find("messages"); messages != json.end()) return ExampleOfMessages(*messages);
  TextExample example;
  ASSIGN_OR_RETURN(example.prompt, TextIn(json, "prompt"));
  ASSIGN_OR_RETURN(example.text, TextIn(json, "text"));
  ASSIGN_OR_RETURN(example.plan, TextIn(json, "plan"));
  ASSIGN_OR_RETURN(example.problem, TextIn(json, "problem"));
  return example;
}

// Reports the line that it stands at. The origin.
Result<std::string> ReadLines(std::string_view rest, const std::function<Status(const nlohmann::json&)>& read,
                              int64_t& number) {
  const auto next = [&] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++number;
    return line;
  };
  ASSIGN_OR_RETURN(const ShardHeader header, HeaderOf(next()));
  int64_t texts = 0;
  for (; !rest.empty(); ++texts) {
    ASSIGN_OR_RETURN(const nlohmann::json json, ParseLine(next()));
    RETURN_IF_ERROR(read(json));
  }
  if (texts != header.texts) return DataLoss(fmt::format("{} of {}; cut off?", texts, Plural(header.texts, "text")));
  return header.origin;
}

}  // namespace

std::string TextShardName(int64_t number) { return fmt::format("texts_{:05}.jsonl", number); }

Result<std::vector<fs::path>> TextShardsAt(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<fs::path>{path};
  std::vector<fs::path> shards;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".jsonl" && !entry->path().filename().string().starts_with('.'))
      shards.push_back(entry->path());
  if (error) return IoError(fmt::format("cannot read {}: {}", path.string(), error.message()));
  if (shards.empty()) return NotFound(fmt::format("{} has no shards of texts (*.jsonl)", path.string()));
  std::sort(shards.begin(), shards.end());
  return shards;
}

Status WriteShardLines(const std::string& origin, std::span<const nlohmann::ordered_json> lines, const fs::path& path) {
  std::string text = LineOf({{kVersionName, kShardVersion}, {"origin", origin}, {"texts", lines.size()}});
  for (const nlohmann::ordered_json& line : lines) text += LineOf(line);
  return WriteFileAtomic(path, text);
}

Result<std::string> ReadShardLines(const fs::path& path, const std::function<Status(const nlohmann::json&)>& read) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  int64_t number = 0;
  Result<std::string> origin = ReadLines(text, read, number);
  if (!origin.ok()) return WithContext(origin.status(), fmt::format("{}:{}", path.string(), number));
  return origin;
}

Status WriteTextShard(const TextShard& shard, const fs::path& path) {
  std::vector<nlohmann::ordered_json> lines;
  for (const auto& [prompt, kernel, plan, problem] : shard.examples)
    lines.push_back({{"prompt", prompt}, {"text", kernel}, {"plan", plan}, {"problem", problem}});
  return WriteShardLines(shard.origin, lines, path);
}

Result<TextShard> ReadTextShard(const fs::path& path) {
  TextShard shard;
  ASSIGN_OR_RETURN(shard.origin, ReadShardLines(path, [&](const nlohmann::json& json) -> Status {
                     ASSIGN_OR_RETURN(TextExample example, ExampleOf(json));
                     shard.examples.push_back(std::move(example));
                     return OkStatus();
                   }));
  return shard;
}

Status ForEachText(std::span<const fs::path> files, const std::function<Status(const TextExample&)>& read) {
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(const std::vector<fs::path> shards, TextShardsAt(file));
    for (const fs::path& path : shards) {
      ASSIGN_OR_RETURN(const TextShard shard, ReadTextShard(path));
      for (const TextExample& example : shard.examples) RETURN_IF_ERROR(read(example));
    }
  }
  return OkStatus();
}

}  // namespace gemmsmith
