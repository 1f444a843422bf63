#include "corpus/collect/file_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/lower_case.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kHtmlEndings[] = {".html", ".htm", ".xhtml"};
constexpr std::string_view kMarkdownEndings[] = {".md", ".markdown"};
constexpr std::string_view kCodeEndings[] = {".cu", ".cuh", ".h",   ".hh", ".hpp", ".hxx",
                                             ".cc", ".cpp", ".cxx", ".c",  ".inl", ".inc"};
constexpr std::string_view kOtherProgramEndings[] = {".cmake", ".go", ".in", ".java", ".js", ".json", ".py",  ".pyi",
                                                     ".rb",    ".rs", ".sh", ".toml", ".ts", ".xml",  ".yml", ".yaml"};

template <class Endings>
bool HasEnding(std::string_view name, const Endings& endings) {
  const std::string ending = Lowered(name.substr(std::min(name.size(), name.rfind('.'))));
  return std::ranges::find(endings, ending) != std::end(endings);
}

}  // namespace

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsHtmlName(std::string_view name) { return HasEnding(name, kHtmlEndings); }
bool IsPageName(std::string_view name) { return IsHtmlName(name) || HasEnding(name, kMarkdownEndings); }
bool IsCodeName(std::string_view name) { return HasEnding(name, kCodeEndings); }
bool IsProgramName(std::string_view name) { return IsCodeName(name) || HasEnding(name, kOtherProgramEndings); }

}  // namespace gemmsmith
