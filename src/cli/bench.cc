#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "archive/json_text.h"
#include "archive/segment.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "campaign/bench.h"
#include "cli/exit.h"
#include "cli/plan_lines.h"
#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/record_files.h"
#include "cli/run.h"
#include "cli/words.h"
#include "program/emit.h"
#include "program/flat_form.h"
#include "workflow/instrument.h"
#include "workflow/shipped_data.h"
#include "workflow/winners.h"

namespace gemmsmith {

namespace {

std::string ModesText(const ClockSet& clocks) {
  std::vector<std::string> names;
  for (int clock = 0; clock <= int(kLastClock); ++clock)
    if (clocks.Has(Clock(clock))) names.emplace_back(Name(Clock(clock)));
  return Join(names, ",");
}

// Everything that trials of one run must share.
std::string NameOf(const BenchCommand& command, const BaselineSet& baselines, const Device& device) {
  if (!command.name.empty()) return command.name;
  return fmt::format(
      "bench {} {} {} {} {} seed {}", device.key, Name(command.protocol), ModesText(command.clocks), baselines.Print(),
      PrintNumberTypes({.type = command.type, .accumulation = command.accumulation, .constant_b = command.constant_b}),
      command.seed);
}

// Plans of a file: for every problem, or for the one that its line names.
struct PlanLists {
  std::vector<Plan> of_all;
  std::map<Gemm, std::vector<Plan>> of_problem;
};

Result<PlanLists> PlansOf(const BenchContenders& contenders) {
  PlanLists lists{.of_all = contenders.plans};
  for (const std::filesystem::path& path : contenders.plan_files) {
    ASSIGN_OR_RETURN(const std::vector<PlanLine> lines, ReadPlanLines(path));
    for (const PlanLine& line : lines) (line.gemm ? lists.of_problem[*line.gemm] : lists.of_all).push_back(line.plan);
  }
  return lists;
}

Result<std::vector<Subject>> SourcesOf(const BenchContenders& contenders) {
  std::vector<Subject> sources;
  for (const std::filesystem::path& path : contenders.sources) {
    ASSIGN_OR_RETURN(FreeForm source, ReadSource(path));
    sources.emplace_back(std::move(source));
  }
  return sources;
}

// Of the records that were named; else of the archive and of what came with the program.
Result<BestPlans> BestIn(RecordSource sources, const Archive& archive, const std::string& device_key) {
  BestPlans best;
  if (sources.empty()) {
    ASSIGN_OR_RETURN(best, WinnersIn(archive, device_key));
    if (const std::optional<RecordingPlace> place = FindRecordingOf(device_key)) {
      ASSIGN_OR_RETURN(const std::vector<RecordSource> along, SpaceAndSearches(*place));
      for (const RecordSource& source : along) sources.insert(sources.end(), source.begin(), source.end());
    }
  }
  for (const std::filesystem::path& source : sources) {
    ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(source));
    for (const Trial& trial : trials)
      if (trial.setting.device_key == device_key) AddMeasured(trial, best);
  }
  if (best.size() == 0)
    return NotFound(fmt::format("no plan was timed on the {} in the records of 'best'", device_key));
  return best;
}

Result<BenchOptions> OptionsFor(const BenchCommand& command, const Archive& archive, const Device& device) {
  BenchOptions options{.protocol = command.protocol, .clocks = command.clocks, .seed = command.seed};
  if (!command.contenders.baselines.empty()) {
    ASSIGN_OR_RETURN(options.baselines, BaselineSet::Parse(command.contenders.baselines));
  }
  options.name = NameOf(command, options.baselines, device);
  ASSIGN_OR_RETURN(
      options.problems,
      LoadProblems(command.shapes, command.layouts,
                   {.type = command.type, .accumulation = command.accumulation, .constant_b = command.constant_b}));
  ASSIGN_OR_RETURN(const PlanLists lists, PlansOf(command.contenders));
  ASSIGN_OR_RETURN(const std::vector<Subject> sources, SourcesOf(command.contenders));
  std::vector<BestPlans> bests;
  for (const RecordSource& source : command.contenders.best) {
    ASSIGN_OR_RETURN(bests.emplace_back(), BestIn(source, archive, device.key));
  }
  options.candidates = [lists, sources, bests, standalone = command.contenders.standalone,
                        flat = command.contenders.flat](const Gemm& gemm) -> Result<std::vector<Subject>> {
    std::vector<Plan> plans = lists.of_all;
    const auto add = [&](const Plan& plan) {
      if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);
    };
    if (const auto own = lists.of_problem.find(gemm); own != lists.of_problem.end())
      std::ranges::for_each(own->second, add);
    for (const BestPlans& best : bests)
      if (const Plan* plan = best.Find(gemm)) add(*plan);
    std::vector<Subject> subjects(plans.begin(), plans.end());
    if (standalone)
      for (const Plan& plan : plans)
        subjects.emplace_back(FreeForm{fmt::format("{}.cu", PrintShort(plan)), EmitStandalone(plan, gemm)});
    if (flat)
      for (const Plan& plan : plans)
        if (Result<std::string> text = EmitFlat(plan, gemm, FlatStyle()); text.ok())
          subjects.emplace_back(FreeForm{fmt::format("{}_flat.cu", PrintShort(plan)), *std::move(text)});
    subjects.insert(subjects.end(), sources.begin(), sources.end());
    return subjects;
  };
  return options;
}

Result<MeasuredList> Measure(const BenchCommand& command, const BenchOptions& options, Instrument& instrument,
                             Archive& archive) {
  std::optional<Progress> progress;
  const auto on_event = [&](const MeasuredEvent& event) {
    if (!progress) progress.emplace("benching", int64_t(event.total)).StartFrom(int64_t(event.done) - 1);
    progress->Update(int64_t(event.done), Print(event.trial->gemm));
  };
  const std::unique_ptr<StopRule> stop = StopOnInterruptOrAfter(command.limit_seconds);
  const BenchContenders& contenders = command.contenders;
  if (contenders.standalone || contenders.flat || !contenders.sources.empty()) RETURN_IF_ERROR(OpenSources(instrument));
  return RunBench(options, *instrument.evaluator, instrument.compiler.get(), instrument.source_compiler.get(), archive,
                  *stop, on_event);
}

std::set<Shape> DistinctShapes(const BenchOptions& options) {
  std::set<Shape> shapes;
  for (const Gemm& gemm : options.problems) shapes.insert(gemm.shape);
  return shapes;
}

// Every trial of this name on these shapes and this device, of earlier calls too.
Result<std::vector<std::string>> WriteRecord(const BenchCommand& command, const BenchOptions& options,
                                             const Archive& archive, const std::string& device_key) {
  const std::set<Shape> shapes = DistinctShapes(options);
  return WriteSelected(archive, {.campaign = options.name, .device_key = device_key}, command.output,
                       [&](const Trial& trial) { return shapes.contains(trial.gemm.shape); });
}

std::string Summary(const BenchOptions& options, const MeasuredList& result, const std::vector<std::string>& files) {
  std::string text =
      fmt::format("{} measured now ({}), {} found stored, {} left{}\n", Plural(int64_t(result.judged), "contender"),
                  OutcomesText(result.by_outcome), CountText(int64_t(result.found)),
                  CountText(int64_t(result.total - result.judged - result.found)),
                  result.stop_reason.empty() ? "" : ": " + result.stop_reason);
  for (const auto& [gemm, failure] : result.failures) text += fmt::format("  {}: {}\n", Print(gemm), failure.message());
  if (!files.empty()) text += fmt::format("written to {}\n", fmt::join(files, ", "));
  return text + fmt::format("gemmsmith report --campaign '{}' prints the tables\n", options.name);
}

std::string JsonText(const BenchOptions& options, const MeasuredList& result, const std::vector<std::string>& files,
                     const std::string& archive_path) {
  Json failures = Json::array();
  for (const auto& [gemm, failure] : result.failures)
    failures.push_back({{"problem", Print(gemm)}, {"failure", failure.message()}});
  return PrintJson({{"command", "bench"},
                    {"campaign", options.name},
                    {"shapes", DistinctShapes(options).size()},
                    {"protocol", Name(options.protocol)},
                    {"modes", ModesText(options.clocks)},
                    {"baselines", options.baselines.Print()},
                    {"contenders", result.total},
                    {"judged", result.judged},
                    {"found", result.found},
                    {"left", result.total - result.judged - result.found},
                    {"outcomes", JsonOf(result.by_outcome)},
                    {"failures", failures},
                    {"stop_reason", result.stop_reason},
                    {"seconds", result.seconds},
                    {"files", files},
                    {"archive", archive_path}});
}

// What is wrong wherever it would run, before a GPU is taken.
Status Check(const BenchCommand& command) {
  RETURN_IF_ERROR(CheckSegmentPath("--output", command.output));
  RETURN_IF_ERROR(CheckGpuMeasures(command.device));
  RETURN_IF_ERROR(LoadProductLists(command.shapes).status());
  RETURN_IF_ERROR(PlansOf(command.contenders).status());
  return SourcesOf(command.contenders).status();
}

}  // namespace

Result<int> Run(const BenchCommand& command) {
  WatchForInterrupts();
  RETURN_IF_ERROR(Check(command));
  ASSIGN_OR_RETURN(const int gpu, FindGpu(command.device));
  ASSIGN_OR_RETURN(Instrument instrument, OpenLiveInstrument(gpu));
  const std::string device_key = instrument.evaluator->device().key;
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  ASSIGN_OR_RETURN(const BenchOptions options, OptionsFor(command, *archive, instrument.evaluator->device()));
  WriteNote(fmt::format("{} in the {} protocol by {} on an {}",
                        Plural(int64_t(DistinctShapes(options).size()), "shape"), Name(options.protocol),
                        ModesText(options.clocks), instrument.Describe()));
  const Result<MeasuredList> result = Measure(command, options, instrument, *archive);
  // Where the GPU was lost halfway, what it measured until then is written all the same.
  ASSIGN_OR_RETURN(const std::vector<std::string> files, WriteRecord(command, options, *archive, device_key));
  RETURN_IF_ERROR(result.status());
  const std::string archive_path = (command.archive.empty() ? DefaultArchivePath() : command.archive).string();
  RETURN_IF_ERROR(
      WriteOut(command.json ? JsonText(options, *result, files, archive_path) : Summary(options, *result, files)));
  return InterruptArrived() ? kExitInterrupted : kExitDone;
}

}  // namespace gemmsmith
