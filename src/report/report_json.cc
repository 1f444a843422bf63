#include "report/report_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/choices.h"
#include "report/energy.h"
#include "report/selection_facts.h"
#include "report/sheet.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

Json JsonOf(const ModeTable& table) {
  Json json = Json::object();
  for (const Row& row : table.rows) {
    json[row.name] = JsonOf(row.all);
    json[row.name]["with_fallback"] = JsonOf(row.with_fallback);
  }
  return json;
}

Json SameLayoutJson(const ModeTable& table) {
  Json json = Json::object();
  for (const Row& row : table.same_layout) json[row.name] = JsonOf(row.all);
  return json;
}

const Statistics* Find(const std::map<Clock, Statistics>& modes, Clock mode) {
  const auto found = modes.find(mode);
  return found == modes.end() ? nullptr : &found->second;
}

// All classes, also those without shapes: readers need not ask.
Json Classes(const Scoreboard& board) {
  std::map<ShapeClass, std::map<Clock, Statistics>> classes;
  for (const ModeTable& table : board.modes)
    for (const auto& [shape_class, speed_ups] : ByClass(board.Headline(table.mode)))
      classes[shape_class][table.mode] = StatisticsOf(speed_ups);
  Json json = Json::object();
  for (const ShapeClass shape_class : {ShapeClass::kTiny, ShapeClass::kSplitK, ShapeClass::kSkinny, ShapeClass::kMid,
                                       ShapeClass::kUpper, ShapeClass::kStore, ShapeClass::kLarge}) {
    const std::map<Clock, Statistics>& modes = classes[shape_class];
    const Statistics* device = Find(modes, Clock::kDevice);
    const Statistics* offline = Find(modes, Clock::kOffline);
    const Statistics* first = nullptr;
    for (const ModeTable& table : board.modes)
      if (first == nullptr) first = Find(modes, table.mode);
    Json& line = json[std::string(Name(shape_class))];
    line = {{"shapes", first == nullptr ? 0 : first->shapes},
            {"device_geomean", device == nullptr ? Json() : Json(device->geomean)},
            {"offline_mean", offline == nullptr ? Json() : Json(offline->mean)},
            {"wins", first == nullptr ? 0 : first->wins},
            {"clear_wins", first == nullptr ? 0 : first->clear_wins},
            {"modes", Json::object()}};
    for (const ModeTable& table : board.modes)
      if (const Statistics* const statistics = Find(modes, table.mode))
        line["modes"][std::string(Name(table.mode))] = JsonOf(*statistics);
  }
  return json;
}

// Figure 1: a mean for each mode and row. Figure 3: of each row that is a max, the buckets.
Json Figures(const Scoreboard& board) {
  Json means = Json::object(), buckets = Json::object();
  for (const ModeTable& table : board.modes) {
    const std::string mode(Name(table.mode));
    for (const Row& row : table.rows) {
      means[mode][row.name] = row.all.mean;
      Json& list = buckets[mode][row.name] = Json::array();
      for (const auto& [bucket, speed_ups] : ByBucket(row.speed_ups)) {
        const Statistics s = StatisticsOf(speed_ups);
        list.push_back({{"log2_low", bucket},
                        {"log2_high", bucket + kBucketWidth},
                        {"shapes", s.shapes},
                        {"mean", s.mean},
                        {"geomean", s.geomean},
                        {"median", s.median}});
      }
    }
  }
  return {{"figure_1", means}, {"figure_3", buckets}};
}

std::string CsvLine(std::string_view table, Clock mode, std::string_view name, std::string_view group,
                    const Statistics& s) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", table, Name(mode), name, group, s.shapes,
                     s.mean, s.geomean, s.median, s.std, s.min, s.flop_weighted, s.wins, s.clear_wins, s.losses,
                     s.clear_losses, s.without_interval);
}

Json JsonOf(const EnergyRow& row) {
  return {{"shape", Print(row.shape)},
          {"contender", row.contender},
          {"tflops", row.tflops},
          {"watts", row.energy.watts},
          {"sm_clock_mhz", row.energy.sm_clock_mhz},
          {"joules", row.energy.joules},
          {"interval_joules", {row.energy.interval.low, row.energy.interval.high}},
          {"over_ours", row.over ? Json(row.over->median) : Json()},
          {"over_ours_interval", row.over ? Json({row.over->interval.low, row.over->interval.high}) : Json()}};
}

Json JsonOf(const SlowerChoice& choice) {
  const ShapeSpeedUp& s = choice.speed_up;
  return {{"shape", Print(s.shape)},
          {"layout", Name(choice.layout)},
          {"autotuning_ns", s.contender_ns},
          {"heuristic_ns", s.reference_ns},
          {"slowdown", choice.Slowdown()},
          {"interval", s.interval ? Json({1 / s.interval->high, 1 / s.interval->low}) : Json()},
          {"same_algorithm", choice.same_algorithm}};
}

Json JsonOf(const Dispatch& dispatch) {
  if (dispatch.products.empty()) return Json();
  return {{"products", dispatch.products.size()},   {"to_ours", dispatch.ToOurs()},
          {"geomean", dispatch.Geomean()},          {"min", dispatch.Min()},
          {"clear_losses", dispatch.ClearLosses()}, {"without_later_race", dispatch.without_later_race}};
}

Json Choices(const Selection& selection) {
  Json json = Json::object();
  for (const ChoiceRow& row : ChoiceRows(selection)) {
    Json slower = Json::array();
    for (const SlowerChoice& choice : row.slower) slower.push_back(JsonOf(choice));
    Json& line = json[std::string(Name(row.layout))] = JsonOf(row.statistics);
    line["slower_by_2_percent"] = row.slower.size();
    line["slower"] = std::move(slower);
  }
  return json;
}

}  // namespace

Json JsonOf(const Statistics& s) {
  return {{"shapes", s.shapes},
          {"mean", s.mean},
          {"geomean", s.geomean},
          {"median", s.median},
          {"std", s.std},
          {"min", s.min},
          {"flop_weighted", s.flop_weighted},
          {"wins", s.wins},
          {"clear_wins", s.clear_wins},
          {"losses", s.losses},
          {"clear_losses", s.clear_losses},
          {"without_interval", s.without_interval}};
}

Json ReportJson(const Scoreboard& board, const std::string& source) {
  const Selection& selection = board.selection;
  const auto optional = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json = {{"command", "report"}, {"source", source}};
  json.update(JsonFacts(selection));
  json.update({{"shapes", board.shapes},
               {"shapes_without_ours", board.shapes_without_ours},
               {"other_shapes", selection.other_shapes},
               {"rows", board.of_ours ? "baselines" : "contenders"},
               {"against", board.of_ours ? Json() : Json(board.against)},
               {"headline", board.headline},
               {"modes", Json::object()},
               {"energy", Json::array()},
               {"same_layout", Json::object()},
               {"autotuning_over_heuristic", Choices(selection)},
               {"classes", Classes(board)},
               {"figures", Figures(board)},
               {"floor_ratio_mean", optional(board.floor_ratio_mean)},
               {"reference_floor_ratio_mean", optional(board.reference_floor_ratio_mean)},
               {"dispatched_min", board.dispatch.products.empty() ? Json() : Json(board.dispatch.Min())},
               {"dispatched", JsonOf(board.dispatch)}});
  for (const EnergyRow& row : EnergyRows(selection)) json["energy"].push_back(JsonOf(row));
  for (const ModeTable& table : board.modes) {
    json["modes"][std::string(Name(table.mode))] = JsonOf(table);
    if (!table.same_layout.empty()) json["same_layout"][std::string(Name(table.mode))] = SameLayoutJson(table);
  }
  return json;
}

std::string ReportCsv(const Scoreboard& board) {
  std::string text =
      "table,mode,name,group,shapes,mean,geomean,median,std,min,flop_weighted,wins,clear_wins,losses,clear_losses,"
      "without_interval\n";
  for (const ModeTable& table : board.modes) {
    for (const Row& row : table.rows) {
      const std::string name = CsvField(row.name);  // may be a path
      text += CsvLine("table1", table.mode, name, "all", row.all);
      text += CsvLine("table2", table.mode, name, "all", row.with_fallback);
      for (const auto& [shape_class, speed_ups] : ByClass(row.speed_ups))
        text += CsvLine("class", table.mode, name, Name(shape_class), StatisticsOf(speed_ups));
      for (const auto& [bucket, speed_ups] : ByBucket(row.speed_ups))
        text += CsvLine("figure3", table.mode, name, fmt::format("{}-{}", bucket, bucket + kBucketWidth),
                        StatisticsOf(speed_ups));
    }
    for (const Row& row : table.same_layout)
      text += CsvLine("same_layout", table.mode, CsvField(row.name), "all", row.all);
  }
  for (const ChoiceRow& row : ChoiceRows(board.selection))
    text += CsvLine("autotuning_over_heuristic", board.selection.leading, fmt::format("lt_auto_{}", Name(row.layout)),
                    "all", row.statistics);
  return text;
}

}  // namespace gemmsmith
