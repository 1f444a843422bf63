#include "cli/optimize_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "archive/standings.h"
#include "cli/energy_text.h"
#include "cli/table.h"
#include "cli/words.h"
#include "outcome/baseline_set.h"
#include "problem/grids.h"
#include "report/selection.h"

namespace gemmsmith {

namespace {

// "lt_auto" of "lt_auto_nn"; nothing for a contender without a layout.
std::optional<std::string> BaselineFamily(const std::string& contender) {
  const std::string_view family = FamilyOf(contender);
  return family == contender ? std::nullopt : std::optional(std::string(family));
}

const SpeedUp* Find(const std::vector<SpeedUp>& speed_ups, const std::string& baseline) {
  for (const SpeedUp& speed_up : speed_ups) {
    if (speed_up.baseline == baseline) return &speed_up;
  }
  return nullptr;
}

double PercentOfFloor(const OptimizeReport& report, const LayoutFinding& finding) {
  return 100 * MakeTask(finding.gemm).FloorNs(report.device) / finding.result.best->outcome.TimeNs();
}

double Tflops(const LayoutFinding& finding) {
  return MakeTask(finding.gemm).flops / finding.result.best->outcome.TimeNs() / 1e3;
}

const Timing& OurTiming(const LayoutFinding& finding) { return *finding.result.best->outcome.Ours(); }

bool AnyJudged(const OptimizeReport& report) {
  return std::any_of(report.layouts.begin(), report.layouts.end(),
                     [](const LayoutFinding& finding) { return !finding.result.by_outcome.empty(); });
}

std::string Headline(const OptimizeReport& report) {
  const LayoutFinding* best = report.Best();
  if (best == nullptr) return AnyJudged(report) ? "no candidate passed" : "nothing was judged yet";
  std::string text = fmt::format("best: {}, {}, {:.1f} TFLOP/s", Name(best->gemm.kind.layout),
                                 TimeText(best->result.best->outcome.TimeNs()), Tflops(*best));
  const std::vector<SpeedUp> speed_ups = BestSpeedUps(report);
  if (!speed_ups.empty()) {
    text += fmt::format(", {:.2f}x {}", speed_ups.front().ratio.median, BaselineText(speed_ups.front().baseline));
  }
  return text;
}

std::string LayoutTable(const OptimizeReport& report, const Terminal& terminal) {
  using enum Table::Align;
  const LayoutFinding* const best = report.Best();
  const Clock clock = best == nullptr ? Clock::kDeviceCold : best->result.best->outcome.LeadingClock();
  Table table({{"layout"},
               {fmt::format("time, {}", Name(clock)), kRight},
               {"95 % interval", kRight},
               {"TFLOP/s", kRight},
               {"of floor", kRight}});
  for (const LayoutFinding& finding : report.layouts) {
    const std::string layout(Name(finding.gemm.kind.layout));
    if (!finding.result.best) {
      table.Add({layout, "-", "-", "-", "-"});
      continue;
    }
    const Timing& ours = OurTiming(finding);
    table.Add({layout, TimeText(ours.median_ns), IntervalText(ours.interval), fmt::format("{:.1f}", Tflops(finding)),
               fmt::format("{:.1f} %", PercentOfFloor(report, finding))});
  }
  return table.Print(terminal);
}

// Chains of overlapping calls are another use than the calls above, so they stand apart.
std::string ChainLines(const OptimizeReport& report) {
  std::string text;
  for (const LayoutFinding& finding : report.layouts) {
    if (!finding.result.best) continue;
    const Outcome& outcome = finding.result.best->outcome;
    const Timing* chained = outcome.OursChained();
    if (chained == nullptr) continue;
    text += fmt::format("  {} in chains {}", Name(finding.gemm.kind.layout), TimeText(chained->median_ns));
    if (const std::optional<double> ratio = ChainedOverAutoTuning(outcome)) text += fmt::format(", {:.2f}x", *ratio);
    text += "\n";
  }
  return text;
}

std::string SpeedUpTable(const OptimizeReport& report, const Terminal& terminal) {
  std::vector<Table::Column> columns = {{"speed-up over"}};
  std::vector<std::vector<SpeedUp>> by_column;
  for (const LayoutFinding& finding : report.layouts) {
    columns.push_back({fmt::format("{0} against {0}", Name(finding.gemm.kind.layout)), Table::Align::kRight});
    by_column.push_back(SameLayoutSpeedUps(finding));
  }
  columns.push_back({"best against best", Table::Align::kRight});
  by_column.push_back(BestSpeedUps(report));
  Table table(columns);
  for (const SpeedUp& of_best : by_column.back()) {
    std::vector<std::string> row = {BaselineText(of_best.baseline)};
    for (const std::vector<SpeedUp>& column : by_column) {
      const SpeedUp* speed_up = Find(column, of_best.baseline);
      row.push_back(speed_up == nullptr ? "-" : RatioText(speed_up->ratio));
    }
    table.Add(std::move(row));
  }
  return table.empty() ? "" : fmt::format("\n{}", table.Print(terminal));
}

// Of the best, where the finals raced on the energy clock.
std::string Energies(const OptimizeReport& report, const Terminal& terminal) {
  const LayoutFinding* best = report.Best();
  return best == nullptr ? "" : EnergyTable(best->result.best->outcome, report.shape, terminal);
}

std::string Places(const OptimizeReport& report) {
  std::string text;
  for (const LayoutFinding& finding : report.layouts) {
    text += fmt::format("\n  {} candidates  {}, proposed by {}", Name(finding.gemm.kind.layout),
                        OutcomesText(finding.result.by_outcome), report.proposer);
    text +=
        fmt::format("{}\n", finding.result.misses > 0 ? fmt::format("; {} not recorded", finding.result.misses) : "");
    if (!finding.result.best) continue;
    text += fmt::format("     plan        {}\n", PrintShort(finding.result.best->plan()));
    if (const Protocol protocol = finding.result.best->outcome.protocol; protocol != Protocol::kShort)
      text += fmt::format("     judged in   the {} protocol: {}\n", Name(protocol),
                          report.replayed ? "nothing more careful was recorded" : "the finals were not reached");
    if (finding.sources.thin_path.empty()) {
      text += fmt::format("     source      not written: {}\n", finding.sources.not_written);
    } else {
      text += fmt::format("     source      {}\n     standalone  {}\n", finding.sources.thin_path,
                          finding.sources.standalone_path);
    }
  }
  return text + fmt::format("\n  every trial is kept in {}\n", report.archive_path);
}

Json JsonOf(const std::vector<SpeedUp>& speed_ups, Clock clock) {
  Json json = Json::array();
  for (const SpeedUp& speed_up : speed_ups) {
    json.push_back({{"baseline", speed_up.baseline},
                    {"clock", Name(clock)},
                    {"ratio", speed_up.ratio.median},
                    {"interval", gemmsmith::JsonOf(speed_up.ratio.interval)},
                    {"pairs", speed_up.ratio.pairs}});
  }
  return json;
}

Json JsonOfChained(const Outcome& outcome) {
  const Timing* chained = outcome.OursChained();
  if (chained == nullptr) return {};
  const std::optional<double> ratio = ChainedOverAutoTuning(outcome);
  return {{"time_ns", chained->median_ns},
          {"interval_ns", gemmsmith::JsonOf(chained->interval)},
          {"over_autotuning", ratio ? Json(*ratio) : Json()}};
}

Json JsonOf(const OptimizeReport& report, const LayoutFinding& finding) {
  Json json = {{"layout", Name(finding.gemm.kind.layout)},
               {"problem", Print(finding.gemm)},
               {"campaign", finding.campaign},
               {"stop_reason", finding.result.stop_reason},
               {"outcomes", gemmsmith::JsonOf(finding.result.by_outcome)},
               {"misses", finding.result.misses},
               {"plan", nullptr}};
  if (!finding.result.best) return json;
  json["plan"] = Print(finding.result.best->plan());
  const Clock clock = finding.result.best->outcome.LeadingClock();
  json["clock"] = Name(clock);
  json["time_ns"] = finding.result.best->outcome.TimeNs();
  json["interval_ns"] = gemmsmith::JsonOf(OurTiming(finding).interval);
  json["tflops"] = Tflops(finding);
  json["percent_of_floor"] = PercentOfFloor(report, finding);
  json["speed_ups"] = JsonOf(SameLayoutSpeedUps(finding), clock);
  json["chained"] = JsonOfChained(finding.result.best->outcome);
  json["judgement"] = gemmsmith::JsonOf(finding.result.best->outcome);
  json["source"] = finding.sources.thin_path;
  json["standalone"] = finding.sources.standalone_path;
  return json;
}

}  // namespace

const LayoutFinding* OptimizeReport::Best() const {
  const LayoutFinding* best = nullptr;
  for (const LayoutFinding& finding : layouts) {
    if (!finding.result.best) continue;
    if (best == nullptr || CostOf(objective, *finding.result.best) < CostOf(objective, *best->result.best))
      best = &finding;
  }
  return best;
}

std::vector<SpeedUp> SameLayoutSpeedUps(const LayoutFinding& finding) {
  std::vector<SpeedUp> speed_ups;
  if (!finding.result.best) return speed_ups;
  const std::string suffix = fmt::format("_{}", Name(finding.gemm.kind.layout));
  const Outcome& outcome = finding.result.best->outcome;
  for (const Comparison& comparison : outcome.comparisons) {
    const std::optional<std::string> kind = BaselineFamily(comparison.baseline);
    if (comparison.clock == outcome.LeadingClock() && kind && comparison.baseline.ends_with(suffix)) {
      speed_ups.push_back({*kind, comparison.ratio});
    }
  }
  return speed_ups;
}

std::vector<SpeedUp> BestSpeedUps(const OptimizeReport& report) {
  std::vector<SpeedUp> speed_ups;
  const LayoutFinding* best = report.Best();
  if (best == nullptr) return speed_ups;
  const Outcome& outcome = best->result.best->outcome;
  for (const Comparison& comparison : outcome.comparisons) {
    const std::optional<std::string> kind = BaselineFamily(comparison.baseline);
    if (comparison.clock != outcome.LeadingClock() || !kind) continue;
    const auto known =
        std::find_if(speed_ups.begin(), speed_ups.end(), [&](const SpeedUp& s) { return s.baseline == *kind; });
    if (known == speed_ups.end()) {
      speed_ups.push_back({*kind, comparison.ratio});
    } else if (comparison.ratio.median < known->ratio.median) {
      known->ratio = comparison.ratio;
    }
  }
  return speed_ups;
}

std::string PrintText(const OptimizeReport& report, const Terminal& terminal) {
  const Task task = MakeTask(report.layouts.front().gemm);
  std::string text =
      fmt::format("{}  {}, {:.3g} GFLOP, class {}\n", Tinted(Print(report.shape), Tint::kBold, terminal),
                  Print(NumberTypes{report.type, report.accumulation}), task.flops / 1e9, Name(Classify(report.shape)));
  text += WhereText(report.setting.device_name, report.recorded_date) + "\n";
  text += Tinted(Headline(report), report.Best() != nullptr ? Tint::kGreen : Tint::kRed, terminal) + "\n\n";
  return text + LayoutTable(report, terminal) + ChainLines(report) + SpeedUpTable(report, terminal) +
         Energies(report, terminal) + Places(report);
}

std::string PrintJson(const OptimizeReport& report) {
  const LayoutFinding* best = report.Best();
  Json json = {{"command", "optimize"},
               {"shape", Print(report.shape)},
               {"type", Name(report.type)},
               {"accumulation", Name(report.accumulation)},
               {"replayed", report.replayed},
               {"recorded_date", report.replayed ? Json(report.recorded_date) : Json()},
               {"setting", gemmsmith::JsonOf(report.setting)},
               {"proposer", report.proposer},
               {"objective", Name(report.objective)},
               {"seed", report.seed},
               {"floor_ns", MakeTask(report.layouts.front().gemm).FloorNs(report.device)},
               {"layouts", Json::array()},
               {"best", nullptr},
               {"archive", report.archive_path}};
  for (const LayoutFinding& finding : report.layouts) json["layouts"].push_back(JsonOf(report, finding));
  if (best != nullptr) {
    json["best"] = {{"layout", Name(best->gemm.kind.layout)},
                    {"speed_ups", JsonOf(BestSpeedUps(report), best->result.best->outcome.LeadingClock())}};
  }
  return PrintJson(json);
}

}  // namespace gemmsmith
