#include "workflow/self_test_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 10> kKeys = {"fault", "class",  "style", "expect", "says",
                                                    "shape", "layout", "type",  "needs",  "plan"};

struct HeaderLine {
  int line = 0;
  std::string_view value;
};

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// The header of one file while it is read: errors know where they are.
class Header {
 public:
  explicit Header(std::string file) : file_(std::move(file)) {}

  // The lines "// key: value" at the beginning; the first other line ends them.
  Status Read(std::string_view text) {
    for (const std::string_view raw : Split(text, '\n')) {
      ++last_line_;
      const std::string_view line = Trim(raw);
      const size_t colon = line.find(':');
      if (!line.starts_with("//") || colon == std::string_view::npos) break;
      const std::string_view key = Trim(line.substr(2, colon - 2)), value = Trim(line.substr(colon + 1));
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return Unknown(key);
      if (value.empty()) return Wrong(last_line_, fmt::format("'{}' has no value", key));
      if (!lines_.emplace(key, HeaderLine{last_line_, value}).second)
        return Wrong(last_line_, fmt::format("'{}' is given twice", key));
    }
    return OkStatus();
  }

  std::optional<HeaderLine> Find(std::string_view key) const {
    const auto found = lines_.find(key);
    if (found == lines_.end()) return std::nullopt;
    return found->second;
  }
  Result<HeaderLine> Require(std::string_view key, std::string_view example) const {
    if (const std::optional<HeaderLine> line = Find(key)) return *line;
    return Wrong(last_line_, fmt::format("the header lacks '// {}: {}'", key, example));
  }
  Status Wrong(int line, std::string_view what) const {
    return InvalidArgument(fmt::format("{}:{}: {}", file_, line, what));
  }

 private:
  Status Unknown(std::string_view key) const {
    const std::optional<std::string> near = NearestWord(key, kKeys);
    return Wrong(last_line_, near ? fmt::format("'{}' is no key of a case's header; did you mean '{}'?", key, *near)
                                  : fmt::format("'{}' is no key of a case's header, which has {}; a line '//' ends it",
                                                key, fmt::join(kKeys, ", ")));
  }

  std::string file_;
  std::map<std::string_view, HeaderLine> lines_;
  int last_line_ = 0;
};

bool EndsABrokenKernel(OutcomeKind kind) { return kind != OutcomeKind::kMeasured && kind != OutcomeKind::kVerified; }

Result<std::vector<OutcomeKind>> ReadExpected(const Header& header) {
  ASSIGN_OR_RETURN(const HeaderLine line, header.Require("expect", "wrong|cheated"));
  std::vector<OutcomeKind> expected;
  for (const std::string_view word : Split(line.value, '|')) {
    const std::optional<OutcomeKind> kind = ParseOutcomeKind(Trim(word));
    if (!kind || !EndsABrokenKernel(*kind))
      return header.Wrong(line.line,
                          fmt::format("'{}' is no outcome that ends a broken kernel: illegal, compile_failed, "
                                      "resource_over, launch_failed, timed_out, wrong or cheated",
                                      Trim(word)));
    expected.push_back(*kind);
  }
  return expected;
}

Result<Gemm> ReadGemm(const Header& header) {
  Gemm gemm;
  ASSIGN_OR_RETURN(const HeaderLine shape_line, header.Require("shape", "256x256x512"));
  const Result<Shape> shape = ParseShape(shape_line.value);
  if (!shape.ok()) return header.Wrong(shape_line.line, shape.status().message());
  gemm.shape = *shape;
  if (const std::optional<HeaderLine> line = header.Find("layout")) {
    if (line->value != Name(kNn) && line->value != Name(kTn))
      return header.Wrong(line->line, fmt::format("'{}' is no layout of a case: nn or tn", line->value));
    gemm.kind.layout = line->value == Name(kNn) ? kNn : kTn;
  }
  if (const std::optional<HeaderLine> line = header.Find("type")) {
    if (line->value != "f16" && line->value != "bf16")
      return header.Wrong(line->line, fmt::format("'{}' is no type of a case: f16 or bf16", line->value));
    gemm.kind.type = line->value == "f16" ? ScalarType::kF16 : ScalarType::kBf16;
  }
  if (const std::vector<std::string> reasons = WhyInvalid(gemm); !reasons.empty())
    return header.Wrong(shape_line.line, reasons.front());
  return gemm;
}

// The subject of a case: a fault with its allowed outcomes, or a style, which must pass.
Status ReadSubject(const Header& header, Case& read) {
  const std::optional<HeaderLine> style = header.Find("style");
  if (style) {
    for (const std::string_view key : {"fault", "class", "expect", "says"})
      if (const std::optional<HeaderLine> line = header.Find(key))
        return header.Wrong(line->line,
                            fmt::format("'{}' and 'style' exclude each other: an honest kernel passes", key));
    read.kind = "honest";
    read.subject = style->value;
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const HeaderLine fault,
                   header.Require("fault", "what is wrong' or, of an honest kernel, '// style: what it shows"));
  read.subject = fault.value;
  const std::optional<HeaderLine> kind = header.Find("class");
  read.kind = kind ? kind->value : "other";
  ASSIGN_OR_RETURN(read.expected, ReadExpected(header));
  if (const std::optional<HeaderLine> says = header.Find("says")) read.says = says->value;
  return OkStatus();
}

// The standalone file of the plan that a header names, behind that header.
Result<std::string> EmittedText(const Header& header, const HeaderLine& line, const Gemm& gemm, std::string_view text) {
  const Result<Plan> plan = ParsePlan(line.value);
  if (!plan.ok()) return header.Wrong(line.line, plan.status().message());
  if (const std::vector<std::string> reasons = Check(*plan, gemm, *FindDevice("h200")); !reasons.empty())
    return header.Wrong(line.line, Join(reasons, "; "));
  const std::vector<std::string_view> lines = Split(text, '\n');
  const auto is_header = [](std::string_view text_line) {
    return Trim(text_line).empty() || Trim(text_line).starts_with("//");
  };
  if (!std::all_of(lines.begin(), lines.end(), is_header))
    return header.Wrong(line.line, "a case is a plan or a text, not both");
  return fmt::format("{}//\n{}", text, EmitStandalone(*plan, gemm));
}

}  // namespace

Result<Case> ParseCase(const fs::path& file, std::string text) {
  Header header(file.string());
  RETURN_IF_ERROR(header.Read(text));
  Case read;
  read.name = file.stem();
  RETURN_IF_ERROR(ReadSubject(header, read));
  ASSIGN_OR_RETURN(read.gemm, ReadGemm(header));
  if (const std::optional<HeaderLine> needs = header.Find("needs")) {
    if (needs->value != "cutlass")
      return header.Wrong(needs->line, fmt::format("'{}' is nothing a case can need: cutlass is", needs->value));
    read.needs_cutlass = true;
  }
  if (const std::optional<HeaderLine> plan = header.Find("plan")) {
    ASSIGN_OR_RETURN(read.text, EmittedText(header, *plan, read.gemm, text));
  } else {
    read.text = std::move(text);
  }
  return read;
}

Result<std::vector<Case>> ReadCases(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return NotFound(fmt::format("no folder of cases at {}", folder.string()));
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".cu") files.push_back(entry->path());
  if (error) return IoError(fmt::format("{} cannot be listed: {}", folder.string(), error.message()));
  if (files.empty()) return NotFound(fmt::format("no case (*.cu) in {}", folder.string()));
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    ASSIGN_OR_RETURN(Case read, ParseCase(file, std::move(text)));
    cases.push_back(std::move(read));
  }
  return cases;
}

}  // namespace gemmsmith
