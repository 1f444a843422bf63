#include "report/pair_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

std::string Count(int count) { return fmt::format("{}", count); }

std::vector<Sheet::Column> GroupColumns(const PairTables& tables) {
  std::vector<Sheet::Column> columns;
  for (const std::string& group : tables.options.by) columns.push_back({group, false});
  return columns;
}

std::vector<std::string> Texts(const std::vector<Label>& groups) {
  std::vector<std::string> texts;
  for (const Label& label : groups) texts.push_back(label.text);
  return texts;
}

template <class T>
void Append(std::vector<T>& list, std::vector<T> more) {
  list.insert(list.end(), more.begin(), more.end());
}

Json GroupsJson(const PairTables& tables, const std::vector<Label>& groups) {
  Json json = Json::object();
  for (size_t i = 0; i < groups.size(); ++i) json[tables.options.by[i]] = groups[i].text;
  return json;
}

std::string CsvGroups(const std::vector<Label>& groups) {
  std::string text;
  for (const Label& label : groups) text += CsvField(label.text) + ",";
  return text;
}

}  // namespace

std::vector<std::string> HeaderLines(const PairTables& tables) {
  const std::string_view axis = tables.options.axis;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("measured on an {}, {}, {} protocol, {} clock", fmt::join(tables.devices, " and an "),
                              DatesCell(tables.first_unix_ms, tables.last_unix_ms), fmt::join(tables.protocols, ", "),
                              Name(tables.options.clock)));
  lines.push_back(fmt::format("{} with {} on {}{}", Plural(tables.plans, "timed plan"), axis,
                              Plural(tables.problems, "problem"),
                              tables.protocols.size() > 1 ? ", counted once a protocol" : ""));
  return lines;
}

Sheet PairSheet(const PairTables& tables) {
  const std::string& axis = tables.options.axis;
  Sheet sheet{.caption = fmt::format("Plans that differ in {} alone: time with it over time with the other", axis),
              .columns = GroupColumns(tables)};
  Append(sheet.columns, {{axis, false},
                         {"over", false},
                         {"pairs"},
                         {"problems"},
                         {"geo. mean"},
                         {"5 %"},
                         {"25 %"},
                         {"median"},
                         {"75 %"},
                         {"95 %"}});
  for (const PairRow& row : tables.pairs) {
    std::vector<std::string> cells = Texts(row.groups);
    const RatioSummary& s = row.ratio;
    Append(cells, {row.value.text, row.over.text, Count(s.count), Count(row.problems), RatioCell(s.geomean),
                   RatioCell(s.q05), RatioCell(s.q25), RatioCell(s.median), RatioCell(s.q75), RatioCell(s.q95)});
    sheet.rows.push_back(std::move(cells));
  }
  return sheet;
}

Sheet BestSheet(const PairTables& tables) {
  const std::string& axis = tables.options.axis;
  Sheet sheet{.caption = fmt::format("The fastest plan of a problem with each {} over the fastest with any other{}",
                                     axis, tables.options.by.empty() ? "" : " of its group"),
              .columns = GroupColumns(tables)};
  Append(sheet.columns, {{axis, false},
                         {"problems"},
                         {"best of all"},
                         {"geo. mean"},
                         {"lowest"},
                         {"5 %"},
                         {"median"},
                         {"95 %"},
                         {"highest"}});
  for (const BestRow& row : tables.best) {
    std::vector<std::string> cells = Texts(row.groups);
    const RatioSummary& s = row.ratio;
    Append(cells, {row.value.text, Count(s.count), Count(row.best), RatioCell(s.geomean), RatioCell(s.lowest),
                   RatioCell(s.q05), RatioCell(s.median), RatioCell(s.q95), RatioCell(s.highest)});
    sheet.rows.push_back(std::move(cells));
  }
  return sheet;
}

Json PairsJson(const PairTables& tables, const std::string& source) {
  Json pairs = Json::array(), best = Json::array();
  for (const PairRow& row : tables.pairs) {
    Json json = {{"group", GroupsJson(tables, row.groups)},
                 {"value", row.value.text},
                 {"over", row.over.text},
                 {"pairs", row.ratio.count},
                 {"problems", row.problems}};
    json.update(JsonOf(row.ratio));
    pairs.push_back(std::move(json));
  }
  for (const BestRow& row : tables.best) {
    Json json = {{"group", GroupsJson(tables, row.groups)},
                 {"value", row.value.text},
                 {"problems", row.ratio.count},
                 {"best_of_all", row.best}};
    json.update(JsonOf(row.ratio));
    best.push_back(std::move(json));
  }
  return {{"command", "records pairs"},
          {"source", source},
          {"axis", tables.options.axis},
          {"by", tables.options.by},
          {"clock", Name(tables.options.clock)},
          {"devices", tables.devices},
          {"protocols", tables.protocols},
          {"first_date", DateText(tables.first_unix_ms)},
          {"last_date", DateText(tables.last_unix_ms)},
          {"plans", tables.plans},
          {"problems", tables.problems},
          {"pairs", pairs},
          {"best", best}};
}

std::string PairsCsv(const PairTables& tables) {
  std::string text = "table,";
  for (const std::string& group : tables.options.by) text += group + ",";
  text += fmt::format("value,over,pairs,problems,best_of_all,{}\n", kRatioSummaryCsvHeader);
  for (const PairRow& row : tables.pairs)
    text += fmt::format("pairs,{}{},{},{},{},,{}\n", CsvGroups(row.groups), row.value.text, row.over.text,
                        row.ratio.count, row.problems, CsvFields(row.ratio));
  for (const BestRow& row : tables.best)
    text += fmt::format("best,{}{},,,{},{},{}\n", CsvGroups(row.groups), row.value.text, row.ratio.count, row.best,
                        CsvFields(row.ratio));
  return text;
}

}  // namespace gemmsmith
