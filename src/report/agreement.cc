#include "report/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "problem/grids.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

struct LibraryTime {
  double time_ns = 0;
  const Trial* trial = nullptr;
};

bool IsTime(double time_ns) { return time_ns > 0 && std::isfinite(time_ns); }

std::map<std::string, LibraryTime> TimesOf(const ShapeRecords& records, Clock clock) {
  std::map<std::string, LibraryTime> times;
  for (const Trial* const run : records.RunsOfLibraries(clock))
    for (const Timing& timing : run->outcome.timings)
      if (timing.contender != "ours" && timing.clock == clock && IsTime(timing.median_ns))
        times.emplace(timing.contender, LibraryTime{timing.median_ns, run});
  return times;
}

// Ordered, and in words.
struct Group {
  int order = 0;
  std::string text;
  auto operator<=>(const Group&) const = default;
};

Group PowerGroup(const Trial& trial) {
  const RunConditions& conditions = trial.outcome.conditions;
  if (!conditions.limits.Has(ClockLimit::kPowerCap)) return {0, "no cap"};
  return conditions.in_steady_state ? Group{2, "capped, settled"} : Group{1, "capped"};
}

Group TimeGroup(double time_ns) {
  if (time_ns < 1e4) return {0, "below 10 us"};
  if (time_ns < 1e5) return {1, "10 to 100 us"};
  if (time_ns < 1e6) return {2, "0.1 to 1 ms"};
  return {3, "1 ms and more"};
}

Group RowGroupOf(AgreementGroup by, const Shape& shape, const LibraryTime& time) {
  switch (by) {
    case AgreementGroup::kNone:
      break;
    case AgreementGroup::kClass:
      return {int(Classify(shape)), std::string(Name(Classify(shape)))};
    case AgreementGroup::kTime:
      return TimeGroup(time.time_ns);
    case AgreementGroup::kPower:
      return PowerGroup(*time.trial);
  }
  return {};
}

std::string_view Title(AgreementGroup by) {
  return by == AgreementGroup::kClass ? "class" : by == AgreementGroup::kTime ? "time here" : "power";
}

double Distance(const ShapeRatio& ratio) { return std::abs(std::log(ratio.ratio())); }

}  // namespace

VariantTimes LibraryTimes(const Selection& selection, Clock clock) {
  VariantTimes times;
  for (const ShapeRecords& records : selection.shapes)
    for (const auto& [variant, time] : TimesOf(records, clock)) times[variant][records.shape] = time.time_ns;
  return times;
}

std::optional<AgreementGroup> ParseAgreementGroup(std::string_view name) {
  if (name == "class") return AgreementGroup::kClass;
  if (name == "time") return AgreementGroup::kTime;
  if (name == "power") return AgreementGroup::kPower;
  return std::nullopt;
}

Result<Agreement> Agree(const Selection& here, const VariantTimes& there, const AgreementOptions& options) {
  Agreement agreement{.clock = options.clock, .by = options.by, .shapes_here = int(here.shapes.size())};
  std::map<std::pair<std::string, Group>, std::vector<double>> rows;
  std::set<Shape> shapes_there, both;
  for (const auto& [variant, times] : there)
    for (const auto& [shape, time_ns] : times) shapes_there.insert(shape);
  for (const ShapeRecords& records : here.shapes) {
    for (const auto& [variant, time] : TimesOf(records, options.clock)) {
      const auto times = there.find(variant);
      if (times == there.end() || !times->second.contains(records.shape)) continue;
      const ShapeRatio ratio{records.shape, variant, time.time_ns, times->second.at(records.shape),
                             PowerGroup(*time.trial).text};
      rows[{variant, RowGroupOf(options.by, records.shape, time)}].push_back(ratio.ratio());
      agreement.furthest.push_back(ratio);
      both.insert(records.shape);
    }
  }
  if (rows.empty())
    return NotFound(fmt::format("no variant has a time of one shape in both ({} clock)", Name(options.clock)));
  for (const auto& [key, ratios] : rows) agreement.rows.push_back({key.first, key.second.text, SummaryOf(ratios)});
  std::stable_sort(agreement.furthest.begin(), agreement.furthest.end(),
                   [](const ShapeRatio& a, const ShapeRatio& b) { return Distance(a) > Distance(b); });
  agreement.furthest.resize(std::min(agreement.furthest.size(), size_t(options.furthest)));
  agreement.shapes_there = int(shapes_there.size());
  agreement.shapes = int(both.size());
  return agreement;
}

std::vector<std::string> HeaderLines(const Agreement& agreement, const Selection& here) {
  return {fmt::format("here: {}, {}, {} protocol, {} clock", here.setting.device_name, DateText(here.last_unix_ms),
                      Name(here.protocol), Name(agreement.clock)),
          fmt::format("{} in both, of {} here and {} there", Plural(agreement.shapes, "shape"),
                      CountText(agreement.shapes_here), CountText(agreement.shapes_there))};
}

Sheet AgreementSheet(const Agreement& agreement) {
  Sheet sheet{.caption = "Time here over time there", .columns = {{"variant", false}}};
  if (agreement.by != AgreementGroup::kNone) sheet.columns.push_back({std::string(Title(agreement.by)), false});
  for (const char* title : {"shapes", "geo. mean", "lowest", "5 %", "25 %", "median", "75 %", "95 %", "highest"})
    sheet.columns.push_back({title});
  for (const AgreementRow& row : agreement.rows) {
    const RatioSummary& s = row.ratio;
    std::vector<std::string> cells = {row.variant};
    if (agreement.by != AgreementGroup::kNone) cells.push_back(row.group);
    cells.push_back(fmt::format("{}", s.count));
    for (const double ratio : {s.geomean, s.lowest, s.q05, s.q25, s.median, s.q75, s.q95, s.highest})
      cells.push_back(RatioCell(ratio));
    sheet.rows.push_back(std::move(cells));
  }
  return sheet;
}

Sheet FurthestSheet(const Agreement& agreement) {
  Sheet sheet{
      .caption = "Furthest apart",
      .columns = {{"shape", false}, {"variant", false}, {"here, us"}, {"there, us"}, {"ratio"}, {"power", false}}};
  for (const ShapeRatio& far : agreement.furthest)
    sheet.rows.push_back({Print(far.shape), far.variant, MicrosecondsCell(far.here_ns), MicrosecondsCell(far.there_ns),
                          RatioCell(far.ratio()), far.power});
  return sheet;
}

Json AgreementJson(const Agreement& agreement) {
  Json rows = Json::array(), furthest = Json::array();
  for (const AgreementRow& row : agreement.rows) {
    Json json = {{"variant", row.variant}, {"group", row.group}, {"shapes", row.ratio.count}};
    json.update(JsonOf(row.ratio));
    rows.push_back(std::move(json));
  }
  for (const ShapeRatio& far : agreement.furthest)
    furthest.push_back({{"shape", Print(far.shape)},
                        {"variant", far.variant},
                        {"here_ns", far.here_ns},
                        {"there_ns", far.there_ns},
                        {"ratio", far.ratio()},
                        {"power", far.power}});
  return {{"clock", Name(agreement.clock)},
          {"shapes_here", agreement.shapes_here},
          {"shapes_there", agreement.shapes_there},
          {"shapes", agreement.shapes},
          {"variants", rows},
          {"furthest", furthest}};
}

std::string AgreementCsv(const Agreement& agreement) {
  std::string text = fmt::format("variant,group,shapes,{}\n", kRatioSummaryCsvHeader);
  for (const AgreementRow& row : agreement.rows)
    text +=
        fmt::format("{},{},{},{}\n", CsvField(row.variant), CsvField(row.group), row.ratio.count, CsvFields(row.ratio));
  return text;
}

}  // namespace gemmsmith
