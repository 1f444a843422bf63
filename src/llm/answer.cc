#include "llm/answer.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <vector>

#include "base/lower_case.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kSearch = "<<<<<<< SEARCH", kDivider = "=======", kReplace = ">>>>>>> REPLACE";

std::string_view WithoutSpace(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// Models that reason aloud do so before they answer.
std::string_view AfterThinking(std::string_view text) {
  constexpr std::string_view kEnd = "</think>";
  const size_t end = text.rfind(kEnd);
  return end == std::string_view::npos ? text : text.substr(end + kEnd.size());
}

bool HasWord(std::string_view line, std::string_view word) { return Lowered(line).find(word) != std::string::npos; }

struct Fence {
  std::string text;
  bool is_closed = false;
};

// The lines of an answer by their part: under headings, in fences, in edits.
struct Parts {
  std::string analysis, design;
  std::vector<Fence> fences;
};

Parts PartsOf(std::string_view text) {
  Parts parts;
  std::string* section = nullptr;
  bool in_fence = false;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view words = WithoutSpace(line);
    if (words.starts_with("```")) {
      if (in_fence)
        parts.fences.back().is_closed = true;
      else
        parts.fences.emplace_back();
      in_fence = !in_fence;
    } else if (in_fence) {
      parts.fences.back().text += std::string(line) + "\n";
    } else if (words.starts_with("#")) {
      section = HasWord(words, "analysis") ? &parts.analysis : HasWord(words, "design") ? &parts.design : nullptr;
    } else if (section != nullptr) {
      *section += std::string(line) + "\n";
    }
  }
  return parts;
}

struct Edit {
  std::string from, to;
};

Result<std::vector<Edit>> EditsIn(std::string_view text) {
  std::vector<Edit> edits;
  std::string* into = nullptr;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view words = WithoutSpace(line);
    if (words.starts_with(kSearch)) {
      if (into != nullptr) return InvalidArgument(fmt::format("an edit begins inside another: {} lacks", kReplace));
      into = &edits.emplace_back().from;
    } else if (words == kDivider && into != nullptr && into == &edits.back().from) {
      into = &edits.back().to;
    } else if (words.starts_with(kReplace)) {
      if (into == nullptr || into != &edits.back().to)
        return InvalidArgument(fmt::format("{} without {} and {} before it", kReplace, kSearch, kDivider));
      into = nullptr;
    } else if (into != nullptr) {
      *into += std::string(line) + "\n";
    }
  }
  if (into != nullptr) return InvalidArgument(fmt::format("the last edit does not end with {}", kReplace));
  return edits;
}

// "Edits of kernel 2": the number, 1 where none is named.
size_t NumberOfShown(std::string_view text) {
  constexpr std::string_view kOf = "Edits of kernel ";
  const size_t at = text.find(kOf);
  if (at == std::string_view::npos) return 1;
  const std::string_view rest = text.substr(at + kOf.size());
  size_t digits = 0;
  while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits]))) ++digits;
  return size_t(ParseInteger(rest.substr(0, digits)).value_or(0));
}

Result<std::string> Edited(std::string source, const std::vector<Edit>& edits) {
  for (size_t i = 0; i < edits.size(); ++i) {
    const std::string& from = edits[i].from;
    if (WithoutSpace(from).empty()) return InvalidArgument(fmt::format("edit {} searches for nothing", i + 1));
    const size_t at = source.find(from);
    if (at == std::string::npos)
      return InvalidArgument(fmt::format("edit {} searches for lines that the kernel does not have: \"{}\"", i + 1,
                                         Split(from, '\n').front()));
    if (source.find(from, at + 1) != std::string::npos)
      return InvalidArgument(fmt::format("edit {} searches for lines that the kernel has more than once", i + 1));
    source.replace(at, from.size(), edits[i].to);
  }
  return source;
}

Result<std::string> WholeFileOf(const Parts& parts) {
  for (auto fence = parts.fences.rbegin(); fence != parts.fences.rend(); ++fence) {
    if (!HasWord(fence->text, "gemmsmith_descriptor_v1")) continue;
    if (!fence->is_closed) return InvalidArgument("the code does not end with a line of ```");
    return fence->text;
  }
  if (parts.fences.empty()) return InvalidArgument("there is no code between lines of ```, and no edit");
  return InvalidArgument("no code between lines of ``` defines gemmsmith_descriptor_v1, and there is no edit");
}

}  // namespace

Result<WrittenAnswer> ReadAnswer(std::string_view text, std::span<const std::string> shown) {
  text = AfterThinking(text);
  const Parts parts = PartsOf(text);
  WrittenAnswer answer{.analysis = std::string(WithoutSpace(parts.analysis)),
                       .design = std::string(WithoutSpace(parts.design))};
  ASSIGN_OR_RETURN(const std::vector<Edit> edits, EditsIn(text));
  answer.edits = int(edits.size());
  if (edits.empty()) {
    ASSIGN_OR_RETURN(answer.source, WholeFileOf(parts));
    return answer;
  }
  const size_t number = NumberOfShown(text);
  if (number < 1 || number > shown.size())
    return InvalidArgument(fmt::format("the edits are of kernel {}, and {} shown", number,
                                       shown.size() == 1 ? "only kernel 1 was" : fmt::format("{} were", shown.size())));
  ASSIGN_OR_RETURN(answer.source, Edited(shown[number - 1], edits));
  return answer;
}

}  // namespace gemmsmith
