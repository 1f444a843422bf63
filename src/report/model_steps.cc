#include "report/model_steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace gemmsmith {
namespace {

ContenderGroup Alone(std::string_view family, const Layout& layout) {
  const std::string name = fmt::format("{}_{}", family, Name(layout));
  return {name, {name}};
}

const ShapeRecords* RecordsOf(const Result<Selection>& selection, const Shape& shape) {
  if (!selection.ok()) return nullptr;
  const std::vector<ShapeRecords>& shapes = selection->shapes;
  const auto records = std::ranges::lower_bound(shapes, shape, {}, &ShapeRecords::shape);
  return records != shapes.end() && records->shape == shape ? &*records : nullptr;
}

// `plain` and `constant`: records of problems without and with a constant B.
std::vector<ModelProblem> TimesOf(const Result<Selection>& plain, const Result<Selection>& constant,
                                  const Setting& setting, Clock clock) {
  const Result<Device> device = FindDevice(setting.device_key);
  const std::vector<Product> products = *LoadProducts("models");
  std::vector<ModelProblem> problems;
  for (const auto& [shape, fixed, recorded] : products) {
    const Layout layout = *fixed;
    ModelProblem problem{shape, layout};
    if (device.ok()) problem.floor_ns = MakeTask({.shape = shape, .kind = {.layout = layout}}).ColdFloorNs(*device);
    const ContenderGroup ours = Alone("ours", layout), tuned = Alone("lt_auto", layout);
    if (const ShapeRecords* records = RecordsOf(plain, shape)) {
      problem.over_heuristic = Compare(*records, ours, Alone("lt_heuristic", layout), clock);
      problem.over_auto = Compare(*records, ours, tuned, clock);
    }
    if (const ShapeRecords* records = RecordsOf(constant, shape))
      problem.chained_over_auto = Compare(*records, ours, tuned, ChainedOf(clock));
    problems.push_back(std::move(problem));
  }
  return problems;
}

void Add(const ModelProblem& problem, int weight, StepTime& time) {
  ++time.products;
  if (!problem.IsTimed()) return;
  ++time.timed;
  time.ours_ns += weight * problem.OursNs();
  time.heuristic_ns += weight * problem.over_heuristic->reference_ns;
  time.auto_ns += weight * problem.over_auto->reference_ns;
  time.floor_ns += weight * problem.floor_ns;
}

StepTime& TimeOf(const ModelProduct& row, std::vector<ModelSteps>& models) {
  if (models.empty() || models.back().model != row.model) models.push_back({row.model, {}});
  std::vector<ModelPhase>& phases = models.back().phases;
  const auto is_its = [&](const ModelPhase& phase) { return phase.pass == row.pass && phase.tokens == row.tokens(); };
  if (const auto phase = std::ranges::find_if(phases, is_its); phase != phases.end()) return phase->time;
  return phases.emplace_back(ModelPhase{row.pass, row.tokens(), {}}).time;
}

std::vector<ModelSteps> StepsOf(const std::vector<ModelProblem>& problems) {
  std::map<Product, const ModelProblem*> by_product;
  for (const ModelProblem& problem : problems) by_product[{problem.shape, problem.layout}] = &problem;
  std::vector<ModelSteps> models;
  for (const ModelProduct& row : ModelProducts())
    Add(*by_product.at({row.shape, row.layout}), row.weight, TimeOf(row, models));
  return models;
}

std::optional<Statistics> OfPaper(const std::vector<Trial>& trials, SelectionOptions options, Clock clock) {
  options.shapes = *LoadShapes("paper1000");
  Result<Selection> selection = SelectRecords(trials, options);
  if (!selection.ok()) return std::nullopt;
  const Result<Scoreboard> board = MakeScoreboard(trials, *std::move(selection), std::nullopt);
  if (!board.ok() || !board->of_ours || board->headline != kDefaultReference) return std::nullopt;
  const std::vector<ShapeSpeedUp> speed_ups = board->Headline(clock);
  return speed_ups.empty() ? std::nullopt : std::optional(StatisticsOf(speed_ups));
}

std::optional<Statistics> StatisticsOfAny(const std::vector<ShapeSpeedUp>& speed_ups) {
  return speed_ups.empty() ? std::nullopt : std::optional(StatisticsOf(speed_ups));
}

std::optional<double> MeanOfAny(const std::vector<double>& shares) {
  return shares.empty() ? std::nullopt : std::optional(GeometricMean(shares));
}

std::optional<Statistics> Over(const std::vector<ModelProblem>& problems,
                               std::optional<ShapeSpeedUp> ModelProblem::*reference) {
  std::vector<ShapeSpeedUp> speed_ups;
  for (const ModelProblem& problem : problems)
    if (problem.IsTimed()) speed_ups.push_back(*(problem.*reference));
  return StatisticsOfAny(speed_ups);
}

// Smaller ones take as long as the gap between two kernels.
bool HasLargeB(const ModelProblem& problem) {
  constexpr double kLargeBytes = 16e6;
  return 2.0 * problem.shape.n * problem.shape.k >= kLargeBytes;
}

}  // namespace

std::vector<ModelProblem> ModelReport::In(ModelGroup group) const {
  std::vector<ModelProblem> members;
  for (const ModelProblem& problem : problems)
    if (GroupOf(problem.shape) == group) members.push_back(problem);
  return members;
}

std::optional<Statistics> OverHeuristic(const std::vector<ModelProblem>& problems) {
  return Over(problems, &ModelProblem::over_heuristic);
}

std::optional<Statistics> OverAuto(const std::vector<ModelProblem>& problems) {
  return Over(problems, &ModelProblem::over_auto);
}

std::optional<Statistics> ChainedOverAuto(const std::vector<ModelProblem>& problems) {
  std::vector<ShapeSpeedUp> speed_ups;
  for (const ModelProblem& problem : problems)
    if (problem.chained_over_auto) speed_ups.push_back(*problem.chained_over_auto);
  return StatisticsOfAny(speed_ups);
}

std::optional<double> ShareOfFloor(const std::vector<ModelProblem>& problems) {
  std::vector<double> shares;
  for (const ModelProblem& problem : problems)
    if (problem.IsTimed() && problem.floor_ns > 0) shares.push_back(problem.floor_ns / problem.OursNs());
  return MeanOfAny(shares);
}

std::optional<double> ChainedShareOfFloor(const std::vector<ModelProblem>& problems) {
  std::vector<double> shares;
  for (const ModelProblem& problem : problems)
    if (problem.chained_over_auto && problem.floor_ns > 0 && HasLargeB(problem))
      shares.push_back(problem.floor_ns / problem.chained_over_auto->contender_ns);
  return MeanOfAny(shares);
}

Result<ModelReport> MakeModelReport(const std::vector<Trial>& trials, SelectionOptions options) {
  ModelReport report;
  options.shapes = *LoadShapes("models");
  options.clock = report.clock;
  SelectionOptions with_constant_b = options;
  with_constant_b.number_types.constant_b = true;
  const Result<Selection> plain = SelectRecords(trials, options), constant = SelectRecords(trials, with_constant_b);
  for (const Status& status : {plain.status(), constant.status()})
    if (!status.ok() && status.code() != StatusCode::kNotFound) return status;
  const std::string hint = fmt::format(
      "gemmsmith bench --shapes models --contenders best,baselines --modes {} measures them", Name(report.clock));
  if (!plain.ok() && !constant.ok()) return NotFound(fmt::format("{}; {}", plain.status().message(), hint));
  report.selection = plain.ok() ? *plain : *constant;
  report.problems = TimesOf(plain, constant, report.selection.setting, report.clock);
  if (std::ranges::none_of(report.problems, [](const ModelProblem& p) { return p.IsTimed() || p.chained_over_auto; }))
    return NotFound(fmt::format("no product of the models was raced by ours, lt_auto and lt_heuristic on {}; {}",
                                Name(report.clock), hint));
  report.models = StepsOf(report.problems);
  report.has_floor = FindDevice(report.selection.setting.device_key).ok();
  report.paper1000 = OfPaper(trials, options, report.clock);
  return report;
}

}  // namespace gemmsmith
