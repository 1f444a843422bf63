#include "cli/patterns_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/sheet_text.h"
#include "report/pattern_json.h"
#include "report/pattern_tables.h"

namespace gemmsmith {

namespace {

std::string Text(const Patterns& patterns, const std::string& source, const Terminal& terminal) {
  std::string text = Tinted(source, Tint::kBold, terminal) + "\n";
  for (const std::string& line : HeaderLines(patterns)) text += line + "\n";
  std::string_view part;
  for (const PatternSentence& sentence : patterns.sentences) {
    if (part != sentence.part) text += fmt::format("\n  In words: {}\n", sentence.part);
    part = sentence.part;
    text += "  " + sentence.text + "\n";
  }
  for (const Sheet& sheet : SheetsOf(patterns)) text += "\n" + TextOf(sheet, terminal);
  return text;
}

std::string MarkdownText(const Patterns& patterns) {
  std::string text = fmt::format("{}.\n", fmt::join(HeaderLines(patterns), "; "));
  if (!patterns.sentences.empty()) text += "\n";
  for (const PatternSentence& sentence : patterns.sentences) text += "- " + sentence.text + "\n";
  for (const Sheet& sheet : SheetsOf(patterns)) text += "\n" + Markdown(sheet);
  return text;
}

}  // namespace

std::string PrintPatterns(const Patterns& patterns, const std::string& source, ReportFormat format,
                          const Terminal& terminal) {
  switch (format) {
    case ReportFormat::kJson:
      return PrintJson(PatternsJson(patterns, source));
    case ReportFormat::kCsv:
      return PatternsCsv(patterns);
    case ReportFormat::kMarkdown:
      return MarkdownText(patterns);
    case ReportFormat::kText:
      break;
  }
  return Text(patterns, source, terminal);
}

}  // namespace gemmsmith
