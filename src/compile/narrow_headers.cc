#include "compile/narrow_headers.h"

#include <algorithm>

#include "base/cpp_tokens.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

// With guards of their own, so that their text may stand in front of an include that finds it there.
constexpr std::string_view kKnown[] = {
    "cstddef", "cstdint", "cuda.h", "cudaTypedefs.h", "stddef.h", "cuda_runtime.h", "cuda_runtime_api.h", "stdint.h"};

std::string WithoutLineEnds(std::string_view text) {
  std::string spliced;
  for (const std::string_view line : Split(text, '\n')) {
    const size_t last = line.find_last_not_of(" \t\r\f\v");
    const bool goes_on = last != std::string_view::npos && line[last] == '\\';
    spliced += goes_on ? std::string(line.substr(0, last)) : std::string(line) + "\n";
  }
  return spliced;
}

// The header that an include names; empty for any other directive, and for one that is not known.
std::string_view KnownInclude(std::string_view directive) {
  const std::vector<std::string_view> words = SplitWords(directive);
  std::string_view name = words.size() == 2 && words[0] == "#include" ? words[1] : "";
  if (!name.starts_with('<') || !name.ends_with('>')) return {};
  name = name.substr(1, name.size() - 2);
  return std::ranges::find(kKnown, name) == std::end(kKnown) ? std::string_view{} : name;
}

// Ways to a header or to a name that the tokens do not show. Line ends within raw strings, and comments that go on
// behind a directive's line, are not read as the compiler reads them.
bool MayNeedAnything(std::string_view text, const Names& names) {
  for (const std::string_view part : {"##", "%:", "??", "R\""})
    if (text.find(part) != std::string_view::npos) return true;
  for (const std::string_view name : {"include", "include_next", "import", "__has_include", "__has_include_next",
                                      "__COUNTER__", "push_macro", "pop_macro"})
    if (names.contains(name)) return true;
  return false;
}

}  // namespace

std::optional<SourceNames> NamesOfSource(std::string_view source) {
  const std::string text = WithoutLineEnds(source);
  SourceNames found;
  bool may_include = true;
  for (const CppToken& token : CppTokens(text)) {
    const bool is_directive = token.kind == CppTokenKind::kDirective;
    const std::string_view include = is_directive && may_include ? KnownInclude(token.text) : std::string_view{};
    if (!include.empty()) {
      found.includes.emplace_back(include);
      continue;
    }
    may_include = false;
    if (is_directive && token.text.find("/*") != std::string_view::npos) return std::nullopt;
    if (is_directive) found.names.merge(NamesOf(token.text.substr(1)));
    if (token.IsName()) found.names.emplace(token.text);
  }
  if (MayNeedAnything(text, found.names)) return std::nullopt;
  std::ranges::sort(found.includes);
  const auto again = std::ranges::unique(found.includes);
  found.includes.erase(again.begin(), again.end());
  return found;
}

std::string IncludeLines(const std::vector<std::string>& includes) {
  std::string text;
  for (const std::string& include : includes) text += fmt::format("#include <{}>\n", include);
  return text;
}

Result<NarrowHeaders> NarrowHeaders::Read(std::string_view host, std::string_view device, std::string_view launcher) {
  ASSIGN_OR_RETURN(Declarations of_host, Declarations::Read(host));
  ASSIGN_OR_RETURN(Declarations of_device, Declarations::Read(device));
  Names names = NamesOf(launcher);
  // cudafe++ looks for the first, and puts the second where device code stood.
  names.insert({"__cudaPushCallConfiguration", "exit"});
  return NarrowHeaders(std::move(of_host), std::move(of_device), std::move(names));
}

std::optional<std::string> NarrowHeaders::For(const Names& names) const {
  const std::optional<std::string> host = host_.Select(names, launcher_);
  if (!host) return std::nullopt;
  const std::optional<std::string> device = device_.Select(names, launcher_);
  if (!device) return std::nullopt;
  return fmt::format("#pragma once\n#pragma GCC system_header\n#ifdef __CUDA_ARCH__\n{}#else\n{}#endif\n", *device,
                     *host);
}

}  // namespace gemmsmith
