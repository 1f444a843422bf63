#include "cli/models_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/sheet_text.h"
#include "report/model_tables.h"

namespace gemmsmith {

std::string PrintModels(const ModelReport& report, const std::string& model, const std::string& source,
                        ReportFormat format, const Terminal& terminal) {
  if (format == ReportFormat::kJson) return PrintJson(ModelsJson(report, source));
  if (format == ReportFormat::kCsv) return ModelsCsv(report);
  const std::vector<Sheet> sheets = model.empty() ? SheetsOf(report) : std::vector{PhasesOf(report, model)};
  std::string text;
  if (format == ReportFormat::kMarkdown) {
    text = fmt::format("{}.\n", fmt::join(HeaderLines(report), "; "));
    for (const Sheet& sheet : sheets) text += "\n" + Markdown(sheet);
    return text;
  }
  text = Tinted(source, Tint::kBold, terminal) + "\n";
  for (const std::string& line : HeaderLines(report)) text += line + "\n";
  for (const Sheet& sheet : sheets) text += "\n" + TextOf(sheet, terminal);
  if (model.empty()) text += "  * products are missing in a phase; --model NAME shows the phases\n";
  return text;
}

}  // namespace gemmsmith
