#include "cli/set_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "archive/standings.h"
#include "cli/standings_text.h"
#include "cli/words.h"
#include "report/selection.h"
#include "workflow/optimize.h"

namespace gemmsmith {

namespace {

constexpr size_t kNamed = 5;

// Of complete problems: what others have so far is the best of a screening at most.
std::vector<Trial> BestTrials(const SetReport& report) {
  std::vector<Trial> trials;
  for (const LayoutFinding& finding : report.problems)
    if (finding.result.complete && finding.result.best) trials.push_back(*finding.result.best);
  return trials;
}

int64_t CountFound(const SetReport& report) {
  return std::count_if(report.problems.begin(), report.problems.end(),
                       [](const LayoutFinding& finding) { return finding.result.found; });
}

std::vector<std::pair<OutcomeKind, int>> Outcomes(const SetReport& report) {
  std::map<OutcomeKind, int> counts;
  for (const LayoutFinding& finding : report.problems)
    for (const auto& [kind, count] : finding.result.by_outcome) counts[kind] += count;
  return {counts.begin(), counts.end()};
}

int64_t Misses(const SetReport& report) {
  int64_t misses = 0;
  for (const LayoutFinding& finding : report.problems) misses += finding.result.misses;
  return misses;
}

int64_t CountUnderWay(const SetReport& report) {
  return std::count_if(report.problems.begin(), report.problems.end(), [](const LayoutFinding& finding) {
    const ProblemResult& result = finding.result;
    return !result.complete && result.failure.ok() && result.evaluations + result.resumed > 0;
  });
}

// "2 judged in the screen protocol only"; nothing where every complete problem has its finals.
std::vector<std::string> LessCareful(const SetReport& report) {
  std::map<Protocol, int64_t> counts;
  for (const Trial& trial : BestTrials(report)) ++counts[trial.outcome.protocol];
  counts.erase(Protocol::kShort);
  std::vector<std::string> texts;
  for (const auto& [protocol, count] : counts)
    texts.push_back(fmt::format("{} judged in the {} protocol only", CountText(count), Name(protocol)));
  return texts;
}

std::optional<double> OverAutoTuningMean(const SetReport& report) {
  std::vector<double> ratios;
  for (const Trial& trial : BestTrials(report))
    if (const std::optional<RatioEstimate> ratio = OverAutoTuning(trial.outcome)) ratios.push_back(ratio->median);
  return ratios.empty() ? std::nullopt : std::optional(GeometricMean(ratios));
}

std::string Headline(const SetReport& report) {
  std::string text =
      fmt::format("{} of {} done", CountText(report.Complete()), Plural(int64_t(report.problems.size()), "problem"));
  if (const std::optional<double> mean = OverAutoTuningMean(report))
    text += fmt::format(", geometric mean {:.3f}x cuBLASLt AutoTuning", *mean);
  return text;
}

std::vector<std::string> FirstNames(const std::vector<Gemm>& gemms) {
  std::vector<std::string> names;
  for (const Gemm& gemm : gemms) {
    if (names.size() == kNamed) break;
    names.push_back(fmt::format("{} {}", Print(gemm.shape), Name(gemm.kind.layout)));
  }
  return names;
}

std::string Places(const SetReport& report) {
  const int64_t complete = report.Complete(), found = CountFound(report);
  const int64_t left = int64_t(report.problems.size()) - complete;
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<12}{}\n", name, value);
  };
  line("problems", fmt::format("{} done now, {} found done, {} left{}", CountText(complete - found), CountText(found),
                               CountText(left), report.stop_reason.empty() ? "" : ": " + report.stop_reason));
  if (const int64_t under_way = CountUnderWay(report); under_way > 0)
    line("", fmt::format("{} of those left under way, in no figure above", CountText(under_way)));
  for (const std::string& less_careful : LessCareful(report))
    line("", less_careful + (report.replayed ? ": nothing more careful was recorded" : ""));
  if (const int64_t none = complete - report.Passed(); none > 0)
    line("", fmt::format("{} in which no candidate passed", CountText(none)));
  for (const LayoutFinding& finding : report.problems)
    if (!finding.result.failure.ok())
      line("", fmt::format("{}: {}", Print(finding.gemm), finding.result.failure.message()));
  if (const int64_t missing = int64_t(report.not_recorded.size()); missing > 0)
    line("", NotRecordedText(report.problems.size() + size_t(missing), report.not_recorded));
  const int64_t misses = Misses(report);
  line("candidates", fmt::format("{}, proposed by {}{}", OutcomesText(Outcomes(report)), report.proposer,
                                 misses > 0 ? fmt::format("; {} not recorded", CountText(misses)) : ""));
  if (!report.record_files.empty()) line("record", fmt::format("{}", fmt::join(report.record_files, ", ")));
  line("archive", report.archive_path);
  return text;
}

Json JsonOf(const LayoutFinding& finding) {
  Json json = {{"problem", Print(finding.gemm)},
               {"shape", Print(finding.gemm.shape)},
               {"layout", Name(finding.gemm.kind.layout)},
               {"class", Name(Classify(finding.gemm.shape))},
               {"complete", finding.result.complete},
               {"failure", finding.result.failure.message()},
               {"plan", nullptr}};
  if (!finding.result.best) return json;
  const Outcome& outcome = finding.result.best->outcome;
  const std::optional<RatioEstimate> ratio = OverAutoTuning(outcome);
  const Timing* chained = outcome.OursChained();
  json["plan"] = Print(finding.result.best->plan());
  json["protocol"] = Name(outcome.protocol);
  json["clock"] = Name(outcome.LeadingClock());
  json["time_ns"] = outcome.TimeNs();
  json["interval_ns"] = gemmsmith::JsonOf(outcome.Ours()->interval);
  json["over_autotuning"] = ratio ? Json(ratio->median) : Json();
  json["over_autotuning_interval"] = ratio ? gemmsmith::JsonOf(ratio->interval) : Json();
  json["chained_ns"] = chained == nullptr ? Json() : Json(chained->median_ns);
  json["source"] = finding.sources.thin_path;
  json["standalone"] = finding.sources.standalone_path;
  return json;
}

}  // namespace

int64_t SetReport::Complete() const {
  return std::count_if(problems.begin(), problems.end(),
                       [](const LayoutFinding& finding) { return finding.result.complete; });
}

int64_t SetReport::Passed() const {
  return std::count_if(problems.begin(), problems.end(), [](const LayoutFinding& finding) {
    return finding.result.complete && finding.result.best.has_value();
  });
}

std::string PrintText(const SetReport& report, const Terminal& terminal) {
  std::vector<std::string_view> layouts;
  for (const Layout& layout : report.layouts) layouts.push_back(Name(layout));
  std::string text = fmt::format("{}  {}, {}, {}; finals by {}\n", Tinted(report.set, Tint::kBold, terminal),
                                 Plural(int64_t(report.shapes), "shape"), fmt::join(layouts, " and "),
                                 Print(NumberTypes{report.type, report.accumulation}), Name(report.objective));
  text += WhereText(report.setting.device_name, report.recorded_date) + "\n";
  text += Tinted(Headline(report), report.Passed() > 0 ? Tint::kGreen : Tint::kRed, terminal) + "\n\n";
  const std::string standings = StandingsText(BestTrials(report), terminal);
  return text + standings + (standings.empty() ? "" : "\n") + Places(report);
}

std::string PrintJson(const SetReport& report) {
  const std::optional<double> mean = OverAutoTuningMean(report);
  const int64_t complete = report.Complete();
  Json json = {{"command", "optimize"},
               {"set", report.set},
               {"shapes", report.shapes},
               {"type", Name(report.type)},
               {"accumulation", Name(report.accumulation)},
               {"replayed", report.replayed},
               {"recorded_date", report.replayed ? Json(report.recorded_date) : Json()},
               {"setting", gemmsmith::JsonOf(report.setting)},
               {"proposer", report.proposer},
               {"objective", Name(report.objective)},
               {"seed", report.seed},
               {"campaign", report.campaign},
               {"problems", report.problems.size()},
               {"complete", complete},
               {"found", CountFound(report)},
               {"left", int64_t(report.problems.size()) - complete},
               {"stop_reason", report.stop_reason},
               {"not_recorded", {{"problems", report.not_recorded.size()}, {"first", FirstNames(report.not_recorded)}}},
               {"outcomes", gemmsmith::JsonOf(Outcomes(report))},
               {"misses", Misses(report)},
               {"geometric_mean", mean ? Json(*mean) : Json()},
               {"over_autotuning", StandingsJson(BestTrials(report))},
               {"results", Json::array()},
               {"records", report.record_files},
               {"archive", report.archive_path}};
  for (const LayoutFinding& finding : report.problems) json["results"].push_back(JsonOf(finding));
  return PrintJson(json);
}

}  // namespace gemmsmith
