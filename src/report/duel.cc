#include "report/duel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gemmsmith {

namespace {

constexpr double kNear = 0.98;

Plan WithoutTwins(Plan plan) {
  for (const std::string_view axis : {"fixed", "trigger"}) plan.Set(axis, DefaultPlan(plan.family).Get(axis));
  return plan;
}

std::optional<double> WinnersTimeNs(const Races& races, const DuelSide& side, const Gemm& gemm) {
  const Plan* const winner = side.Winner(gemm);
  return winner == nullptr ? std::nullopt : races.TimeNs(gemm, *winner);
}

// Of each shape the faster of its layouts: the first side's time and this one's.
std::map<Shape, std::pair<double, double>> TimesOfBoth(const Races& races, const DuelSide& first,
                                                       const DuelSide& side) {
  std::map<Shape, std::pair<double, double>> times;
  for (const Gemm& gemm : races.Problems()) {
    const std::optional<double> there = WinnersTimeNs(races, first, gemm), here = WinnersTimeNs(races, side, gemm);
    if (!there || !here) continue;
    const auto [place, is_new] = times.try_emplace(gemm.shape, *there, *here);
    place->second = {std::min(place->second.first, *there), std::min(place->second.second, *here)};
  }
  return times;
}

// The mean, and where it would lie with other shapes: 1.96 standard errors.
void AddMean(const std::vector<double>& ratios, DuelRow& row) {
  const double doubt = 1.96 * StandardDeviation(ratios) / std::sqrt(double(ratios.size()));
  row.mean = Mean(ratios);
  row.interval = {row.mean - doubt, row.mean + doubt};
}

DuelRow RowOf(const Races& races, const DuelSide& side, const DuelSide& first) {
  DuelRow row{.name = side.name(), .lowest = std::numeric_limits<double>::infinity()};
  std::vector<double> of_fastest, ratios;
  for (const Gemm& gemm : races.Problems()) {
    if (const std::optional<double> time_ns = WinnersTimeNs(races, side, gemm)) {
      of_fastest.push_back(races.FastestNs(gemm) / *time_ns);
      row.untried += !first.Tried(gemm, *side.Winner(gemm));
    }
  }
  row.problems = int(of_fastest.size());
  row.not_raced = int(races.Problems().size()) - row.problems;
  for (const auto& [shape, times] : TimesOfBoth(races, first, side)) {
    const double ratio = ratios.emplace_back(times.first / times.second);
    if (ratio < row.lowest) row.lowest = ratio, row.lowest_shape = shape;
    if (ratio > row.highest) row.highest = ratio, row.highest_shape = shape;
    row.near += ratio >= kNear;
  }
  row.shapes = int(ratios.size());
  if (ratios.empty()) return row;
  row.of_fastest = Mean(of_fastest);
  AddMean(ratios, row);
  return row;
}

std::string ExtremeCell(double ratio, const Shape& shape) { return RatioCell(ratio) + " " + Print(shape); }

}  // namespace

Result<Races> Races::Of(std::span<const Trial> trials) {
  Races races;
  for (const Trial& trial : trials) {
    if (!trial.IsTimedPlan()) continue;
    if (races.problems_.empty()) {
      races.device_key_ = trial.setting.device_key;
      races.device_name_ = trial.setting.device_name;
    }
    if (trial.setting.device_key != races.device_key_)
      return InvalidArgument(fmt::format("these are races of several device models, of '{}' and '{}'",
                                         races.device_key_, trial.setting.device_key));
    Problem& problem = races.problems_.try_emplace(trial.gemm, trial.outcome.protocol).first->second;
    if (MoreCareful(trial.outcome.protocol, problem.protocol)) problem = {trial.outcome.protocol, {}};
    if (trial.outcome.protocol != problem.protocol) continue;
    Time& time = problem.times[trial.plan()];
    if (trial.unix_ms >= time.unix_ms) time = {trial.outcome.TimeNs(), trial.unix_ms};
  }
  if (races.problems_.empty()) return NotFound("no plan was timed in these races");
  return races;
}

std::optional<double> Races::TimeNs(const Gemm& gemm, const Plan& plan) const {
  const auto problem = problems_.find(gemm);
  if (problem == problems_.end()) return std::nullopt;
  const auto time = problem->second.times.find(plan);
  return time == problem->second.times.end() ? std::nullopt : std::optional(time->second.ns);
}

double Races::FastestNs(const Gemm& gemm) const {
  const std::map<Plan, Time>& times = problems_.at(gemm).times;
  return std::ranges::min_element(times, {}, [](const auto& plan) { return plan.second.ns; })->second.ns;
}

std::vector<Gemm> Races::Problems() const {
  std::vector<Gemm> gemms;
  for (const auto& [gemm, problem] : problems_) gemms.push_back(gemm);
  return gemms;
}

std::pair<int64_t, int64_t> Races::UnixMs() const {
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const auto& [gemm, problem] : problems_)
    for (const auto& [plan, time] : problem.times) {
      first = std::min(first, time.unix_ms);
      last = std::max(last, time.unix_ms);
    }
  return {first, last};
}

void DuelSide::Take(const Trial& trial, const Races& races) {
  if (!trial.HasPlan() || !races.Has(trial.gemm) || trial.setting.device_key != races.device_key()) return;
  tried_.insert({trial.gemm, WithoutTwins(trial.plan())});
  best_.Take(trial);
}

bool DuelSide::Tried(const Gemm& gemm, const Plan& plan) const { return tried_.contains({gemm, WithoutTwins(plan)}); }

Result<std::vector<DuelRow>> Duel(const Races& races, std::span<const DuelSide> sides) {
  std::vector<DuelRow> rows;
  for (const DuelSide& side : sides) {
    rows.push_back(RowOf(races, side, sides.front()));
    if (rows.back().shapes == 0)
      return NotFound(fmt::format("no winner of '{}' raced with one of '{}'", side.name(), sides.front().name()));
  }
  return rows;
}

Sheet DuelSheet(std::span<const DuelRow> rows) {
  const std::string& first = rows.front().name;
  Sheet sheet{.caption = "Winners in the same races",
              .columns = {{"side", false},
                          {"raced"},
                          {"of the fastest"},
                          {"shapes"},
                          {"over " + first + " (95 %)"},
                          {"98 % of it"},
                          {"lowest"},
                          {"highest"},
                          {"new to " + first}}};
  for (const DuelRow& row : rows) {
    std::vector<std::string> cells = {row.name, fmt::format("{} of {}", row.problems, row.problems + row.not_raced),
                                      fmt::format("{:.1f} %", 100 * row.of_fastest), fmt::format("{}", row.shapes)};
    if (&row == &rows.front()) {
      cells.resize(sheet.columns.size(), "-");
    } else {
      cells.insert(cells.end(),
                   {fmt::format("{} ({:.3f}-{:.3f})", RatioCell(row.mean), row.interval.low, row.interval.high),
                    fmt::format("{}", row.near), ExtremeCell(row.lowest, row.lowest_shape),
                    ExtremeCell(row.highest, row.highest_shape), fmt::format("{}", row.untried)});
    }
    sheet.rows.push_back(std::move(cells));
  }
  return sheet;
}

nlohmann::ordered_json DuelJson(std::span<const DuelRow> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DuelRow& row : rows)
    list.push_back({{"side", row.name},
                    {"raced", row.problems},
                    {"not_raced", row.not_raced},
                    {"of_fastest_mean", row.of_fastest},
                    {"shapes", row.shapes},
                    {"over_first",
                     {{"mean", row.mean},
                      {"interval", {row.interval.low, row.interval.high}},
                      {"min", row.lowest},
                      {"min_shape", Print(row.lowest_shape)},
                      {"max", row.highest},
                      {"max_shape", Print(row.highest_shape)}}},
                    {"at_least_98_percent", row.near},
                    {"untried_by_first", row.untried}});
  return list;
}

}  // namespace gemmsmith
