#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/text.h"
#include "cli/counters_text.h"
#include "cli/energy_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "program/recipe.h"
#include "workflow/instrument.h"

namespace gemmsmith {

namespace {

// Of one sample the interval has no width, which would look like certainty.
std::string MeasuredIntervalText(const Timing& timing) {
  return IntervalText(timing.sample_count < 2 ? Interval() : timing.interval);
}

std::string MeasuredRatioText(const RatioEstimate& ratio) {
  return ratio.pairs < 2 ? fmt::format("{:.2f}x", ratio.median) : RatioText(ratio);
}

std::string TimesTable(const Outcome& outcome, const Terminal& terminal) {
  using enum Table::Align;
  Table table({{"contender"},
               {"clock"},
               {"time", kRight},
               {"95 % interval", kRight},
               {"samples", kRight},
               {"ours is", kRight}});
  for (const Timing& timing : outcome.timings) {
    if (timing.clock == Clock::kEnergy) continue;  // has a table of its own
    std::string ratio;
    for (const Comparison& comparison : outcome.comparisons) {
      if (comparison.baseline == timing.contender && comparison.clock == timing.clock)
        ratio = MeasuredRatioText(comparison.ratio);
    }
    table.Add({timing.contender, std::string(Name(timing.clock)), TimeText(timing.median_ns),
               MeasuredIntervalText(timing), fmt::format("{}", timing.sample_count), ratio});
  }
  // Ours on the chained clock stands against the plain times of baselines that have no other.
  for (const Comparison& comparison : outcome.comparisons) {
    if (outcome.Find(comparison.baseline, comparison.clock) == nullptr) {
      table.Add({comparison.baseline, fmt::format("ours {}", Name(comparison.clock)), "", "", "",
                 MeasuredRatioText(comparison.ratio)});
    }
  }
  return table.empty() ? "" : fmt::format("\n{}", table.Print(terminal));
}

std::string FactsLine(const CodeFacts& facts) {
  return fmt::format("{} registers, {} local, {} shared, {} code, {} matrix instructions", facts.registers,
                     BytesText(facts.local_bytes), BytesText(facts.static_smem_bytes), BytesText(facts.code_bytes),
                     facts.mma_f32 + facts.mma_f16 + facts.wgmma_f32 + facts.wgmma_f16);
}

bool Passed(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
}

// "1830 MHz, 412 W, clocks held down by power_cap, settled, 2 rounds discarded"; empty where nothing was timed.
std::string ConditionsText(const RunConditions& conditions) {
  std::vector<std::string> parts;
  if (conditions.sm_clock_mhz > 0)
    parts.push_back(fmt::format("{} MHz, {:.0f} W", conditions.sm_clock_mhz, conditions.power_watts));
  if (!conditions.limits.empty()) parts.push_back("clocks held down by " + Print(conditions.limits));
  if (conditions.in_steady_state) parts.emplace_back("settled");
  if (conditions.discarded_batches > 0)
    parts.push_back(fmt::format("{} discarded", Plural(conditions.discarded_batches, "round")));
  return Join(parts, ", ");
}

std::string VerdictText(const Outcome& outcome, const Terminal& terminal) {
  const bool passed = Passed(outcome);
  std::string text = Tinted(Name(outcome.kind), passed ? Tint::kGreen : Tint::kRed, terminal);
  if (!passed) text += fmt::format(" at {}: {}", outcome.stage, outcome.reason);
  text += "\n";
  const Verdict& verdict = outcome.verdict;
  if (!verdict.test.empty()) text += fmt::format("  failed test  {}: {}\n", verdict.test, verdict.explanation);
  if (verdict.passed) {
    text += fmt::format("  correct      max abs error {:.3g} (baselines {:.3g}), relative error {:.3g}\n",
                        verdict.max_abs_error, verdict.baseline_max_abs_error, verdict.relative_error);
  }
  for (const auto& [baseline, algorithm] : outcome.baseline_algorithms) {
    text += fmt::format("  baseline     {}: {}\n", baseline, algorithm);
  }
  if (const std::string conditions = ConditionsText(outcome.conditions); !conditions.empty())
    text += fmt::format("  conditions   {}\n", conditions);
  if (const Result<Recipe> recipe = ParseRecipe(outcome.recipe); recipe.ok())
    for (const auto& step : recipe->steps)
      if (const auto* const kernel = std::get_if<KernelStep>(&step))
        text += fmt::format("  launches     {}\n", kernel->kernel);
  if (outcome.facts.instructions > 0) text += fmt::format("  binary       {}\n", FactsLine(outcome.facts));
  return text;
}

std::string PrintText(const EvaluateCommand& command, const Instrument& instrument, const Outcome& outcome,
                      const Terminal& terminal) {
  return fmt::format(
      "{}\non {}\njudged in the {} protocol by {}\n\n{}{}", Tinted(SubjectText(command.subject), Tint::kBold, terminal),
      Print(command.gemm), Name(outcome.protocol),
      instrument.live() ? instrument.Describe() : fmt::format("the {} (no GPU was used)", instrument.Describe()),
      VerdictText(outcome, terminal),
      TimesTable(outcome, terminal) + EnergyTable(outcome, command.gemm.shape, terminal) +
          CountersText(outcome.counters, terminal));
}

std::string JsonText(const EvaluateCommand& command, const Instrument& instrument, const Outcome& outcome) {
  Json json = {{"command", "evaluate"},
               {"plan", IsPlan(command.subject) ? Json(CanonicalText(command.subject)) : Json()},
               {"source", IsPlan(command.subject) ? Json() : Json(CanonicalText(command.subject))},
               {"problem", JsonOf(command.gemm)},
               {"replayed", !instrument.live()},
               {"recorded_date", instrument.live() ? Json() : Json(instrument.recording->Date())},
               {"setting", JsonOf(instrument.evaluator->setting())}};
  json.update(JsonOf(outcome));
  return PrintJson(json);
}

const Trial* RecordedTrial(const EvaluateCommand& command, const Recording& recording) {
  return recording.Find(command.gemm, std::get<Plan>(command.subject));
}

Status NotRecorded(const EvaluateCommand& command, const Recording& recording) {
  const std::string plan = SubjectText(command.subject);
  if (const Trial* trial = RecordedTrial(command, recording)) {
    return NotFound(fmt::format("'{}' on {} was recorded on the {} in the {} protocol only", plan, Print(command.gemm),
                                recording.setting().device_name, Name(trial->outcome.protocol)));
  }
  return NotFound(fmt::format("'{}' on {} was not recorded on the {}; {} there have records", plan, Print(command.gemm),
                              recording.setting().device_name,
                              Plural(int64_t(recording.SpaceFor(command.gemm).size()), "plan")));
}

Status NoRecordOfSources(const Instrument& instrument) {
  return Unavailable(fmt::format("a .cu source needs a GPU: a recording answers for plans only{}",
                                 instrument.reason.empty() ? "" : fmt::format(" ({})", instrument.reason)));
}

Status NoCountersRecorded(const Instrument& instrument) {
  return NotFound(fmt::format("no counters were recorded with it; --counters needs a GPU{}",
                              instrument.reason.empty() ? "" : fmt::format(" ({})", instrument.reason)));
}

ClockSet ClocksFor(const EvaluateCommand& command, Protocol protocol) {
  if (command.clocks) return *command.clocks;
  return protocol == Protocol::kShort ? ClockSet{Clock::kDeviceCold, Clock::kOffline} : ClockSet{Clock::kDeviceCold};
}

Protocol ProtocolFor(const EvaluateCommand& command, const Instrument& instrument) {
  if (command.protocol) return *command.protocol;
  const Trial* trial = instrument.live() ? nullptr : RecordedTrial(command, *instrument.recording);
  return trial == nullptr ? Protocol::kShort : trial->outcome.protocol;
}

}  // namespace

Result<int> Run(const EvaluateCommand& command) {
  ASSIGN_OR_RETURN(Instrument instrument, OpenInstrument(command.device));
  if (!IsPlan(command.subject)) {
    if (!instrument.live()) return NoRecordOfSources(instrument);
    RETURN_IF_ERROR(OpenSources(instrument));
  }
  const Protocol protocol = ProtocolFor(command, instrument);
  const EvaluationRequest request{{.gemm = command.gemm,
                                   .protocol = protocol,
                                   .clocks = ClocksFor(command, protocol),
                                   .seed = command.seed,
                                   .counters = command.counters},
                                  command.subject};
  PreparedCandidate candidate;
  if (instrument.live()) {
    ASSIGN_OR_RETURN(candidate, Prepare(request, instrument.evaluator->device(), *instrument.compiler,
                                        instrument.source_compiler.get()));
  }
  Outcome outcome;
  if (candidate.ended) {
    outcome = *candidate.ended;
  } else {
    Result<Outcome> judged = instrument.evaluator->Evaluate(request, candidate);
    if (!instrument.live() && judged.status().code() == StatusCode::kNotFound)
      return NotRecorded(command, *instrument.recording);
    ASSIGN_OR_RETURN(outcome, std::move(judged));
  }
  if (command.counters && !instrument.live() && !outcome.counters) return NoCountersRecorded(instrument);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(command, instrument, outcome)
                                        : PrintText(command, instrument, outcome, DescribeTerminal(STDOUT_FILENO))));
  return Passed(outcome) ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
