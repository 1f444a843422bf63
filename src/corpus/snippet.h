// A piece of code or documentation with its origin: a whole file as it was collected, what was cut from it, and what it
// becomes with an instruction and a context. docs/corpus.md has its lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

enum class SnippetKind : uint8_t {
  kFile,      // whole
  kKernel,    // with its helpers from the same file
  kFunction,  // the same
  kType,      // the same
  kBlock,     // of code, on a page
  kSection,   // of a page
};
std::string_view Name(SnippetKind kind);
std::optional<SnippetKind> ParseSnippetKind(std::string_view name);

struct Snippet {
  std::string context;         // passages of other snippets; empty: none
  std::string instruction;     // empty: none
  std::string text;            // the code, or what a section says
  std::string instruction_by;  // kByComment, or a model's name; empty without an instruction
  SnippetKind kind = SnippetKind::kFile;
  std::string title;    // the name that the code defines; of a section its headings, by " > "
  std::string source;   // the last name of the tree, archive or page that was given
  std::string path;     // in it; empty: the source itself
  int64_t line = 1;     // where it begins there
  std::string license;  // SPDX, or "unknown"
  bool operator==(const Snippet&) const = default;
};

inline constexpr std::string_view kByComment = "comment";

struct SnippetShard {
  std::string origin;  // the command that made it, and from what
  std::vector<Snippet> snippets;
};

// A form of text_shards.h. Whole or not at all. Bytes that are no UTF-8 are replaced.
Status WriteSnippets(const SnippetShard& shard, const std::filesystem::path& path);
// The path, the line and the reason where a shard is damaged, or is one without messages.
Result<SnippetShard> ReadSnippets(const std::filesystem::path& path);

}  // namespace gemmsmith
