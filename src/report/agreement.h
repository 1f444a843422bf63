// How well the libraries' times of one record agree with those of another, or of another program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/ratio_summary.h"
#include "report/selection.h"
#include "report/sheet.h"
#include "report/time_table.h"

namespace gemmsmith {

// What the libraries took, by variant and shape; ours is left out, whose kernels differ from record to record.
VariantTimes LibraryTimes(const Selection& selection, Clock clock);

// By what a variant's shapes are told apart: their class, their time (here), or what held the clocks in the race
// (here).
enum class AgreementGroup : uint8_t { kNone, kClass, kTime, kPower };
std::optional<AgreementGroup> ParseAgreementGroup(std::string_view name);  // "class", "time", "power"

struct AgreementRow {
  std::string variant, group;
  RatioSummary ratio;  // its count is that of shapes
};

struct ShapeRatio {
  Shape shape;
  std::string variant;
  double here_ns = 0, there_ns = 0;
  std::string power;
  double ratio() const { return here_ns / there_ns; }
};

// Ratios are of the time here over the time there.
struct Agreement {
  Clock clock = Clock::kDevice;
  AgreementGroup by = AgreementGroup::kNone;
  int shapes_here = 0, shapes_there = 0, shapes = 0;  // in either, and in both
  std::vector<AgreementRow> rows;                     // by variant
  std::vector<ShapeRatio> furthest;                   // from 1, whichever way
};

struct AgreementOptions {
  Clock clock = Clock::kDevice;
  AgreementGroup by = AgreementGroup::kNone;
  int furthest = 10;
};

// NotFound where no variant has a time of one shape in both.
Result<Agreement> Agree(const Selection& here, const VariantTimes& there, const AgreementOptions& options);

std::vector<std::string> HeaderLines(const Agreement& agreement, const Selection& here);
Sheet AgreementSheet(const Agreement& agreement);
Sheet FurthestSheet(const Agreement& agreement);
// Their keys and columns are stable, and stand in docs/command_line.md.
nlohmann::ordered_json AgreementJson(const Agreement& agreement);
std::string AgreementCsv(const Agreement& agreement);

}  // namespace gemmsmith
