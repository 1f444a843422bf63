#include "cli/standings_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/table.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kAll = "all";

struct Line {
  std::string class_name;
  Standing standing;
};

std::vector<Line> LinesOf(const std::vector<Trial>& trials) {
  std::vector<Line> lines;
  for (const Standing& standing : StandingsOf(trials))
    lines.push_back({std::string(standing.shape_class ? Name(*standing.shape_class) : "offgrid"), standing});
  for (const Standing& total : TotalsOf(trials)) lines.push_back({std::string(kAll), total});
  return lines;
}

bool IsOnlyClass(const std::vector<Line>& lines, const Layout& layout) {
  return std::count_if(lines.begin(), lines.end(), [&](const Line& line) {
           return line.standing.layout == layout && line.standing.shape_class;
         }) < 2;
}

// "device_cold"; where some problems have older records only, "device_cold or device".
std::string ClocksText(const std::vector<Trial>& trials) {
  std::set<std::string, std::greater<>> names;
  for (const Trial& trial : trials)
    if (trial.IsTimedPlan()) names.emplace(Name(trial.outcome.LeadingClock()));
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

std::string StandingsText(const std::vector<Trial>& trials, const Terminal& terminal) {
  const std::vector<Line> lines = LinesOf(trials);
  if (lines.empty()) return "";
  const bool any_chained =
      std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.standing.chained_problems > 0; });
  using enum Table::Align;
  std::vector<Table::Column> columns = {{"class"},
                                        {"layout"},
                                        {"shapes", kRight},
                                        {"geometric mean", kRight},
                                        {"lowest", kRight},
                                        {"faster (clear)", kRight},
                                        {"slower (clear)", kRight}};
  if (any_chained) columns.push_back({"chained", kRight});
  Table table(columns);
  for (const auto& [class_name, standing] : lines) {
    if (class_name == kAll && IsOnlyClass(lines, standing.layout)) continue;
    std::vector<std::string> row = {class_name,
                                    std::string(Name(standing.layout)),
                                    CountText(standing.problems),
                                    fmt::format("{:.3f}x", standing.geometric_mean),
                                    fmt::format("{:.2f}x", standing.minimum),
                                    fmt::format("{} ({})", standing.wins, standing.clear_wins),
                                    fmt::format("{} ({})", standing.losses, standing.clear_losses)};
    if (any_chained)
      row.push_back(standing.chained_problems == 0 ? "-" : fmt::format("{:.3f}x", standing.chained_mean));
    table.Add(std::move(row));
  }
  return fmt::format(
             "  speed-up of each shape's best kernel over the fastest AutoTuning of its race, {}, f16;\n"
             "  clear: the whole 95 % interval lies above 1, or below\n",
             ClocksText(trials)) +
         table.Print(terminal);
}

Json StandingsJson(const std::vector<Trial>& trials) {
  Json list = Json::array();
  for (const auto& [class_name, standing] : LinesOf(trials))
    list.push_back({{"class", class_name},
                    {"layout", Name(standing.layout)},
                    {"problems", standing.problems},
                    {"geometric_mean", standing.geometric_mean},
                    {"minimum", standing.minimum},
                    {"wins", standing.wins},
                    {"clear_wins", standing.clear_wins},
                    {"losses", standing.losses},
                    {"clear_losses", standing.clear_losses},
                    {"chained_problems", standing.chained_problems},
                    {"chained", standing.chained_problems == 0 ? Json() : Json(standing.chained_mean)}});
  return list;
}

}  // namespace gemmsmith
