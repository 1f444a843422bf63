#include "cli/verify_cases.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/installation.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "compile/source_program.h"
#include "workflow/instrument.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

// Of the corpora of the source tree, then of the folders that were asked for.
Result<std::vector<Case>> ReadWantedCases(const SelfTestCommand& command) {
  std::vector<fs::path> folders;
  for (const char* corpus : {"tests/broken_kernels", "tests/honest_kernels"}) {
    const std::vector<fs::path> places = OwnFolders(corpus);
    std::error_code error;
    const auto found = std::find_if(places.begin(), places.end(),
                                    [&](const fs::path& place) { return fs::is_directory(place, error); });
    if (found == places.end())
      return NotFound(fmt::format("no {} beside this program or in {}; run it in a source tree", corpus,
                                  places.back().parent_path().string()));
    folders.push_back(*found);
  }
  folders.insert(folders.end(), command.cases.begin(), command.cases.end());
  std::vector<Case> cases;
  for (const fs::path& folder : folders) {
    ASSIGN_OR_RETURN(std::vector<Case> read, ReadCases(folder));
    std::move(read.begin(), read.end(), std::back_inserter(cases));
  }
  const bool is_class =
      std::any_of(cases.begin(), cases.end(), [&](const Case& one) { return one.kind == command.only; });
  std::erase_if(cases, [&](const Case& one) {
    return is_class ? one.kind != command.only : one.name.find(command.only) == std::string::npos;
  });
  if (cases.empty())
    return NotFound(fmt::format("no case has '{}' in its name, and it is no class of cases", command.only));
  return cases;
}

std::string ExpectedText(const Case& tested) {
  if (tested.is_honest()) return "passes";
  std::vector<std::string> names;
  for (const OutcomeKind kind : tested.expected) names.emplace_back(Name(kind));
  return Join(names, "|");
}

// One word where all seeds gave the same, else one for each.
std::string OfAllSeeds(const CaseReport& report, const std::function<std::string(const Outcome&)>& text) {
  std::vector<std::string> words;
  for (const Sighting& sighting : report.seen) words.push_back(text(sighting.outcome));
  const bool same = std::equal(words.begin() + !words.empty(), words.end(), words.begin());
  return same && !words.empty() ? words.front() : Join(words, ", ");
}

std::string SeenText(const CaseReport& report) {
  if (!report.why_not.empty()) return std::string(Name(report.verdict));
  return OfAllSeeds(report, [](const Outcome& outcome) { return std::string(Name(outcome.kind)); });
}

std::string CaughtByText(const CaseReport& report) {
  return OfAllSeeds(report, [](const Outcome& outcome) {
    const bool passed = outcome.kind == OutcomeKind::kMeasured || outcome.kind == OutcomeKind::kVerified;
    return passed ? std::string("-") : CaughtBy(outcome);
  });
}

std::string MatrixText(std::span<const CaseReport> reports, const Terminal& terminal) {
  using enum Table::Align;
  Table table({{"class"}, {"case"}, {"expected"}, {"seen"}, {"caught by"}, {"time", kRight}, {"fault or style"}});
  for (const CaseReport& report : reports) {
    const Case& tested = *report.tested;
    table.Add({tested.kind, tested.name, ExpectedText(tested), SeenText(report), CaughtByText(report),
               fmt::format("{:.1f} s", report.seconds), tested.subject});
  }
  return table.Print(terminal);
}

// What a reader must look at: every case that is not as expected, with what was seen.
std::string ComplaintsText(std::span<const CaseReport> reports, const Terminal& terminal) {
  std::string text;
  for (const CaseReport& report : reports) {
    if (report.verdict == CaseVerdict::kAsExpected || report.verdict == CaseVerdict::kSkipped) continue;
    text += fmt::format("\n{} {}: {}\n", Tinted(Name(report.verdict), Tint::kRed, terminal), report.tested->name,
                        report.tested->subject);
    if (!report.why_not.empty()) text += fmt::format("  {}\n", report.why_not);
    for (const Sighting& sighting : report.seen) {
      const Outcome& outcome = sighting.outcome;
      text += fmt::format("  seed {}: {}{}{}\n", sighting.seed, Name(outcome.kind),
                          outcome.reason.empty() ? "" : " at " + CaughtBy(outcome) + ": ", outcome.reason);
    }
  }
  return text;
}

std::string SummaryText(const SelfTestCounts& counts, int seeds, const Terminal& terminal) {
  std::string text = fmt::format(
      "\n{} of {} caught as expected, {} caught otherwise, {} missed; {} of {} passed, {}; {}", counts.caught,
      Plural(counts.broken, "broken kernel"), counts.caught_otherwise, counts.missed, counts.passed,
      Plural(counts.honest, "honest kernel"), Plural(counts.false_alarms, "false alarm"), Plural(seeds, "seed"));
  if (counts.skipped > 0) text += fmt::format("; {} skipped for want of CUTLASS", counts.skipped);
  if (counts.not_judged > 0) text += fmt::format("; {} not judged", counts.not_judged);
  return Tinted(text, counts.AllAsExpected() ? Tint::kGreen : Tint::kRed, terminal) + "\n";
}

Json JsonOf(const Sighting& sighting) {
  return {{"seed", sighting.seed},
          {"outcome", Name(sighting.outcome.kind)},
          {"stage", sighting.outcome.stage},
          {"test", sighting.outcome.verdict.test},
          {"reason", sighting.outcome.reason}};
}

Json JsonOf(const CaseReport& report) {
  const Case& tested = *report.tested;
  Json expected = Json::array(), seen = Json::array();
  for (const OutcomeKind kind : tested.expected) expected.push_back(Name(kind));
  for (const Sighting& sighting : report.seen) seen.push_back(JsonOf(sighting));
  return {{"case", tested.name},
          {"class", tested.kind},
          {"honest", tested.is_honest()},
          {"subject", tested.subject},
          {"problem", Print(tested.gemm)},
          {"expected", std::move(expected)},
          {"verdict", Name(report.verdict)},
          {"why_not", report.why_not},
          {"seconds", report.seconds},
          {"seen", std::move(seen)}};
}

}  // namespace

std::string SelfTestText(std::span<const CaseReport> reports, int seeds, const Terminal& terminal) {
  return MatrixText(reports, terminal) + ComplaintsText(reports, terminal) +
         SummaryText(Count(reports), seeds, terminal);
}

Json SelfTestJson(std::span<const CaseReport> reports, int seeds) {
  const SelfTestCounts counts = Count(reports);
  Json cases = Json::array();
  for (const CaseReport& report : reports) cases.push_back(JsonOf(report));
  return {{"all_as_expected", counts.AllAsExpected()},
          {"seeds", seeds},
          {"broken", counts.broken},
          {"caught", counts.caught},
          {"caught_otherwise", counts.caught_otherwise},
          {"missed", counts.missed},
          {"honest", counts.honest},
          {"passed", counts.passed},
          {"false_alarms", counts.false_alarms},
          {"skipped", counts.skipped},
          {"not_judged", counts.not_judged},
          {"cases", std::move(cases)}};
}

Result<int> Run(const SelfTestCommand& command) {
  WatchForInterrupts();
  // Wrong cases are told before a GPU is looked for.
  ASSIGN_OR_RETURN(const std::vector<Case> cases, ReadWantedCases(command));
  if (command.device != "all" && !AsksForAGpu(command.device))
    return Unavailable("a recording tests nothing: verify --self-test needs a GPU");
  ASSIGN_OR_RETURN(const std::vector<int> gpus, FindGpus(command.device));
  std::vector<Instrument> instruments;
  std::vector<Evaluator*> evaluators;
  for (const int gpu : gpus) {
    ASSIGN_OR_RETURN(instruments.emplace_back(), OpenLiveInstrument(gpu));
    evaluators.push_back(instruments.back().evaluator.get());
  }
  Instrument& instrument = instruments.front();
  RETURN_IF_ERROR(OpenSources(instrument));
  const SelfTestOptions options{.seeds = command.seeds, .has_cutlass = !CutlassIncludes().empty()};
  const std::unique_ptr<StopRule> stop = StopOnInterrupt();
  Result<std::vector<CaseReport>> reports = [&] {
    Progress progress("self-test", int64_t(cases.size()) * (1 + command.seeds));
    return RunSelfTest(
        cases, options, evaluators,
        [&](const EvaluationRequest& request) {
          return Prepare(request, instrument.evaluator->device(), *instrument.compiler,
                         instrument.source_compiler.get());
        },
        *stop,
        [&](const Case& now, std::optional<uint64_t> seed, int done, int) {
          progress.Update(done, seed ? fmt::format("{}, seed {}", now.name, *seed) : "building " + now.name);
        });
  }();
  if (!reports.ok()) return reports.status();

  std::string answer;
  if (command.json) {
    Json json = {{"command", "verify"}, {"self_test", true}, {"setting", JsonOf(instrument.evaluator->setting())}};
    json.update(SelfTestJson(*reports, command.seeds));
    answer = PrintJson(json);
  } else {
    answer = SelfTestText(*reports, command.seeds, DescribeTerminal(STDOUT_FILENO));
  }
  RETURN_IF_ERROR(WriteOut(answer));
  if (InterruptArrived()) return kExitInterrupted;
  return Count(*reports).AllAsExpected() ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
