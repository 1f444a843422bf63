#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "corpus/snippet.h"
#include "corpus/text_shards.h"

namespace gemmsmith {

namespace {

struct TextCounts {
  int64_t texts = 0, bytes = 0, instructed = 0, with_context = 0;
};
// Texts are counted by these.
struct TextGroup {
  std::string source, license, kind, instruction_by;
  auto operator<=>(const TextGroup&) const = default;
};
using GroupedCounts = std::map<TextGroup, TextCounts>;

void AddTo(TextCounts& counts, const Snippet& snippet) {
  ++counts.texts;
  counts.bytes += int64_t(snippet.text.size());
  counts.instructed += snippet.instruction.empty() ? 0 : 1;
  counts.with_context += snippet.context.empty() ? 0 : 1;
}

Result<GroupedCounts> CountGroups(const std::vector<std::filesystem::path>& texts) {
  GroupedCounts groups;
  for (const std::filesystem::path& path : texts) {
    ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> shards, TextShardsAt(path));
    for (const std::filesystem::path& file : shards) {
      ASSIGN_OR_RETURN(const SnippetShard shard, ReadSnippets(file));
      for (const Snippet& snippet : shard.snippets)
        AddTo(groups[{snippet.source, snippet.license, std::string(Name(snippet.kind)), snippet.instruction_by}],
              snippet);
    }
  }
  return groups;
}

Json JsonOf(const GroupedCounts& groups) {
  Json rows = Json::array();
  for (const auto& [group, counts] : groups)
    rows.push_back({{"source", group.source},
                    {"license", group.license},
                    {"kind", group.kind},
                    {"instruction_by", group.instruction_by},
                    {"texts", counts.texts},
                    {"bytes", counts.bytes},
                    {"with_instruction", counts.instructed},
                    {"with_context", counts.with_context}});
  return {{"groups", rows}};
}

// Sums over all that `key` does not name.
template <class KeyOf>
std::string TableBy(const char* title, const GroupedCounts& groups, const Terminal& terminal, KeyOf key_of) {
  std::map<std::string, TextCounts> rows;
  for (const auto& [group, counts] : groups) {
    TextCounts& row = rows[key_of(group)];
    row.texts += counts.texts, row.bytes += counts.bytes;
    row.instructed += counts.instructed, row.with_context += counts.with_context;
  }
  constexpr Table::Align kRight = Table::Align::kRight;
  Table table({{title}, {"texts", kRight}, {"size", kRight}, {"instruction", kRight}, {"context", kRight}});
  for (const auto& [key, row] : rows)
    table.Add({WithoutControls(key), CountText(row.texts), BytesText(double(row.bytes)), CountText(row.instructed),
               CountText(row.with_context)});
  return "\n" + table.Print(terminal);
}

std::string PrintText(const GroupedCounts& groups, const Terminal& terminal) {
  TextCounts all;
  for (const auto& [group, counts] : groups) all.texts += counts.texts, all.bytes += counts.bytes;
  return fmt::format("{}, {}\n", Plural(all.texts, "text"), BytesText(double(all.bytes))) +
         TableBy("source", groups, terminal, [](const TextGroup& group) { return group.source; }) +
         TableBy("licence", groups, terminal, [](const TextGroup& group) { return group.license; }) +
         TableBy("kind", groups, terminal, [](const TextGroup& group) { return group.kind; }) +
         TableBy("instruction by", groups, terminal,
                 [](const TextGroup& group) { return group.instruction_by.empty() ? "none" : group.instruction_by; });
}

}  // namespace

Result<int> Run(const CorpusStatsCommand& command) {
  ASSIGN_OR_RETURN(const GroupedCounts groups, CountGroups(command.texts));
  RETURN_IF_ERROR(
      WriteOut(command.json ? PrintJson(JsonOf(groups)) : PrintText(groups, DescribeTerminal(STDOUT_FILENO))));
  return kExitDone;
}

}  // namespace gemmsmith
