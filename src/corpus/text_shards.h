// Files of training texts, one JSON object a line: first a header with the origin and the number of texts, then the
// texts. docs/text_model.md has the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct TextExample {
  std::string prompt;   // text_prompt.h
  std::string text;     // the kernel
  std::string plan;     // whose kernel it is; canonical
  std::string problem;  // as Print(Gemm) says it
  bool operator==(const TextExample&) const = default;
};

struct TextShard {
  std::string origin;  // one line: what made the texts, and from what
  std::vector<TextExample> examples;
};

// Whole or not at all. Bytes that are no UTF-8 are replaced.
Status WriteTextShard(const TextShard& shard, const std::filesystem::path& path);
// The path, the line and the reason where a shard is damaged or cut off.
Result<TextShard> ReadTextShard(const std::filesystem::path& path);

// The same of any texts: `lines` are JSON objects without the header. Reading gives the origin.
Status WriteShardLines(const std::string& origin, std::span<const nlohmann::ordered_json> lines,
                       const std::filesystem::path& path);
Result<std::string> ReadShardLines(const std::filesystem::path& path,
                                   const std::function<Status(const nlohmann::json& line)>& read);
// "texts_00007.jsonl"
std::string TextShardName(int64_t number);
// The path, or a folder's shards (*.jsonl) by name. NotFound where it has none.
Result<std::vector<std::filesystem::path>> TextShardsAt(const std::filesystem::path& path);

// All texts in order, one shard in memory at a time. A path may be a folder. Stops at the first failure, its own or the
// reader's. The last message of a text with messages (docs/corpus.md) is the text, the others are the prompt.
Status ForEachText(std::span<const std::filesystem::path> files, const std::function<Status(const TextExample&)>& read);

}  // namespace gemmsmith
