#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "campaign/grid.h"
#include "cli/exit.h"
#include "cli/plan_lines.h"
#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/record_files.h"
#include "cli/run.h"
#include "cli/words.h"
#include "workflow/instrument.h"

namespace gemmsmith {

namespace {

Result<std::vector<Gemm>> ProblemsFor(const RecordsMeasureCommand& command) {
  std::vector<Gemm> problems;
  for (const ScalarType type : command.types) {
    ASSIGN_OR_RETURN(
        const std::vector<Gemm> more,
        LoadProblems(command.shapes, command.layouts,
                     {.type = type, .accumulation = command.accumulation, .constant_b = command.constant_b}));
    problems.insert(problems.end(), more.begin(), more.end());
  }
  return problems;
}

// In canonical order, each once. "all": the live search spaces of the problems together.
Result<std::vector<Plan>> PlansOf(const RecordsMeasureCommand& command, const std::vector<Gemm>& problems,
                                  const Device& device) {
  std::vector<Plan> plans;
  if (command.plans == "all") {
    for (const Gemm& gemm : problems) {
      const std::vector<Plan> legal = RankedPlans(gemm, device, kLiveSpaceSize);
      plans.insert(plans.end(), legal.begin(), legal.end());
      std::sort(plans.begin(), plans.end());
      plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
    }
    return plans;
  }
  ASSIGN_OR_RETURN(plans, ReadPlansOfAll(command.plans));
  return Space(std::move(plans)).plans();
}

// Every trial of these problems and plans that the archive has from this device, whichever campaign stored it.
Result<std::vector<Trial>> RecordOf(const Archive& archive, const GridOptions& options, const std::string& device_key,
                                    bool every_campaign) {
  std::vector<Trial> trials;
  for (const Gemm& gemm : options.problems) {
    TrialFilter filter{.gemm = gemm, .device_key = device_key};
    if (options.finalists == 0) filter.protocol = options.protocol;
    if (!every_campaign) filter.campaign = options.name;
    RETURN_IF_ERROR(archive.ForEach(filter, [&](const Trial& trial) {
      if (!IsReplayed(trial) && trial.HasPlan() &&
          std::binary_search(options.plans.begin(), options.plans.end(), trial.plan())) {
        trials.push_back(trial);
      }
    }));
  }
  return trials;
}

std::string News(const GridOptions& options, const MeasuredEvent& event) {
  const auto problem = std::ranges::find(options.problems, event.trial->gemm) - options.problems.begin();
  return fmt::format("problem {}/{}  {}", problem + 1, options.problems.size(), Print(event.trial->gemm));
}

Result<MeasuredList> Measure(const RecordsMeasureCommand& command, const GridOptions& options, Instrument& instrument,
                             Archive& archive) {
  Progress progress("measuring", int64_t(options.plans.size() * options.problems.size()));
  const auto on_event = [&](const MeasuredEvent& event) { progress.Update(int64_t(event.done), News(options, event)); };
  const std::unique_ptr<StopRule> stop = StopOnInterruptOrAfter(command.limit_seconds);
  return RunGrid(options, *instrument.evaluator, instrument.compiler.get(), archive, *stop, on_event);
}

std::string Summary(const MeasuredList& result, const std::vector<std::string>& files, size_t written) {
  return fmt::format("{} judged ({}), {} found stored, {} left{}\n{} written to {}\n",
                     Plural(int64_t(result.judged), "cell"), OutcomesText(result.by_outcome),
                     CountText(int64_t(result.found)), CountText(int64_t(result.total - result.judged - result.found)),
                     result.stop_reason.empty() ? "" : ": " + result.stop_reason, Plural(int64_t(written), "trial"),
                     fmt::join(files, ", "));
}

std::string JsonText(const MeasuredList& result, const std::vector<std::string>& files, size_t written) {
  return PrintJson({{"command", "records measure"},
                    {"cells", result.total},
                    {"judged", result.judged},
                    {"found", result.found},
                    {"left", result.total - result.judged - result.found},
                    {"outcomes", JsonOf(result.by_outcome)},
                    {"stop_reason", result.stop_reason},
                    {"seconds", result.seconds},
                    {"trials_written", written},
                    {"files", files}});
}

}  // namespace

Result<int> Run(const RecordsMeasureCommand& command) {
  WatchForInterrupts();
  RETURN_IF_ERROR(CheckRecordPath(command.output));
  RETURN_IF_ERROR(CheckGpuMeasures(command.device));
  ASSIGN_OR_RETURN(std::vector<Gemm> problems, ProblemsFor(command));
  ASSIGN_OR_RETURN(const int gpu, FindGpu(command.device));
  ASSIGN_OR_RETURN(Instrument instrument, OpenLiveInstrument(gpu));
  const Device& device = instrument.evaluator->device();
  GridOptions options{
      .name = command.name,
      .problems = std::move(problems),
      .protocol = command.protocol,
      .clocks = command.offline_clock ? ClockSet{Clock::kDeviceCold, Clock::kOffline} : ClockSet{Clock::kDeviceCold},
      .finalists = command.finalists,
      .counters = command.counters,
      .skip_recorded = command.skip_recorded,
      .seed = command.seed};
  ASSIGN_OR_RETURN(options.plans, PlansOf(command, options.problems, device));
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  WriteNote(fmt::format("{} x {} on an {}", Plural(int64_t(options.plans.size()), "plan"),
                        Plural(int64_t(options.problems.size()), "problem"), instrument.Describe()));
  const Result<MeasuredList> result = Measure(command, options, instrument, *archive);
  // Where the GPU was lost halfway, what it judged until then is written all the same.
  ASSIGN_OR_RETURN(const std::vector<Trial> record, RecordOf(*archive, options, device.key, command.skip_recorded));
  ASSIGN_OR_RETURN(const std::vector<std::string> files, WriteRecords(record, command.output));
  RETURN_IF_ERROR(result.status());
  RETURN_IF_ERROR(
      WriteOut(command.json ? JsonText(*result, files, record.size()) : Summary(*result, files, record.size())));
  return InterruptArrived() ? kExitInterrupted : kExitDone;
}

}  // namespace gemmsmith
