// The report on models for people and for programs. docs/models.md documents every key and column; they are stable.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/model_steps.h"
#include "report/sheet.h"

namespace gemmsmith {

std::vector<std::string> HeaderLines(const ModelReport& report);
// The groups, then a line a model.
std::vector<Sheet> SheetsOf(const ModelReport& report);
// The phases of one model; CHECKs that there is one.
Sheet PhasesOf(const ModelReport& report, std::string_view model);
nlohmann::ordered_json ModelsJson(const ModelReport& report, const std::string& source);
// A line a phase.
std::string ModelsCsv(const ModelReport& report);

}  // namespace gemmsmith
