#include "cli/verify.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/text.h"
#include "certify/memcheck.h"
#include "cli/exit.h"
#include "cli/readers.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "gpu/gpu.h"
#include "workflow/instrument.h"

namespace gemmsmith {

namespace {

struct Verification {
  Outcome outcome;
  bool memchecked = false;
};

bool IsVerified(const Outcome& outcome) { return outcome.kind == OutcomeKind::kVerified; }

std::string MachineCodeText(const CodeFacts& facts) {
  return fmt::format("{} wgmma and {} mma in f32, {} and {} in f16; {} registers, {} local", facts.wgmma_f32,
                     facts.mma_f32, facts.wgmma_f16, facts.mma_f16, facts.registers, BytesText(facts.local_bytes));
}

std::string ResultText(bool passed, const Terminal& terminal) {
  return Tinted(passed ? "passed" : "failed", passed ? Tint::kGreen : Tint::kRed, terminal);
}

// What could be looked at before anything ran, the tests, and the tool.
std::string TestsTable(const Verification& verification, const Terminal& terminal) {
  using enum Table::Align;
  const Outcome& outcome = verification.outcome;
  Table table({{"test"}, {"largest error", kRight}, {"bound", kRight}, {"seconds", kRight}, {"result"}});
  if (outcome.facts.instructions > 0)
    table.Add({"machine code", "", "", "", ResultText(outcome.stage != "resources", terminal)});
  for (const TestRecord& test : outcome.verdict.tests)
    table.Add({test.test, fmt::format("{:.3g}", test.max_abs_error),
               test.bound > 0 ? fmt::format("{:.3g}", test.bound) : std::string("none"),
               fmt::format("{:.3f}", test.seconds), ResultText(test.passed, terminal)});
  if (outcome.stage == "memcheck" || verification.memchecked)
    table.Add({"memcheck", "", "", "", ResultText(outcome.stage != "memcheck", terminal)});
  return table.empty() ? "" : table.Print(terminal) + "\n";
}

std::string PrintText(const VerifyCommand& command, const Instrument& instrument, const Verification& verification,
                      const Terminal& terminal) {
  const Outcome& outcome = verification.outcome;
  std::string text = fmt::format("{}\non {}\nput to its tests on {}\n\n{}",
                                 Tinted(SubjectText(*command.subject), Tint::kBold, terminal), Print(command.gemm),
                                 instrument.Describe(), TestsTable(verification, terminal));
  text += Tinted(Name(outcome.kind), IsVerified(outcome) ? Tint::kGreen : Tint::kRed, terminal);
  if (!IsVerified(outcome)) text += fmt::format(" at {}: {}", outcome.stage, outcome.reason);
  text += "\n";
  if (outcome.facts.instructions > 0) text += fmt::format("  machine code  {}\n", MachineCodeText(outcome.facts));
  if (outcome.verdict.baseline_max_abs_error > 0)
    text += fmt::format("  baselines     largest error {:.3g}; ours {:.3g} is {} that\n",
                        outcome.verdict.baseline_max_abs_error, outcome.verdict.max_abs_error,
                        outcome.verdict.IsWithinBaselines() ? "within" : "above");
  return text;
}

Json JsonOf(const TestRecord& test) {
  return {{"test", test.test},
          {"passed", test.passed},
          {"max_abs_error", test.max_abs_error},
          {"bound", test.bound},
          {"seconds", test.seconds}};
}

std::string JsonText(const VerifyCommand& command, const Instrument& instrument, const Verification& verification) {
  Json tests = Json::array();
  for (const TestRecord& test : verification.outcome.verdict.tests) tests.push_back(JsonOf(test));
  Json json = {{"command", "verify"},
               {"subject", CanonicalText(*command.subject)},
               {"problem", JsonOf(command.gemm)},
               {"setting", JsonOf(instrument.evaluator->setting())},
               {"passed", IsVerified(verification.outcome)},
               {"tests", tests},
               {"memchecked", verification.memchecked}};
  json.update(JsonOf(verification.outcome));
  return PrintJson(json);
}

// The candidate's tests, then memcheck where it is wanted and the tests were passed.
Result<Verification> Verify(const VerifyCommand& command, int gpu, const Instrument& instrument) {
  const EvaluationRequest request{{.gemm = command.gemm,
                                   .protocol = Protocol::kShort,
                                   .seed = command.seed,
                                   .time = false,
                                   .tests = command.tests,
                                   .certify = command.certify},
                                  *command.subject};
  const Device& device = instrument.evaluator->device();
  ASSIGN_OR_RETURN(const PreparedCandidate candidate,
                   Prepare(request, device, *instrument.compiler, instrument.source_compiler.get()));
  Verification verification;
  if (candidate.ended) {
    verification.outcome = *candidate.ended;
    return verification;
  }
  ASSIGN_OR_RETURN(verification.outcome, instrument.evaluator->Evaluate(request, candidate));
  if (IsPlan(*command.subject) && IsVerified(verification.outcome) && verification.outcome.verdict.tests.empty())
    return InvalidArgument(
        "none of these tests applies here, so nothing was tested: baseline_bounded and certified need --certify, chain "
        "needs a plan with a trigger");
  if (!command.memcheck || !IsVerified(verification.outcome)) return verification;
  ASSIGN_OR_RETURN(std::optional<Outcome> errors, RunMemcheck({request, candidate}, device, {.gpu_ordinal = gpu}));
  verification.memchecked = true;
  if (!errors) return verification;
  errors->verdict = verification.outcome.verdict;
  verification.outcome = *std::move(errors);
  return verification;
}

// Not through OpenInstrument(): no recording tests anything.
Result<std::vector<int>> GpusFor(const std::string& device) {
  const std::string hint = "verify needs a GPU: a recording tests nothing";
  if (device != "all" && !AsksForAGpu(device)) return Unavailable(hint);
  Result<std::vector<int>> gpus = FindGpus(device);
  if (!gpus.ok()) return Unavailable(fmt::format("{} ({})", hint, gpus.status().message()));
  return gpus;
}

}  // namespace

Result<int> Run(const VerifyCommand& command) {
  std::vector<PlannedGemm> pairs;
  std::unique_ptr<Archive> archive;
  if (command.winners) {
    ASSIGN_OR_RETURN(archive, OpenArchiveToRead(command.archive));
  } else if (!command.subject) {
    ASSIGN_OR_RETURN(pairs, PairsOf(command));
  } else if (command.device == "all") {
    return InvalidArgument("one GPU verifies a plan: --device all is for lists and for the self-test");
  }
  ASSIGN_OR_RETURN(const std::vector<int> gpus, GpusFor(command.device));
  if (command.memcheck) RETURN_IF_ERROR(FindMemcheck().status());
  if (command.winners) {
    ASSIGN_OR_RETURN(const std::vector<GpuIdentity> all, ListGpus());
    ASSIGN_OR_RETURN(pairs, WinnersToVerify(*archive, all[size_t(gpus.front())].device));
  }
  if (!command.subject) return VerifyList(command, pairs, gpus);
  const int gpu = gpus.front();
  ASSIGN_OR_RETURN(Instrument instrument, OpenLiveInstrument(gpu));
  if (!IsPlan(*command.subject)) RETURN_IF_ERROR(OpenSources(instrument));
  ASSIGN_OR_RETURN(const Verification verification, Verify(command, gpu, instrument));
  RETURN_IF_ERROR(WriteOut(command.json
                               ? JsonText(command, instrument, verification)
                               : PrintText(command, instrument, verification, DescribeTerminal(STDOUT_FILENO))));
  return IsVerified(verification.outcome) ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
