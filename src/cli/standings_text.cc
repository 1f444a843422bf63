#include "cli/standings_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

std::string ClassName(const Standing& standing) {
  return std::string(standing.shape_class ? Name(*standing.shape_class) : "offgrid");
}

}  // namespace

std::string StandingsText(const std::vector<Standing>& standings, const Terminal& terminal) {
  if (standings.empty()) return "";
  const bool any_chained = std::any_of(standings.begin(), standings.end(),
                                       [](const Standing& standing) { return standing.chained_problems > 0; });
  using enum Table::Align;
  std::vector<Table::Column> columns = {
      {"class"},          {"layout"},         {"shapes", kRight}, {"geometric mean", kRight},
      {"lowest", kRight}, {"faster", kRight}, {"slower", kRight}};
  if (any_chained) columns.push_back({"chained", kRight});
  Table table(columns);
  for (const Standing& standing : standings) {
    std::vector<std::string> row = {ClassName(standing),
                                    std::string(Name(standing.layout)),
                                    CountText(standing.problems),
                                    fmt::format("{:.3f}x", standing.geometric_mean),
                                    fmt::format("{:.2f}x", standing.minimum),
                                    CountText(standing.wins),
                                    CountText(standing.losses)};
    if (any_chained)
      row.push_back(standing.chained_problems == 0 ? "-" : fmt::format("{:.3f}x", standing.chained_mean));
    table.Add(std::move(row));
  }
  return "  speed-up of each shape's best kernel over cuBLASLt AutoTuning (the faster of nn and tn), device clock, "
         "f16\n" +
         table.Print(terminal);
}

Json JsonOf(const std::vector<Standing>& standings) {
  Json list = Json::array();
  for (const Standing& standing : standings)
    list.push_back({{"class", ClassName(standing)},
                    {"layout", Name(standing.layout)},
                    {"problems", standing.problems},
                    {"geometric_mean", standing.geometric_mean},
                    {"minimum", standing.minimum},
                    {"wins", standing.wins},
                    {"losses", standing.losses},
                    {"chained_problems", standing.chained_problems},
                    {"chained", standing.chained_problems == 0 ? Json() : Json(standing.chained_mean)}});
  return list;
}

}  // namespace gemmsmith
