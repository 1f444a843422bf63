// What the page draws. One object of columns rather than a list of objects: a thousand shapes are some 2 MB.
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "report/page.h"
#include "report/pattern_json.h"
#include "report/pattern_tables.h"
#include "report/report_json.h"
#include "report/tables.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTimeDigits = 6, kRatioDigits = 5;

// Shortest text with this many significant digits; no number where it is not finite.
Json Rounded(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::fabs(value))));
  const double rounded = std::round(value * scale) / scale;
  if (rounded == std::floor(rounded) && std::fabs(rounded) < 1e15) return int64_t(rounded);
  return rounded;
}

// How far an end of an interval is from its middle, in ten-thousandths of that.
Json Offset(double end, double middle) {
  const double offset = std::round((end / middle - 1) * 1e4);
  return std::isfinite(offset) && std::fabs(offset) < 1e15 ? Json(int64_t(offset)) : Json();
}

// Texts that occur often, by number.
class Dictionary {
 public:
  int NumberOf(const std::string& text) {
    const auto [place, is_new] = numbers_.emplace(text, int(texts_.size()));
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> texts_;
};

Json JsonOf(const Sheet& sheet) {
  Json titles = Json::array(), is_number = Json::array();
  for (const Sheet::Column& column : sheet.columns) {
    titles.push_back(column.title);
    is_number.push_back(column.is_number);
  }
  return {{"caption", sheet.caption}, {"columns", titles}, {"is_number", is_number}, {"rows", sheet.rows}};
}

Json JsonOf(const std::vector<Sheet>& sheets) {
  Json json = Json::array();
  for (const Sheet& sheet : sheets) json.push_back(JsonOf(sheet));
  return json;
}

Json JsonOf(const Setting& setting) {
  return {{"device", setting.device_name},  {"device_key", setting.device_key}, {"driver", setting.driver},
          {"toolchain", setting.toolchain}, {"libraries", setting.libraries},   {"harness", setting.harness}};
}

Json Records(const PageContent& content) {
  const Selection& selection = content.selection;
  return {{"source", content.source},
          {"setting", JsonOf(selection.setting)},
          {"first_date", DateText(selection.first_unix_ms)},
          {"date", DateText(selection.last_unix_ms)},
          {"protocol", Name(selection.protocol)},
          {"clock", Name(selection.leading)},
          {"type", Name(selection.number_types.type)},
          {"accumulation", Name(selection.number_types.accumulation)},
          {"other_shapes", selection.other_shapes}};
}

Json Ceilings(const Result<Device>& device) {
  if (!device.ok()) return nullptr;
  return {{"half_tflops", device->peak_half_tflops},
          {"l2_tbs", device->l2_tbs},
          {"l2_resident_mb", device->l2_resident_mb},
          {"memory_tbs", device->memory_tbs}};
}

Json Shapes(const Selection& selection, const Result<Device>& device) {
  Json m, n, k, classes, floors;
  for (const ShapeRecords& records : selection.shapes) {
    const Shape& shape = records.shape;
    m.push_back(shape.m);
    n.push_back(shape.n);
    k.push_back(shape.k);
    classes.push_back(Name(Classify(shape)));
    const Task task = MakeTask({.shape = shape, .kind = KindOf(selection.number_types)});
    floors.push_back(device.ok() ? Rounded(task.FloorNs(*device), kTimeDigits) : Json());
  }
  return {{"m", m}, {"n", n}, {"k", k}, {"class", classes}, {"floor_ns", floors}};
}

// By group; of those that were timed on this clock at all.
Json Times(const Selection& selection, const std::vector<ContenderGroup>& groups, Clock mode) {
  Json times = Json::object();
  for (const ContenderGroup& group : groups) {
    Json column;
    bool any = false;
    for (const ShapeRecords& records : selection.shapes) {
      const Timing* time = FastestTime(records, group, mode);
      any |= time != nullptr;
      column.push_back(time == nullptr ? Json() : Rounded(time->median_ns, kTimeDigits));
    }
    if (any) times[group.name] = std::move(column);
  }
  return times;
}

// 2: clearly faster, 1: faster, 0: even, and below it slower. Rounded ratios could not tell all of it.
int VerdictOf(const ShapeSpeedUp& speed_up) {
  return speed_up.IsWin() + speed_up.IsClearWin() - speed_up.IsLoss() - speed_up.IsClearLoss();
}

Json Ratios(const Selection& selection, const std::vector<Row>& rows) {
  Json json = Json::object();
  for (const Row& row : rows) {
    std::map<Shape, const ShapeSpeedUp*> by_shape;
    for (const ShapeSpeedUp& speed_up : row.speed_ups) by_shape[speed_up.shape] = &speed_up;
    Json ratios, lows, highs, verdicts;
    for (const ShapeRecords& records : selection.shapes) {
      const auto found = by_shape.find(records.shape);
      const ShapeSpeedUp* speed_up = found == by_shape.end() ? nullptr : found->second;
      const bool has_interval = speed_up != nullptr && speed_up->interval;
      ratios.push_back(speed_up == nullptr ? Json() : Rounded(speed_up->ratio, kRatioDigits));
      verdicts.push_back(speed_up == nullptr ? Json() : Json(VerdictOf(*speed_up)));
      lows.push_back(has_interval ? Offset(speed_up->interval->low, speed_up->ratio) : Json());
      highs.push_back(has_interval ? Offset(speed_up->interval->high, speed_up->ratio) : Json());
    }
    json[row.name] = {{"ratio", ratios}, {"low", lows}, {"high", highs}, {"verdict", verdicts}};
  }
  return json;
}

Json Modes(const PageContent& content) {
  const std::vector<ContenderGroup> groups = ContenderGroupsOf(content.selection.shapes);
  Json modes = Json::object();
  for (const Clock mode : kModes) {
    Json times = Times(content.selection, groups, mode);
    const ModeTable* table = content.board.ok() ? content.board->Find(mode) : nullptr;
    if (times.empty() && table == nullptr) continue;
    Json& json = modes[std::string(Name(mode))] = {{"times", std::move(times)}};
    json["rows"] = table == nullptr ? Json::object() : Ratios(content.selection, table->rows);
    json["same_layout"] = table == nullptr ? Json::object() : Ratios(content.selection, table->same_layout);
    json["tables"] = table == nullptr ? Json::array() : JsonOf(SheetsOf(*content.board, *table));
  }
  return modes;
}

// The races that speak for a shape: that of the baselines alone, and those of our kernels.
struct Run {
  const Trial* trial = nullptr;
  std::string_view role;  // "baselines", "ours", or "chained" of a kernel that speaks for chains alone
};
std::vector<Run> RunsOf(const ShapeRecords& records) {
  std::vector<Run> runs;
  if (records.race != nullptr) runs.push_back({records.race, "baselines"});
  for (const auto& [layout, trial] : records.ours) runs.push_back({trial, "ours"});
  for (const auto& [layout, trial] : records.chained) {
    const auto ours = records.ours.find(layout);
    if (ours == records.ours.end() || ours->second != trial) runs.push_back({trial, "chained"});
  }
  return runs;
}

class RunColumns {
 public:
  void Add(int shape, std::string_view role, const Trial& run) {
    const bool is_race = std::holds_alternative<Nobody>(run.subject);
    const Outcome& outcome = run.outcome;
    Put("shape", shape);
    Put("role", role);
    Put("layout", is_race ? Json() : Json(Name(run.gemm.kind.layout)));
    Put("subject", is_race ? Json() : Json(subjects_.NumberOf(Print(run.subject))));
    Put("campaign", campaigns_.NumberOf(run.campaign));
    Put("date", dates_.NumberOf(DateText(run.unix_ms)));
    Put("sm_clock_mhz", outcome.conditions.sm_clock_mhz);
    Put("power_watts", Rounded(outcome.conditions.power_watts, 4));
    Put("discarded_batches", outcome.conditions.discarded_batches);
    Put("clock_limits", limits_.NumberOf(Print(outcome.conditions.limits)));
    Put("is_settled", int(outcome.conditions.in_steady_state));
    Put("registers", outcome.facts.registers);
    Put("code_bytes", outcome.facts.code_bytes);
    Put("max_abs_error", Rounded(outcome.verdict.max_abs_error, 4));
    Put("baseline_max_abs_error", Rounded(outcome.verdict.baseline_max_abs_error, 4));
    Put("relative_error", Rounded(outcome.verdict.relative_error, 4));
    AddAlgorithms(outcome);
    AddTimings(outcome);
  }

  Json Finish() && {
    columns_["subjects"] = subjects_.texts();
    columns_["campaigns"] = campaigns_.texts();
    columns_["dates"] = dates_.texts();
    columns_["limits"] = limits_.texts();
    columns_["algorithm_texts"] = algorithms_.texts();
    columns_["line_ups"] = line_ups_.texts();
    return std::move(columns_);
  }

 private:
  void Put(const char* column, Json value) { columns_[column].push_back(std::move(value)); }

  void AddAlgorithms(const Outcome& outcome) {
    Json numbers = Json::array();
    for (const auto& [baseline, algorithm] : outcome.baseline_algorithms)
      numbers.push_back(algorithms_.NumberOf(baseline + ": " + algorithm));
    Put("algorithms", std::move(numbers));
  }

  // Who was timed on which clock is a text that most races share; the numbers follow each other.
  void AddTimings(const Outcome& outcome) {
    std::string line_up;
    Json medians = Json::array(), lows = Json::array(), highs = Json::array(), samples = Json::array();
    for (const Timing& timing : outcome.timings) {
      if (timing.clock == Clock::kEnergy || !(timing.median_ns > 0)) continue;
      line_up += (line_up.empty() ? "" : "\n") + timing.contender + "\t" + std::string(Name(timing.clock));
      medians.push_back(Rounded(timing.median_ns, kTimeDigits));
      const bool has_interval = timing.interval.IsKnown();
      lows.push_back(has_interval ? Offset(timing.interval.low, timing.median_ns) : Json());
      highs.push_back(has_interval ? Offset(timing.interval.high, timing.median_ns) : Json());
      samples.push_back(timing.sample_count);
    }
    Put("line_up", line_ups_.NumberOf(line_up));
    Put("median_ns", std::move(medians));
    Put("low", std::move(lows));
    Put("high", std::move(highs));
    Put("samples", std::move(samples));
  }

  Json columns_ = Json::object();
  Dictionary subjects_, campaigns_, dates_, limits_, algorithms_, line_ups_;
};

Json Runs(const Selection& selection) {
  RunColumns columns;
  for (size_t i = 0; i < selection.shapes.size(); ++i)
    for (const Run& run : RunsOf(selection.shapes[i])) columns.Add(int(i), run.role, *run.trial);
  return std::move(columns).Finish();
}

Json JsonOf(const SearchHistories& histories, const Selection& selection) {
  std::map<Shape, int> numbers;
  for (const ShapeRecords& records : selection.shapes) numbers.emplace(records.shape, int(numbers.size()));
  Json shapes = Json::array(), layouts = Json::array(), candidates = Json::array(), bests = Json::array();
  std::map<OutcomeKind, int> outcomes;
  for (const SearchHistory& history : histories.problems) {
    shapes.push_back(numbers.at(history.shape));
    layouts.push_back(Name(history.layout));
    candidates.push_back(history.candidates());
    Json steps = Json::array();
    for (const SearchHistory::Best& best : history.bests)
      steps.push_back({best.candidate, Rounded(best.time_ns, kTimeDigits)});
    bests.push_back(std::move(steps));
    for (const auto& [kind, count] : history.outcomes) outcomes[kind] += count;
  }
  Json counts = Json::object();
  for (const auto& [kind, count] : outcomes) counts[std::string(Name(kind))] = count;
  return {{"protocol", Name(histories.protocol)},
          {"shape", shapes},
          {"layout", layouts},
          {"candidates", candidates},
          {"outcomes", counts},
          {"bests", bests}};
}

Json ComparisonData(const std::optional<SearchComparison>& comparison) {
  if (!comparison) return Json();
  constexpr int kScoreDigits = 6;  // they are rounded once more when they are shown
  Json curves = Json::array();
  for (const Curve& curve : comparison->curves) {
    Json means, lows, highs;
    for (const Score& score : curve.scores) {
      means.push_back(Rounded(score.mean, kScoreDigits));
      lows.push_back(Rounded(score.interval.low, kScoreDigits));
      highs.push_back(Rounded(score.interval.high, kScoreDigits));
    }
    curves.push_back({{"name", curve.name}, {"mean", means}, {"low", lows}, {"high", highs}});
  }
  return {
      {"shapes", comparison->shapes}, {"problems", comparison->problems}, {"budgets", kBudgets}, {"curves", curves}};
}

Json PatternsData(const PageContent& content) {
  if (!content.patterns.ok()) return {{"none", content.patterns.status().message()}};
  Json json = PatternsJson(*content.patterns, content.source);
  json["lines"] = HeaderLines(*content.patterns);
  json["tables"] = JsonOf(SheetsOf(*content.patterns));
  return json;
}

}  // namespace

Json PageData(const PageContent& content) {
  const Selection& selection = content.selection;
  const Result<Device> device = FindDevice(selection.setting.device_key);
  const bool compared = content.board.ok();
  std::vector<Sheet> tables = compared ? SheetsOfAllModes(*content.board) : std::vector<Sheet>();
  if (compared)  // it stands in front of the others
    std::erase_if(tables, [caption = ClassTable(*content.board).caption](const Sheet& sheet) {
      return sheet.caption == caption;
    });
  for (Sheet& sheet : SheetsOf(selection)) tables.push_back(std::move(sheet));
  Json all_modes = Json::array(), classes = Json::array();
  for (const Clock mode : kModes) all_modes.push_back(Name(mode));
  return {{"gemmsmith_page", 1},
          {"records", Records(content)},
          {"report", compared ? ReportJson(*content.board, content.source) : Json()},
          {"not_compared", compared ? Json() : Json(content.board.status().message())},
          {"lines", compared ? Json(HeaderLines(*content.board)) : Json::array()},
          {"ceilings", Ceilings(device)},
          {"known_modes", all_modes},
          {"shapes", Shapes(selection, device)},
          {"modes", Modes(content)},
          {"class_table", compared ? JsonOf(ClassTable(*content.board)) : Json()},
          {"tables", JsonOf(tables)},
          {"runs", Runs(selection)},
          {"history", JsonOf(content.histories, selection)},
          {"comparison", ComparisonData(content.comparison)},
          {"patterns", PatternsData(content)}};
}

}  // namespace gemmsmith
