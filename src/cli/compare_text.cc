#include "cli/compare_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/curves_text.h"
#include "cli/table.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

constexpr double kGoal = 0.98;
constexpr std::string_view kClosedForm = "random, exactly";

std::string PercentText(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }

std::string FirstText(const std::optional<size_t>& first) { return first ? fmt::format("{}", *first) : "-"; }

std::vector<Table::Column> ColumnsOf(const char* last) {
  using enum Table::Align;
  std::vector<Table::Column> columns = {{"contender"}};
  for (const size_t budget : kBudgets) columns.push_back({fmt::format("{}", budget), kRight});
  if (last != nullptr) columns.push_back({last, kRight});
  return columns;
}

std::string MeansText(const SearchComparison& comparison, const Terminal& terminal) {
  Table table(ColumnsOf("98 % after"));
  for (const Curve& curve : comparison.curves) {
    std::vector<std::string> row = {WithoutControls(curve.name)};
    for (const size_t budget : kBudgets) row.push_back(PercentText(curve.After(budget).mean));
    row.push_back(FirstText(curve.FirstAt(kGoal)));
    table.Add(std::move(row));
  }
  if (comparison.random_check) {
    std::vector<std::string> row = {std::string(kClosedForm)};
    for (const size_t budget : kBudgets) row.push_back(PercentText(comparison.random_check->expected[budget - 1]));
    row.emplace_back();
    table.Add(std::move(row));
  }
  return table.Print(terminal);
}

std::string BandsText(const SearchComparison& comparison, const Terminal& terminal) {
  Table table(ColumnsOf(nullptr));
  for (const Curve& curve : comparison.curves) {
    std::vector<std::string> row = {WithoutControls(curve.name)};
    for (const size_t budget : kBudgets) {
      const Interval& interval = curve.After(budget).interval;
      row.push_back(fmt::format("{}-{}", PercentText(interval.low), PercentText(interval.high)));
    }
    table.Add(std::move(row));
  }
  return table.Print(terminal);
}

std::string FigureText(const SearchComparison& comparison, const Terminal& terminal) {
  std::vector<DrawnCurve> curves;
  for (const Curve& curve : comparison.curves) {
    curves.push_back({.name = WithoutControls(curve.name)});
    for (const Score& score : curve.scores) curves.back().values.push_back(score.mean);
  }
  return CurvesText(curves, terminal);
}

std::string NotesText(const ComparedTraces& compared) {
  std::string text;
  for (const Curve& curve : compared.comparison.curves) {
    if (!curve.origin.empty())
      text += fmt::format("  {}: {}\n", WithoutControls(curve.name), WithoutControls(curve.origin));
    if (curve.silent > 0)
      text += fmt::format("  {} has no plan for {}, which count 0\n", WithoutControls(curve.name),
                          Plural(int64_t(curve.silent), "problem"));
  }
  if (const std::optional<RandomCheck>& check = compared.comparison.random_check)
    text += fmt::format(
        "  random measured less random exactly: {:+.2f} points at most, after {}; {:.1f} standard errors at most\n",
        100 * check->difference, Plural(int64_t(check->furthest), "evaluation"), check->largest_in_errors);
  for (const std::string& file : compared.files) text += fmt::format("  traces: {}\n", file);
  return text;
}

Json JsonOf(const Curve& curve) {
  Json points = Json::object();
  for (const size_t budget : kBudgets) {
    const Score& score = curve.After(budget);
    points[fmt::format("{}", budget)] = {{"mean", score.mean}, {"lo", score.interval.low}, {"hi", score.interval.high}};
  }
  const std::optional<size_t> first = curve.FirstAt(kGoal);
  return {{"origin", curve.origin},
          {"curve", points},
          {"evaluations_to_98_percent", first ? Json(*first) : Json()},
          {"problems_without_plan", curve.silent}};
}

Json JsonOf(const std::optional<RandomCheck>& check) {
  if (!check) return nullptr;
  Json points = Json::object();
  for (const size_t budget : kBudgets)
    points[fmt::format("{}", budget)] = {{"mean", check->expected[budget - 1]},
                                         {"standard_error", check->standard_errors[budget - 1]}};
  return {{"curve", points},
          {"largest_difference", check->difference},
          {"after", check->furthest},
          {"largest_in_standard_errors", check->largest_in_errors}};
}

}  // namespace

std::string TextOf(const ComparedTraces& compared, const Terminal& terminal) {
  const SearchComparison& comparison = compared.comparison;
  std::string text =
      Tinted(fmt::format("{} that training keeps out ({}), {}, {} of each contender\n",
                         Plural(int64_t(comparison.shapes), "shape"), WithoutControls(compared.traces.held_out),
                         Plural(int64_t(comparison.problems), "problem"), Plural(compared.traces.repeats, "repeat")),
             Tint::kBold, terminal);
  text += fmt::format("replayed: recorded on an {}, {}; nothing was measured here; {} under way at once\n\n",
                      compared.recording.setting().device_name, compared.recording.Date(),
                      compared.traces.batch == 1 ? "1 plan" : fmt::format("up to {} plans", compared.traces.batch));
  text += "  the best plan found after so many evaluations, in % of the fastest recorded, mean over problems\n" +
          MeansText(comparison, terminal);
  text += "\n  where 95 % of the repeats lie\n" + BandsText(comparison, terminal);
  text += "\n" + FigureText(comparison, terminal) + "\n" + NotesText(compared);
  return text;
}

Json JsonOf(const ComparedTraces& compared) {
  Json proposers = Json::object();
  for (const Curve& curve : compared.comparison.curves) proposers[curve.name] = JsonOf(curve);
  return {{"command", "compare"},
          {"heldout_shapes", compared.comparison.shapes},
          {"held_out", compared.traces.held_out},
          {"problems", compared.comparison.problems},
          {"repeats", compared.traces.repeats},
          {"batch", compared.traces.batch},
          {"seed", compared.traces.seed},
          {"device", compared.recording.setting().device_key},
          {"recorded_date", compared.recording.Date()},
          {"proposers", proposers},
          {"random_closed_form", JsonOf(compared.comparison.random_check)},
          {"traces", compared.files}};
}

}  // namespace gemmsmith
