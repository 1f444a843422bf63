#include "report/model_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "program/legality.h"
#include "report/report_json.h"
#include "report/selection_facts.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

std::string ShareCell(std::optional<double> share) { return share ? fmt::format("{:.0f} %", 100 * *share) : ""; }

std::string MillisecondsCell(double time_ns) { return fmt::format("{:.3f}", time_ns / 1e6); }

std::string NameOf(const ModelPhase& phase) { return fmt::format("{} {}", Name(phase.pass), CountText(phase.tokens)); }

std::string NameOf(const ModelProblem& problem) {
  return fmt::format("{} {}", Print(problem.shape), Name(problem.layout));
}

// Phases that share a column of the overview.
constexpr std::string_view kColumns[] = {"decode", "middle", "prefill", "dgrad", "wgrad"};
std::string_view ColumnOf(const ModelPhase& phase) {
  if (phase.pass != Pass::kForward) return Name(phase.pass);
  const ModelGroup group = GroupOf({phase.tokens, 1, 1});
  return group == ModelGroup::kLarge ? "prefill" : Name(group);
}

std::vector<ModelPhase> PhasesIn(const ModelSteps& steps, std::string_view column) {
  std::vector<ModelPhase> phases;
  for (const ModelPhase& phase : steps.phases)
    if (ColumnOf(phase) == column && phase.time.timed > 0) phases.push_back(phase);
  return phases;
}

// "1.08x 71 %", with a star where products of a phase are missing.
std::string OverviewCell(const std::vector<ModelPhase>& phases, bool has_floor) {
  if (phases.empty()) return "";
  std::vector<double> ratios, shares;
  bool is_whole = true;
  for (const ModelPhase& phase : phases) {
    ratios.push_back(phase.time.OverAuto());
    shares.push_back(phase.time.ShareOfFloor());
    is_whole = is_whole && phase.time.IsWhole();
  }
  std::string cell = fmt::format("{:.2f}x", GeometricMean(ratios));
  if (has_floor) cell += fmt::format(" {:2.0f} %", 100 * GeometricMean(shares));
  return cell + (is_whole ? "  " : " *");
}

Sheet GroupSheet(const ModelReport& report) {
  Sheet sheet{.caption = fmt::format("Products by m, {}: t_reference / t_ours, same layout", Name(report.clock)),
              .columns = {{"products", false},
                          {"over", false},
                          {"timed"},
                          {"geo. mean"},
                          {"min"},
                          {"flop-weighted"},
                          {"wins (clear)"},
                          {"of the floor"}}};
  const auto add = [&](std::string name, std::string_view over, const std::string& timed,
                       const std::optional<Statistics>& s, std::optional<double> share) {
    if (!s) return sheet.rows.push_back({std::move(name), std::string(over), timed, "", "", "", "", ""});
    sheet.rows.push_back({std::move(name), std::string(over), timed, SpeedUpCell(s->geomean), SpeedUpCell(s->min),
                          SpeedUpCell(s->flop_weighted), fmt::format("{} ({})", s->wins, s->clear_wins),
                          ShareCell(share)});
  };
  for (const ModelGroup group : kModelGroups) {
    const std::vector<ModelProblem> problems = report.In(group);
    const std::string timed =
        fmt::format("{} of {}", std::ranges::count_if(problems, &ModelProblem::IsTimed), problems.size());
    add(std::string(Name(group)), "lt_heuristic", timed, OverHeuristic(problems), ShareOfFloor(problems));
    add("", "lt_auto", timed, OverAuto(problems), std::nullopt);
  }
  const std::vector<ModelProblem> decode = report.In(ModelGroup::kDecode);
  if (const std::optional<Statistics> chained = ChainedOverAuto(decode))
    add("decode, chained", "lt_auto plain", fmt::format("{} of {}", chained->shapes, decode.size()), chained,
        ChainedShareOfFloor(decode));
  if (report.paper1000)
    add("paper1000", "lt_auto_max", CountText(report.paper1000->shapes), report.paper1000, std::nullopt);
  return sheet;
}

Sheet OverviewSheet(const ModelReport& report) {
  Sheet sheet{.caption = "Step of a model: lt_auto over ours, and ours against the floor; geo. means over phases",
              .columns = {{"model", false}}};
  std::vector<std::string_view> columns(std::begin(kColumns), std::end(kColumns));
  std::erase_if(columns, [&](std::string_view column) {
    return std::ranges::all_of(report.models, [&](const ModelSteps& steps) { return PhasesIn(steps, column).empty(); });
  });
  for (const std::string_view column : columns) sheet.columns.push_back({std::string(column)});
  for (const ModelSteps& steps : report.models) {
    std::vector<std::string> row = {std::string(steps.model)};
    for (const std::string_view column : columns)
      row.push_back(OverviewCell(PhasesIn(steps, column), report.has_floor));
    if (std::any_of(row.begin() + 1, row.end(), [](const std::string& cell) { return !cell.empty(); }))
      sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

Json OrNull(const std::optional<Statistics>& statistics) { return statistics ? JsonOf(*statistics) : Json(); }

Json JsonOf(const ModelReport& report, ModelGroup group) {
  const std::vector<ModelProblem> problems = report.In(group);
  const std::optional<double> share = ShareOfFloor(problems);
  return {{"problems", problems.size()},
          {"timed", std::ranges::count_if(problems, &ModelProblem::IsTimed)},
          {"over", {{"lt_heuristic", OrNull(OverHeuristic(problems))}, {"lt_auto", OrNull(OverAuto(problems))}}},
          {"share_of_floor", share ? Json(*share) : Json()}};
}

Json JsonOfChained(const std::vector<ModelProblem>& decode) {
  const std::optional<Statistics> over = ChainedOverAuto(decode);
  const std::optional<double> share = ChainedShareOfFloor(decode);
  return {{"problems", decode.size()},
          {"timed", over ? over->shapes : 0},
          {"over", {{"lt_auto", OrNull(over)}}},
          {"share_of_floor", share ? Json(*share) : Json()}};
}

Json JsonOf(const ModelPhase& phase, bool has_floor) {
  const StepTime& time = phase.time;
  Json json = {
      {"pass", Name(phase.pass)}, {"tokens", phase.tokens}, {"products", time.products}, {"timed", time.timed}};
  if (time.timed == 0) return json;
  json.update({{"ours_ns", time.ours_ns},
               {"lt_heuristic_ns", time.heuristic_ns},
               {"lt_auto_ns", time.auto_ns},
               {"over", {{"lt_heuristic", time.OverHeuristic()}, {"lt_auto", time.OverAuto()}}},
               {"floor_ns", has_floor ? Json(time.floor_ns) : Json()},
               {"share_of_floor", has_floor ? Json(time.ShareOfFloor()) : Json()}});
  return json;
}

}  // namespace

std::vector<std::string> HeaderLines(const ModelReport& report) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> missing;
  size_t timed = 0, unserved = 0;
  for (const ModelProblem& problem : report.problems) {
    if (problem.IsTimed())
      ++timed;
    else if (!IsServed({problem.shape, {problem.layout}}))
      ++unserved;
    else
      missing.push_back(NameOf(problem));
  }
  std::vector<std::string> lines = {
      MeasuredLine(report.selection),
      fmt::format("{} of {} timed on {} by ours, lt_heuristic and lt_auto", timed,
                  Plural(int64_t(report.problems.size()), "product"), Name(report.clock))};
  if (unserved > 0) lines.back() += fmt::format("; no kernel reads the column-major A of {}", unserved);
  if (missing.empty()) return lines;
  const auto named = missing.begin() + ptrdiff_t(std::min(missing.size(), kNamed));
  lines.push_back(fmt::format("missing {}: {}", missing.size(), fmt::join(missing.begin(), named, ", ")));
  if (named != missing.end()) lines.back() += ", ... (--json names all)";
  return lines;
}

std::vector<Sheet> SheetsOf(const ModelReport& report) { return {GroupSheet(report), OverviewSheet(report)}; }

Sheet PhasesOf(const ModelReport& report, std::string_view model) {
  Sheet sheet{.caption = fmt::format("A step of {} by phase: milliseconds", model),
              .columns = {{"phase", false},
                          {"products"},
                          {"ours"},
                          {"lt_heuristic"},
                          {"lt_auto"},
                          {"over lt_heuristic"},
                          {"over lt_auto"},
                          {"of the floor"}}};
  const auto steps = std::ranges::find(report.models, model, &ModelSteps::model);
  GEMMSMITH_CHECK(steps != report.models.end(), "no model '{}'", model);
  for (const ModelPhase& phase : steps->phases) {
    const StepTime& time = phase.time;
    const std::string products = fmt::format("{} of {}", time.timed, time.products);
    if (time.timed == 0) {
      sheet.rows.push_back({NameOf(phase), products, "", "", "", "", "", ""});
      continue;
    }
    sheet.rows.push_back({NameOf(phase), products, MillisecondsCell(time.ours_ns), MillisecondsCell(time.heuristic_ns),
                          MillisecondsCell(time.auto_ns), SpeedUpCell(time.OverHeuristic()),
                          SpeedUpCell(time.OverAuto()),
                          report.has_floor ? ShareCell(time.ShareOfFloor()) : std::string()});
  }
  return sheet;
}

Json ModelsJson(const ModelReport& report, const std::string& source) {
  Json json = {{"command", "report"}, {"part", "models"}, {"source", source}};
  json.update(JsonFacts(report.selection));
  json.update({{"clock", Name(report.clock)}, {"groups", Json::object()}});
  for (const ModelGroup group : kModelGroups) json["groups"][std::string(Name(group))] = JsonOf(report, group);
  json["groups"]["decode_chained"] = JsonOfChained(report.In(ModelGroup::kDecode));
  json["paper1000"] = {{"over", {{"lt_auto", OrNull(report.paper1000)}}}};
  json["models"] = Json::array();
  for (const ModelSteps& steps : report.models) {
    Json phases = Json::array();
    for (const ModelPhase& phase : steps.phases) phases.push_back(JsonOf(phase, report.has_floor));
    json["models"].push_back({{"model", steps.model}, {"phases", std::move(phases)}});
  }
  json["missing"] = Json::array();
  for (const ModelProblem& problem : report.problems)
    if (!problem.IsTimed()) json["missing"].push_back(fmt::format("{} {}", Print(problem.shape), Name(problem.layout)));
  return json;
}

std::string ModelsCsv(const ModelReport& report) {
  std::string text = "model,pass,tokens,products,timed,ours_ns,lt_heuristic_ns,lt_auto_ns,floor_ns\n";
  for (const ModelSteps& steps : report.models)
    for (const auto& [pass, tokens, time] : steps.phases)
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", steps.model, Name(pass), tokens, time.products, time.timed,
                          time.ours_ns, time.heuristic_ns, time.auto_ns, time.floor_ns);
  return text;
}

}  // namespace gemmsmith
