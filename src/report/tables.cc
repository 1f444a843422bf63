#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "report/choices.h"
#include "report/energy.h"
#include "report/selection_facts.h"

namespace gemmsmith {
namespace {

std::string Percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }
std::string Points(double std) { return fmt::format("{:.1f}", 100 * std); }

constexpr std::string_view kWinsTitle = "wins (clear)";

// "41 (38)"; a dash for what no interval tells; "41 of 52 (38)" of so many shapes, where its row has more.
std::string Wins(const Statistics& statistics, bool are_all = true) {
  const std::string wins =
      are_all ? fmt::format("{}", statistics.wins) : fmt::format("{} of {}", statistics.wins, statistics.shapes);
  if (statistics.without_interval == statistics.shapes) return wins + " (-)";
  return fmt::format("{} ({})", wins, statistics.clear_wins);
}

// "ours over lt_auto_max" or "cublas_max over lt_auto_max".
std::string HeadlineText(const Scoreboard& board) {
  return board.of_ours ? "ours over " + board.headline : board.headline + " over " + board.against;
}

std::string ModeText(Clock mode) {
  if (!IsChained(mode)) return std::string(Name(mode));
  return fmt::format("{} (ours in overlapping calls, the baselines' plain {} time)", Name(mode), Name(PlainOf(mode)));
}

Sheet PercentTable(const Scoreboard& board, const ModeTable& table, std::string caption,
                   const Statistics Row::*statistics) {
  Sheet sheet{.caption = std::move(caption),
              .columns = {{board.of_ours ? "baseline" : "contender", false},
                          {"shapes"},
                          {"mean"},
                          {"median"},
                          {"std, points"},
                          {"geo. mean"},
                          {"lowest"},
                          {"FLOP-weighted"},
                          {std::string(kWinsTitle)}}};
  for (const Row& row : table.rows) {
    const Statistics& s = row.*statistics;
    sheet.rows.push_back({row.name, fmt::format("{}", s.shapes), Percent(s.mean), Percent(s.median), Points(s.std),
                          Percent(s.geomean), Percent(s.min), Percent(s.flop_weighted), Wins(s)});
  }
  return sheet;
}

int MostWithoutInterval(const Scoreboard& board) {
  int most = 0;
  for (const ModeTable& table : board.modes)
    for (const Row& row : table.rows) most = std::max(most, row.all.without_interval);
  return most;
}

std::vector<std::string> ModeNames(const Scoreboard& board) {
  std::vector<std::string> names;
  for (const ModeTable& table : board.modes) names.emplace_back(Name(table.mode));
  return names;
}

}  // namespace

std::vector<std::string> HeaderLines(const Scoreboard& board) {
  const Selection& selection = board.selection;
  std::vector<std::string> lines;
  lines.push_back(MeasuredLine(selection));
  std::string shapes = Plural(board.shapes, "shape");
  if (board.shapes_without_ours > 0)
    shapes += fmt::format("; {} more without a kernel of ours left out", CountText(board.shapes_without_ours));
  if (selection.other_shapes > 0)
    shapes += fmt::format("; {} not asked for", Plural(selection.other_shapes, "other recorded shape"));
  lines.push_back(shapes);
  lines.push_back(board.of_ours
                      ? "ours: of each shape the faster of the best recorded nn and tn kernels; max: the "
                        "harder of a baseline's nn and tn"
                      : fmt::format("every contender against {}; max: the faster of nn and tn", board.against));
  if (const int untold = MostWithoutInterval(board); untold > 0)
    lines.push_back(fmt::format("up to {} shapes of a row have no 95 % interval, so no clear win or loss", untold));
  return lines;
}

Sheet TableOne(const Scoreboard& board, const ModeTable& table) {
  const std::string formula =
      board.of_ours ? "t_baseline / t_ours - 1" : fmt::format("t_{} / t_contender - 1", board.against);
  return PercentTable(board, table, fmt::format("Table 1, {}: speed-up {}", ModeText(table.mode), formula), &Row::all);
}

Sheet TableTwo(const Scoreboard& board, const ModeTable& table) {
  const std::string_view fallback =
      board.of_ours ? "the baseline is run where ours is slower" : "the reference is run where the contender is slower";
  return PercentTable(board, table, fmt::format("Table 2, {}: the same where {}", Name(table.mode), fallback),
                      &Row::with_fallback);
}

Sheet SameLayout(const ModeTable& table) {
  Sheet sheet{
      .caption =
          fmt::format("Same layout, {}: ratios t_baseline / t_ours of ours in the baseline's layout", Name(table.mode)),
      .columns = {{"baseline", false}, {"shapes"}, {"mean"}, {"geo. mean"}, {"lowest"}, {std::string(kWinsTitle)}}};
  for (const Row& row : table.same_layout)
    sheet.rows.push_back({row.name, fmt::format("{}", row.all.shapes), SpeedUpCell(row.all.mean),
                          SpeedUpCell(row.all.geomean), SpeedUpCell(row.all.min), Wins(row.all)});
  return sheet;
}

Sheet ClassTable(const Scoreboard& board) {
  const bool in_chains = board.of_ours && std::ranges::any_of(board.modes, IsChained, &ModeTable::mode);
  Sheet sheet{.caption = fmt::format("By class, {}: geometric mean of the ratios, and wins{}", HeadlineText(board),
                                     in_chains ? "; in chains of the kernel that is fastest there" : ""),
              .columns = {{"class", false}, {"shapes"}}};
  std::map<ShapeClass, std::vector<std::string>> rows;
  std::map<ShapeClass, std::set<Shape>> shapes;
  for (const ModeTable& table : board.modes)
    for (const ShapeSpeedUp& speed_up : board.Headline(table.mode))
      shapes[Classify(speed_up.shape)].insert(speed_up.shape);
  for (const auto& [shape_class, members] : shapes)
    rows[shape_class] = {std::string(Name(shape_class)), fmt::format("{}", members.size())};
  for (const ModeTable& table : board.modes) {
    sheet.columns.push_back({std::string(Name(table.mode))});
    sheet.columns.push_back({std::string(kWinsTitle)});
    const auto classes = ByClass(board.Headline(table.mode));
    for (auto& [shape_class, row] : rows) {
      const auto found = classes.find(shape_class);
      const bool any = found != classes.end();
      const Statistics statistics = any ? StatisticsOf(found->second) : Statistics();
      row.push_back(any ? SpeedUpCell(statistics.geomean) : "-");
      row.push_back(any ? Wins(statistics, found->second.size() == shapes.at(shape_class).size()) : "-");
    }
  }
  for (auto& [shape_class, row] : rows) sheet.rows.push_back(std::move(row));
  return sheet;
}

Sheet BucketTable(const Scoreboard& board) {
  Sheet sheet{.caption = fmt::format("Figure 3, {}: mean of the ratios by log2(m n k)", HeadlineText(board)),
              .columns = {{"log2(m n k)", false}, {"shapes"}}};
  std::map<int, std::set<Shape>> shapes;
  for (const ModeTable& table : board.modes)
    for (const ShapeSpeedUp& speed_up : board.Headline(table.mode))
      shapes[BucketOf(speed_up.shape)].insert(speed_up.shape);
  for (const std::string& mode : ModeNames(board)) sheet.columns.push_back({mode});
  for (const auto& [bucket, members] : shapes) {
    std::vector<std::string> row = {fmt::format("{} to {}", bucket, bucket + kBucketWidth),
                                    fmt::format("{}", members.size())};
    for (const ModeTable& table : board.modes) {
      const auto buckets = ByBucket(board.Headline(table.mode));
      const auto found = buckets.find(bucket);
      std::string& cell = row.emplace_back("-");
      if (found == buckets.end()) continue;
      cell = SpeedUpCell(StatisticsOf(found->second).mean);
      if (found->second.size() != members.size()) cell += fmt::format(" of {}", found->second.size());
    }
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

Sheet SummaryTable(const Scoreboard& board) {
  Sheet sheet{
      .caption = fmt::format("Ratios, {}; wins: above 1, clear: with their whole 95 % interval", HeadlineText(board)),
      .columns = {{"clock", false},
                  {"shapes"},
                  {"mean"},
                  {"geo. mean"},
                  {"median"},
                  {"std"},
                  {"lowest"},
                  {"FLOP-weighted"},
                  {std::string(kWinsTitle)}}};
  for (const ModeTable& table : board.modes) {
    const Row* row = table.Find(board.headline);
    if (row == nullptr) continue;
    const Statistics& s = row->all;
    sheet.rows.push_back({std::string(Name(table.mode)), fmt::format("{}", s.shapes), SpeedUpCell(s.mean),
                          SpeedUpCell(s.geomean), SpeedUpCell(s.median), fmt::format("{:.3f}", s.std),
                          SpeedUpCell(s.min), SpeedUpCell(s.flop_weighted), Wins(s)});
  }
  return sheet;
}

std::vector<Sheet> SheetsOf(const Scoreboard& board, const ModeTable& table) {
  std::vector<Sheet> sheets = {TableOne(board, table), TableTwo(board, table)};
  if (!table.same_layout.empty()) sheets.push_back(SameLayout(table));
  return sheets;
}

std::vector<Sheet> SheetsOfAllModes(const Scoreboard& board) {
  return {SummaryTable(board), ClassTable(board), BucketTable(board)};
}

std::vector<Sheet> SheetsOf(const Selection& selection) {
  std::vector<Sheet> sheets;
  if (const std::vector<EnergyRow> rows = EnergyRows(selection); !rows.empty()) sheets.push_back(EnergySheet(rows));
  if (const std::vector<ChoiceRow> rows = ChoiceRows(selection); !rows.empty()) {
    sheets.push_back(ChoiceSheet(rows, selection.leading));
    if (Sheet slower = SlowerSheet(rows); !slower.rows.empty()) sheets.push_back(std::move(slower));
  }
  return sheets;
}

}  // namespace gemmsmith
