#include "report/duel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr double kNear = 0.98;

// Of each shape the faster of a side's layouts.
std::map<Shape, double> FasterOfLayouts(const Races& races, const DuelSide& side) {
  std::map<Shape, double> times;
  for (const Gemm& gemm : races.Problems()) {
    const std::optional<double> time_ns = side.TimeNs(gemm);
    if (!time_ns) continue;
    const auto [place, is_new] = times.emplace(gemm.shape, *time_ns);
    if (!is_new) place->second = std::min(place->second, *time_ns);
  }
  return times;
}

DuelRow RowOf(const Races& races, const DuelSide& side, const DuelSide& first) {
  DuelRow row{.name = side.name()};
  for (const Gemm& gemm : races.Problems()) {
    const std::optional<double> time_ns = side.TimeNs(gemm);
    if (!time_ns) continue;
    ++row.problems;
    row.of_fastest += races.FastestNs(gemm) / *time_ns;
    row.untried += !first.Tried(gemm, *side.Winner(gemm));
  }
  row.of_fastest /= std::max(row.problems, 1);
  const std::map<Shape, double> theirs = FasterOfLayouts(races, first);
  for (const auto& [shape, time_ns] : FasterOfLayouts(races, side)) {
    const auto there = theirs.find(shape);
    if (there == theirs.end()) continue;
    const double ratio = there->second / time_ns;
    row.lowest = row.shapes++ == 0 ? ratio : std::min(row.lowest, ratio);
    row.mean += ratio;
    row.near += ratio >= kNear;
    row.faster += ratio > 1;
  }
  row.mean /= std::max(row.shapes, 1);
  return row;
}

}  // namespace

void Races::Take(const Trial& trial) {
  if (!trial.IsTimedPlan()) return;
  if (times_.empty()) first_unix_ms_ = trial.unix_ms;
  first_unix_ms_ = std::min(first_unix_ms_, trial.unix_ms);
  last_unix_ms_ = std::max(last_unix_ms_, trial.unix_ms);
  devices_.insert(trial.setting.device_name);
  times_[trial.gemm][trial.plan()] = trial.outcome.TimeNs();
}

std::optional<double> Races::TimeNs(const Gemm& gemm, const Plan& plan) const {
  const auto problem = times_.find(gemm);
  if (problem == times_.end()) return std::nullopt;
  const auto time = problem->second.find(plan);
  return time == problem->second.end() ? std::nullopt : std::optional(time->second);
}

double Races::FastestNs(const Gemm& gemm) const {
  const std::map<Plan, double>& plans = times_.at(gemm);
  return std::ranges::min_element(plans, {}, [](const auto& plan) { return plan.second; })->second;
}

std::vector<Gemm> Races::Problems() const {
  std::vector<Gemm> problems;
  for (const auto& [gemm, plans] : times_) problems.push_back(gemm);
  return problems;
}

std::string Races::Where() const {
  const std::string first = DateText(first_unix_ms_), last = DateText(last_unix_ms_);
  return fmt::format("measured on an {}, {}", fmt::join(devices_, " and an "),
                     first == last ? first : first + " to " + last);
}

void DuelSide::Take(const Trial& trial) {
  if (!trial.HasPlan() || !races_.Has(trial.gemm)) return;
  tried_.insert({trial.gemm, trial.plan()});
  best_.Take(trial);
}

std::optional<double> DuelSide::TimeNs(const Gemm& gemm) const {
  const Plan* const winner = Winner(gemm);
  return winner == nullptr ? std::nullopt : races_.TimeNs(gemm, *winner);
}

Result<std::vector<DuelRow>> Duel(const Races& races, std::span<const DuelSide> sides) {
  std::vector<DuelRow> rows;
  for (const DuelSide& side : sides) {
    rows.push_back(RowOf(races, side, sides.front()));
    if (rows.back().problems == 0) return NotFound(fmt::format("no winner of '{}' is in these races", side.name()));
  }
  return rows;
}

Sheet DuelSheet(std::span<const DuelRow> rows) {
  const std::string& first = rows.front().name;
  Sheet sheet{.caption = "Winners in the same races",
              .columns = {{"side", false},
                          {"problems"},
                          {"of the fastest"},
                          {"shapes"},
                          {"over " + first},
                          {"lowest"},
                          {"98 % of it"},
                          {"faster"},
                          {"new to " + first}}};
  for (const DuelRow& row : rows) {
    std::vector<std::string> cells = {row.name, fmt::format("{}", row.problems),
                                      fmt::format("{:.1f} %", 100 * row.of_fastest), fmt::format("{}", row.shapes)};
    if (&row == &rows.front()) {
      cells.resize(sheet.columns.size(), "-");
    } else {
      for (const double ratio : {row.mean, row.lowest}) cells.push_back(RatioCell(ratio));
      for (const int count : {row.near, row.faster, row.untried}) cells.push_back(fmt::format("{}", count));
    }
    sheet.rows.push_back(std::move(cells));
  }
  return sheet;
}

nlohmann::ordered_json DuelJson(std::span<const DuelRow> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DuelRow& row : rows)
    list.push_back({{"side", row.name},
                    {"problems", row.problems},
                    {"of_fastest_mean", row.of_fastest},
                    {"shapes", row.shapes},
                    {"over_first_mean", row.mean},
                    {"over_first_min", row.lowest},
                    {"at_least_98_percent", row.near},
                    {"faster", row.faster},
                    {"untried_by_first", row.untried}});
  return list;
}

}  // namespace gemmsmith
