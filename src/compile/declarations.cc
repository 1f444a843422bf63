#include "compile/declarations.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/cpp_tokens.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

using Tokens = std::vector<CppToken>;

const std::unordered_set<std::string_view>& Keywords() {
  static const std::unordered_set<std::string_view> words = {
      "alignas",       "alignof",     "auto",       "bool",        "break",      "case",         "catch",
      "char",          "char16_t",    "char32_t",   "class",       "const",      "constexpr",    "const_cast",
      "continue",      "decltype",    "default",    "do",          "double",     "dynamic_cast", "else",
      "enum",          "explicit",    "export",     "extern",      "false",      "float",        "for",
      "friend",        "goto",        "if",         "inline",      "int",        "long",         "mutable",
      "namespace",     "noexcept",    "nullptr",    "operator",    "private",    "protected",    "public",
      "register",      "return",      "short",      "signed",      "sizeof",     "static",       "struct",
      "static_assert", "static_cast", "switch",     "template",    "this",       "throw",        "thread_local",
      "true",          "try",         "typedef",    "typeid",      "typename",   "union",        "unsigned",
      "using",         "virtual",     "void",       "volatile",    "wchar_t",    "while",        "__attribute__",
      "__asm__",       "asm",         "__inline",   "__inline__",  "__restrict", "__restrict__", "__extension__",
      "__volatile__",  "__const",     "__signed__", "__alignof__", "__typeof__", "__int128",     "reinterpret_cast"};
  return words;
}
bool IsKeyword(std::string_view word) { return Keywords().contains(word); }

bool IsOneOf(const CppToken& token, std::initializer_list<std::string_view> words) {
  return token.kind != CppTokenKind::kString && std::ranges::find(words, token.text) != words.end();
}
bool IsFreeName(const CppToken& token) { return token.IsName() && !IsKeyword(token.text); }

// A word in front of a parenthesis that belongs to neither a parameter list nor an expression of the declaration.
bool IsAttribute(const CppToken& token) {
  return IsOneOf(token, {"__attribute__", "__declspec", "alignas", "decltype", "noexcept", "throw", "__asm__", "asm"});
}
bool IsType(const CppToken& token) {
  return IsOneOf(token, {"int", "char", "float", "double", "bool", "long", "short", "unsigned", "signed", "auto"});
}

struct Lines {
  std::string text;                 // without directives, but pragmas inside of declarations
  std::vector<std::string> macros;  // #define and #undef
};

// "define NAME..." without the #; empty for an ordinary line.
std::string_view Directive(std::string_view line) {
  if (!line.starts_with('#')) return {};
  const size_t begin = line.find_first_not_of(" \t", 1);
  return begin == std::string_view::npos ? " " : line.substr(begin);
}

Lines Sort(std::string_view text) {
  Lines lines;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view directive = Directive(line);
    if (directive.starts_with("define ") || directive.starts_with("undef ")) {
      lines.macros.push_back("#" + std::string(directive));
    } else if (directive.empty() || directive.starts_with("pragma")) {
      lines.text.append(line).append("\n");
    }
  }
  return lines;
}

// Of "#define NAME(x) x".
std::string_view MacroName(std::string_view line) {
  const size_t begin = line.find(' ') + 1;
  return line.substr(begin, line.find_first_of(" (", begin) - begin);
}

// For each opening bracket the place of its end; empty where they do not match.
std::vector<size_t> MatchBrackets(const Tokens& tokens) {
  std::vector<size_t> ends(tokens.size(), 0), open;
  const auto is_open = [](const CppToken& token) { return IsOneOf(token, {"(", "[", "{"}); };
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (is_open(tokens[i])) open.push_back(i);
    if (!IsOneOf(tokens[i], {")", "]", "}"})) continue;
    if (open.empty() || tokens[open.back()].text[0] + (tokens[i].Is(")") ? 1 : 2) != tokens[i].text[0]) return {};
    ends[open.back()] = i;
    open.pop_back();
  }
  return open.empty() ? ends : std::vector<size_t>{};
}

}  // namespace

// Reads one declaration after the other. What it does not understand is an error, or a declaration that declares more
// names than it does; a source is then given more than it needs.
class DeclarationReader {
 public:
  DeclarationReader(const Tokens& tokens, std::vector<size_t> ends) : tokens_(tokens), ends_(std::move(ends)) {}

  Status Run(std::vector<Declarations::Declaration>& declarations) {
    while (at_ < tokens_.size()) {
      if (tokens_[at_].kind == CppTokenKind::kDirective) {
        if (tokens_[at_].text.find("pack") != std::string_view::npos) return Unclear();
        ++at_;
      } else if (tokens_[at_].Is(";")) {
        ++at_;
      } else {
        RETURN_IF_ERROR(ReadOne());
        declarations.push_back(std::move(present_));
      }
    }
    return OkStatus();
  }

 private:
  struct Seen {                                       // of the present declaration, outside of brackets
    std::vector<std::string_view> names, last_names;  // last: in front of ; , [ =
    std::set<std::string_view> words;                 // keywords that say what it is
    std::string_view function, tag;
    std::vector<std::string_view> parameters;
    std::set<std::string_view> bound;  // template and function parameters
    bool has_parameters = false, is_odd = false, is_assigned = false, is_qualified = false, has_body = false;
  };

  Status Unclear() const {
    return InvalidArgument(fmt::format("headers with a declaration that is not understood: {}",
                                       at_ < tokens_.size() ? tokens_[at_].text : "the last one"));
  }
  const CppToken& Token(size_t place) const {
    static const CppToken end;
    return place < tokens_.size() ? tokens_[place] : end;
  }
  bool Has(std::string_view word) const { return seen_.words.contains(word); }

  Status ReadOne() {
    present_ = {};
    seen_ = {};
    const size_t begin = at_;
    if (tokens_[at_].Is("}")) {
      ++at_;
      present_.is_frame = true;
    } else if (tokens_[at_].Is("extern") && Token(at_ + 1).kind == CppTokenKind::kString && Token(at_ + 2).Is("{")) {
      at_ += 3;
      present_.is_frame = true;
    } else if (tokens_[at_].Is("namespace") || (tokens_[at_].Is("inline") && Token(at_ + 1).Is("namespace"))) {
      RETURN_IF_ERROR(ReadNamespace());
    } else {
      RETURN_IF_ERROR(ReadDeclaration());
      Conclude(begin);
    }
    present_.text = {tokens_[begin].text.data(), Token(at_ - 1).text.data() + Token(at_ - 1).text.size()};
    return OkStatus();
  }

  Status ReadNamespace() {
    present_.is_namespace = true;
    for (; at_ < tokens_.size() && !IsOneOf(tokens_[at_], {"{", ";"}); ++at_)
      if (IsFreeName(tokens_[at_])) present_.declares.push_back(tokens_[at_].text);
    if (at_ == tokens_.size()) return Unclear();
    at_ = (tokens_[at_].Is("{") ? ends_[at_] : at_) + 1;
    return OkStatus();
  }

  // Up to behind its last token.
  Status ReadDeclaration() {
    const size_t begin = at_;
    while (at_ < tokens_.size()) {
      const CppToken& token = tokens_[at_];
      if (token.Is("{")) {
        at_ = ends_[at_] + 1;
        seen_.has_body = true;
        if (seen_.has_parameters && !seen_.is_assigned) return OkStatus();
      } else if (token.Is(";")) {
        ++at_;
        return OkStatus();
      } else if (token.Is("}")) {
        return Unclear();
      } else if (IsAttribute(token) && Token(at_ + 1).Is("(")) {
        at_ = ends_[at_ + 1] + 1;
      } else if (token.Is("template") && Token(at_ + 1).Is("<")) {
        ++at_;
        RETURN_IF_ERROR(ReadAngles(true));
      } else if (token.Is("<") && !seen_.is_assigned && at_ > begin && !Token(at_ - 1).Is("operator")) {
        RETURN_IF_ERROR(ReadAngles(false));
      } else {
        ReadToken(begin);
      }
    }
    return Unclear();
  }

  Status ReadAngles(bool are_parameters) {
    int depth = 0;
    do {
      const CppToken& token = Token(at_);
      if (at_ >= tokens_.size() || IsOneOf(token, {"{", ";"})) return Unclear();
      if (IsOneOf(token, {"(", "["})) {
        at_ = ends_[at_] + 1;
        continue;
      }
      depth += int(token.Is("<")) - int(token.Is(">"));
      if (are_parameters && NamesParameter(at_, {",", ">", "="}, {"class", "typename", "."}))
        seen_.bound.insert(token.text);
      ++at_;
    } while (depth > 0);
    return OkStatus();
  }

  // Whether a parameter's name stands there, behind a type and in front of one of `ends`.
  bool NamesParameter(size_t place, std::initializer_list<std::string_view> ends,
                      std::initializer_list<std::string_view> starts) const {
    if (place == 0 || !IsFreeName(Token(place)) || !IsOneOf(Token(place + 1), ends)) return false;
    const CppToken& before = Token(place - 1);
    return IsFreeName(before) || IsType(before) || IsOneOf(before, starts);
  }

  void ReadToken(size_t begin) {
    const CppToken& token = tokens_[at_];
    if (IsOneOf(token, {"class", "struct", "union", "enum", "typedef", "using", "operator", "static_assert"}))
      seen_.words.insert(token.text);
    if (token.Is("operator") && Token(at_ + 1).kind == CppTokenKind::kString) seen_.words.insert("literal");
    if (token.Is("::")) seen_.is_qualified = true;
    if (token.Is("=") && !Has("operator")) seen_.is_assigned = true;
    if (token.Is(",") && seen_.has_parameters) seen_.is_odd = true;
    if (token.Is("(")) return ReadParentheses(begin);
    if (token.Is("[")) {
      at_ = ends_[at_] + 1;
      return;
    }
    if (token.IsName()) ReadName(token);
    ++at_;
  }

  void ReadName(const CppToken& token) {
    if (IsKeyword(token.text)) return;
    seen_.names.push_back(token.text);
    if (seen_.tag.empty() && (Has("class") || Has("struct") || Has("union") || Has("enum"))) seen_.tag = token.text;
    if (IsOneOf(Token(at_ + 1), {";", ",", "[", "=", "__attribute__"})) seen_.last_names.push_back(token.text);
  }

  // The first ones, if not of a variable's value, hold the parameters of a function.
  void ReadParentheses(size_t begin) {
    const size_t open = at_, end = ends_[at_];
    at_ = end + 1;
    for (size_t i = open; i < end; ++i)
      if (IsFreeName(tokens_[i])) seen_.parameters.push_back(tokens_[i].text);
    if (seen_.has_parameters || seen_.is_assigned) return;
    seen_.has_parameters = true;
    const bool is_named = open > begin && IsFreeName(tokens_[open - 1]) && !Token(open + 1).Is("*");
    if (is_named)
      seen_.function = tokens_[open - 1].text;
    else
      seen_.is_odd = true;
    BindParameters(open, end);
  }

  // A name that is a type's elsewhere in the list is no parameter's.
  void BindParameters(size_t open, size_t end) {
    std::set<std::string_view> names, others;
    for (size_t i = open + 1; i < end; ++i)
      if (IsFreeName(tokens_[i]))
        (NamesParameter(i, {",", ")", "="}, {"*", "&"}) ? names : others).insert(tokens_[i].text);
    for (const std::string_view name : names)
      if (!others.contains(name)) seen_.bound.insert(name);
  }

  void Conclude(size_t begin) {
    std::set<std::string_view> declares = Declares(begin);
    for (const std::string_view name : seen_.bound) declares.erase(name);
    present_.declares.assign(declares.begin(), declares.end());
    present_.mentions = Mentions(begin);
    if (Has("literal")) present_.is_namespace = true, present_.declares = {"operator"};
  }

  std::set<std::string_view> AllNames(size_t begin) const {
    std::set<std::string_view> names;
    for (size_t i = begin; i < at_; ++i)
      if (IsFreeName(tokens_[i])) names.insert(tokens_[i].text);
    return names;
  }

  std::set<std::string_view> Declares(size_t begin) {
    std::set<std::string_view> names;
    const auto add = [&](const std::vector<std::string_view>& more) { names.insert(more.begin(), more.end()); };
    if (Has("static_assert")) return {};
    if (Has("using")) return DeclaresByUsing(begin);
    if (Has("typedef") && (Has("enum") || seen_.has_parameters)) return AllNames(begin);
    if (Has("typedef")) {
      add(seen_.last_names);
      names.insert(seen_.tag);
    } else if (Has("operator") && IsAllocation()) {
      return {"new", "delete"};
    } else if (Has("operator")) {
      add(seen_.names), add(seen_.parameters);
    } else if (!seen_.function.empty() && !seen_.is_odd) {
      names = {seen_.function, seen_.tag};
      if (seen_.is_qualified) add(seen_.names);
    } else if (seen_.has_parameters && !seen_.is_assigned) {
      return AllNames(begin);
    } else if (Has("enum")) {
      return AllNames(begin);
    } else if (!seen_.tag.empty()) {
      add(seen_.last_names);
      names.insert(seen_.tag);
      if (seen_.is_qualified || seen_.has_parameters) return AllNames(begin);
    } else {
      add(seen_.names);
    }
    names.erase(std::string_view());
    return names;
  }

  bool IsAllocation() const {
    return std::ranges::any_of(seen_.names, [](std::string_view name) { return name == "new" || name == "delete"; });
  }

  // using namespace X is worth nothing without X, and brings all if X is named. using X = Y; using X::y.
  std::set<std::string_view> DeclaresByUsing(size_t begin) {
    if (Token(begin + 1).Is("namespace")) return {};
    for (size_t i = begin; i < at_; ++i)
      if (tokens_[i].Is("=")) return IsFreeName(tokens_[i - 1]) ? std::set{tokens_[i - 1].text} : AllNames(begin);
    present_.is_borrowed = true;
    return IsFreeName(Token(at_ - 2)) ? std::set{Token(at_ - 2).text} : std::set<std::string_view>{"operator"};
  }

  // Names that may be looked up outside of the declaration: no attributes, no members.
  std::vector<std::string_view> Mentions(size_t begin) const {
    std::set<std::string_view> names;
    for (size_t i = begin; i < at_; ++i) {
      if (tokens_[i].Is("__attribute__") && Token(i + 1).Is("("))
        i = ends_[i + 1];
      else if (IsFreeName(tokens_[i]) && !IsMember(i, begin) && !seen_.bound.contains(tokens_[i].text))
        names.insert(tokens_[i].text);
    }
    return {names.begin(), names.end()};
  }
  bool IsMember(size_t place, size_t begin) const {
    if (place == begin) return false;
    const CppToken& before = tokens_[place - 1];
    if (IsOneOf(before, {".", "->"}) || (before.Is("=") && tokens_[place].Is("delete"))) return true;
    if (!before.Is("::") || place < begin + 2) return false;
    return tokens_[place - 2].Is(">") || IsFreeName(tokens_[place - 2]);
  }

  const Tokens& tokens_;
  const std::vector<size_t> ends_;
  size_t at_ = 0;
  Declarations::Declaration present_;
  Seen seen_;
};

Names NamesOf(std::string_view text) {
  Names names;
  for (const CppToken& token : CppTokens(text)) {
    if (token.IsName()) names.emplace(token.text);
    if (token.kind == CppTokenKind::kDirective) names.merge(NamesOf(token.text.substr(1)));
  }
  return names;
}

Result<Declarations> Declarations::Read(std::string_view text) {
  Lines lines = Sort(text);
  Declarations read;
  read.text_ = std::make_unique<const std::string>(std::move(lines.text));
  const Tokens tokens = CppTokens(*read.text_);
  std::vector<size_t> ends = MatchBrackets(tokens);
  if (ends.size() != tokens.size()) return InvalidArgument("headers whose brackets do not match");
  RETURN_IF_ERROR(DeclarationReader(tokens, std::move(ends)).Run(read.declarations_));
  for (size_t i = 0; i < read.declarations_.size(); ++i)
    for (const std::string_view name : read.declarations_[i].declares) read.by_name_[name].push_back(i);
  for (const std::string& line : lines.macros) read.macros_[std::string(MacroName(line))] = line;
  for (const auto& [name, line] : std::map(read.macros_.begin(), read.macros_.end())) read.macro_text_ += line + "\n";
  return read;
}

// With the names that their macros become.
Names Declarations::WithMacros(const Names& names) const {
  Names all;
  std::vector<std::string> open(names.begin(), names.end());
  while (!open.empty()) {
    std::string name = std::move(open.back());
    open.pop_back();
    const auto macro = macros_.find(name);
    if (!all.insert(std::move(name)).second || macro == macros_.end()) continue;
    for (const std::string& inner : NamesOf(std::string_view(macro->second).substr(1))) open.push_back(inner);
  }
  return all;
}

std::optional<std::string> Declarations::Select(const Names& own, const Names& fixed) const {
  const Names own_names = WithMacros(own), fixed_names = WithMacros(fixed);
  std::vector<std::string_view> open(own_names.begin(), own_names.end());
  open.insert(open.end(), fixed_names.begin(), fixed_names.end());
  std::unordered_set<std::string_view> needed;
  std::vector<bool> is_chosen(declarations_.size(), false);
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    const auto found = by_name_.find(name);
    if (!needed.insert(name).second || found == by_name_.end()) continue;
    for (const size_t i : found->second) {
      const Declaration& declaration = declarations_[i];
      if (declaration.is_namespace) return std::nullopt;
      if (is_chosen[i] || (declaration.is_borrowed && !own_names.contains(name))) continue;
      is_chosen[i] = true;
      open.insert(open.end(), declaration.mentions.begin(), declaration.mentions.end());
    }
  }
  std::string text;
  for (size_t i = 0; i < declarations_.size(); ++i)
    if (is_chosen[i] || declarations_[i].is_frame) text.append(declarations_[i].text).append("\n");
  return text + macro_text_;
}

}  // namespace gemmsmith
