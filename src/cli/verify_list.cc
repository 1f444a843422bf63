#include <fmt/format.h>

#include <chrono>

#include "base/files.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "cli/verify.h"
#include "cli/winners.h"
#include "evaluate/verify/certificate_journal.h"
#include "ship/proofs.h"

namespace gemmsmith {

namespace {

// "gemm 256x512x4096 tn f16 f32 | direct tile_m=32 ..." a line; '#' begins a comment.
Result<std::vector<PlannedGemm>> PairsIn(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<PlannedGemm> pairs;
  int number = 0;
  for (const std::string_view whole : Split(text, '\n')) {
    ++number;
    const std::string_view line = whole.substr(0, whole.find('#'));
    if (SplitWords(line).empty()) continue;
    const size_t bar = line.find('|');
    std::vector<std::string> words;
    for (const std::string_view word : SplitWords(line.substr(0, bar))) words.emplace_back(word);
    const Result<Gemm> gemm = ParseGemm(Join(words, " "));
    const Result<Plan> plan = ParsePlan(bar == line.npos ? "" : line.substr(bar + 1));
    const Status wrong = bar == line.npos ? InvalidArgument("no '|'") : gemm.ok() ? plan.status() : gemm.status();
    if (!wrong.ok())
      return InvalidArgument(
          fmt::format("line {} of {} is not PROBLEM | PLAN: {}", number, path.string(), wrong.message()));
    pairs.push_back({*gemm, *plan});
  }
  return pairs;
}

std::filesystem::path JournalOf(const VerifyCommand& command) {
  if (!command.journal.empty()) return command.journal;
  std::filesystem::path path = command.archive.empty() ? DefaultArchivePath() : command.archive;
  return path.replace_extension(".certificates");
}

Certificate WantedFor(const VerifyCommand& command, const PlannedGemm& pair, const Setting& setting) {
  Certificate wanted;
  wanted.problem = Print(pair.gemm), wanted.plan = Print(pair.plan);
  wanted.device = setting.device_key, wanted.harness = setting.harness;
  wanted.seed = command.seed, wanted.memchecked = command.memcheck;
  return wanted;
}

struct Tally {
  int64_t found = 0, passed = 0, refused = 0, failed = 0, left = 0;
};

std::string PrintText(const Tally& tally, const std::vector<Certificate>& refused, const std::string& journal) {
  std::string text;
  for (const Certificate& certificate : refused)
    text += fmt::format("{} | {}\n  {}: {}\n", certificate.problem, certificate.plan, certificate.outcome,
                        certificate.reason);
  return text + fmt::format("{} certified, {} refused, {} judged before, {} left, {} failed; the journal is {}\n",
                            tally.passed, tally.refused, tally.found, tally.left, tally.failed, journal);
}

std::string JsonText(const Tally& tally, const std::vector<Certificate>& refused, const std::string& journal) {
  Json list = Json::array();
  for (const Certificate& certificate : refused)
    list.push_back({{"problem", certificate.problem},
                    {"plan", certificate.plan},
                    {"outcome", certificate.outcome},
                    {"reason", certificate.reason}});
  return PrintJson({{"command", "verify"},
                    {"journal", journal},
                    {"certified", tally.passed},
                    {"refused", tally.refused},
                    {"found", tally.found},
                    {"left", tally.left},
                    {"failed", tally.failed},
                    {"refusals", list}});
}

}  // namespace

Result<std::vector<PlannedGemm>> PairsOf(const VerifyCommand& command) {
  if (!command.catalogue.empty()) {
    ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
    std::vector<PlannedGemm> pairs;
    for (const auto& [gemm, entry] : catalogue.entries()) pairs.push_back({gemm, entry.plan});
    return pairs;
  }
  if (!command.winners) return PairsIn(command.pairs);
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  ASSIGN_OR_RETURN(const BestPlans best, WinnersIn(*archive));
  return best.All();
}

Result<int> VerifyList(const VerifyCommand& command, const std::vector<PlannedGemm>& pairs, int gpu,
                       const Instrument& instrument) {
  ASSIGN_OR_RETURN(CertificateJournal journal, CertificateJournal::Open(JournalOf(command)));
  VerifyCommand certifying = command;
  certifying.certify = true;
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return command.limit_seconds && seconds.count() >= *command.limit_seconds;
  };
  Tally tally;
  bool failed_before = false;
  std::vector<Certificate> refused;
  {
    Progress progress("certifying", int64_t(pairs.size()));
    for (const PlannedGemm& pair : pairs) {
      Certificate certificate = WantedFor(command, pair, instrument.evaluator->setting());
      if (journal.Has(certificate)) {
        ++tally.found;
        continue;
      }
      if (is_over()) {
        ++tally.left;
        continue;
      }
      const Result<Verification> verified = VerifyCandidate(certifying, pair.gemm, pair.plan, gpu, instrument);
      if (!verified.ok()) {
        // One problem may be too large for this GPU; of two in a row the machine is the reason.
        if (failed_before) return verified.status();
        failed_before = true;
        ++tally.failed;
        WriteNote(fmt::format("{} could not be judged: {}", Print(pair.gemm), verified.status().message()));
        continue;
      }
      failed_before = false;
      const Outcome& outcome = verified->outcome;
      certificate.outcome = Name(outcome.kind);
      certificate.max_abs_error = outcome.verdict.max_abs_error;
      certificate.baseline_max_abs_error = outcome.verdict.baseline_max_abs_error;
      certificate.reason = outcome.reason;
      RETURN_IF_ERROR(journal.Append(certificate));
      const bool passed = outcome.kind == OutcomeKind::kVerified;
      ++(passed ? tally.passed : tally.refused);
      if (!passed) refused.push_back(certificate);
      progress.Update(tally.found + tally.passed + tally.refused, fmt::format("{} refused", tally.refused));
    }
  }
  if (!command.catalogue.empty()) {
    ASSIGN_OR_RETURN(const ProofChanges changes, ApplyCertificates(command.catalogue, journal.certificates()));
    WriteNote(fmt::format("{}: {} proven further, {} withdrawn", command.catalogue.string(),
                          Plural(changes.raised, "kernel"), changes.withdrawn));
  }
  const std::string path = JournalOf(command).string();
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(tally, refused, path) : PrintText(tally, refused, path)));
  return tally.refused > 0 ? kExitNoCandidate : kExitDone;
}

}  // namespace gemmsmith
