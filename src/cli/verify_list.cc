#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/interrupt.h"
#include "base/seconds.h"
#include "base/text.h"
#include "certify/certification_round.h"
#include "certify/memcheck.h"
#include "cli/exit.h"
#include "cli/plan_lines.h"
#include "cli/progress.h"
#include "cli/verify.h"
#include "ship/deadline.h"
#include "ship/proofs.h"
#include "workflow/instrument.h"
#include "workflow/winners.h"

namespace gemmsmith {

namespace {

Result<std::vector<PlannedGemm>> PairsIn(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::vector<PlanLine> lines, ReadPlansOfProblems(path));
  std::vector<PlannedGemm> pairs;
  for (const PlanLine& line : lines) pairs.push_back({*line.gemm, line.plan});
  return pairs;
}

Result<std::vector<PlannedGemm>> EntriesToProve(const VerifyCommand& command) {
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
  const Proof wanted = command.memcheck ? Proof::kMemchecked : Proof::kCertified;
  std::vector<PlannedGemm> pairs;
  for (const auto& [gemm, entry] : catalogue.entries())
    if (command.again || entry.proof < wanted) pairs.push_back({gemm, entry.plan});
  if (const size_t proven = catalogue.entries().size() - pairs.size(); proven > 0)
    WriteNote(fmt::format("{}: {} already: {}; --again judges them, too", command.catalogue.string(), Name(wanted),
                          Plural(int64_t(proven), "kernel")));
  return pairs;
}

std::filesystem::path JournalOf(const VerifyCommand& command) {
  if (!command.journal.empty()) return command.journal;
  std::filesystem::path path = command.archive.empty() ? DefaultArchivePath() : command.archive;
  return path.replace_extension(".certificates");
}

bool Passed(const Certificate& certificate) { return certificate.outcome == Name(OutcomeKind::kVerified); }

std::vector<Certificate> RefusedIn(const CertificationRound& round) {
  std::vector<Certificate> refused;
  std::ranges::copy_if(round.certificates, std::back_inserter(refused), std::not_fn(Passed));
  return refused;
}

std::string PrintText(const CertificationRound& round, const std::string& journal) {
  std::string text;
  const std::vector<Certificate> refused = RefusedIn(round);
  for (const Certificate& certificate : refused)
    text += fmt::format("{} | {}\n  {}: {}\n", certificate.problem, certificate.plan, certificate.outcome,
                        certificate.reason);
  return text + fmt::format("{} certified, {} refused, {} judged before, {} left, {} failed; the journal is {}\n",
                            round.certificates.size() - refused.size(), refused.size(), round.found, round.left,
                            round.failures.size(), journal);
}

std::string JsonText(const CertificationRound& round, const std::string& journal) {
  Json list = Json::array();
  for (const Certificate& certificate : RefusedIn(round))
    list.push_back({{"problem", certificate.problem},
                    {"plan", certificate.plan},
                    {"outcome", certificate.outcome},
                    {"reason", certificate.reason}});
  return PrintJson({{"command", "verify"},
                    {"journal", journal},
                    {"certified", round.certificates.size() - list.size()},
                    {"refused", list.size()},
                    {"found", round.found},
                    {"left", round.left},
                    {"failed", round.failures.size()},
                    {"refusals", list}});
}

// Somebody else may hold the catalogue by now, and the disk may be full: what was found is in the journal all the same.
Status WriteInto(const std::filesystem::path& catalogue, const CertificateJournal& journal, const std::string& path) {
  const Result<ProofChanges> changes = ApplyCertificates(catalogue, journal.certificates());
  if (!changes.ok())
    return Status(changes.status().code(), fmt::format("{}; later, 'gemmsmith catalogue prove {} {}' writes it there",
                                                       changes.status().message(), catalogue.string(), path));
  WriteNote(fmt::format("{}: {}", catalogue.string(), Print(*changes)));
  return OkStatus();
}

}  // namespace

Result<std::vector<PlannedGemm>> PairsOf(const VerifyCommand& command) {
  return command.catalogue.empty() ? PairsIn(command.pairs) : EntriesToProve(command);
}

Result<std::vector<PlannedGemm>> WinnersToVerify(const Archive& archive, const Device& device) {
  ASSIGN_OR_RETURN(const BestPlans best, WinnersIn(archive, device.key));
  if (best.size() == 0) return NotFound(fmt::format("the archive holds no plan that was timed on an {}", device.name));
  return best.All();
}

Result<int> VerifyList(const VerifyCommand& command, const std::vector<PlannedGemm>& pairs,
                       const std::vector<int>& gpus) {
  WatchForInterrupts();
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const Instrument instrument, OpenGpus(command.device));
  const std::string path = JournalOf(command).string();
  ASSIGN_OR_RETURN(CertificateJournal journal, CertificateJournal::Open(path));
  Deadline deadline(command.limit_seconds);
  WatchCalls watch;
  if (command.memcheck)
    watch = [&](size_t worker, std::span<const Candidate> candidates) {
      const auto begun = std::chrono::steady_clock::now();
      std::vector<MemcheckResult> results =
          RunMemcheckTogether(candidates, instrument.evaluator->device(), {.gpu_ordinal = gpus[worker]});
      deadline.AddCall(SecondsSince(begun));
      return results;
    };
  CertificationRound round;
  {
    Progress progress("certifying", int64_t(pairs.size()));
    const std::unique_ptr<StopRule> stop =
        StopWhen([&] { return InterruptArrived() || deadline.Passed(SecondsSince(start)); }, "over");
    round = CertifyAll(pairs, journal, instrument.Evaluators(), *instrument.compiler, watch, command.seed, *stop,
                       [&](size_t begun, const Gemm& gemm) { progress.Update(int64_t(begun), Print(gemm)); });
  }
  for (const auto& [gemm, status] : round.failures)
    WriteNote(fmt::format("{} could not be judged: {}", Print(gemm), status.message()));
  Status applied;
  if (!command.catalogue.empty()) applied = WriteInto(command.catalogue, journal, path);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(round, path) : PrintText(round, path)));
  RETURN_IF_ERROR(applied);
  RETURN_IF_ERROR(round.failure);
  if (InterruptArrived()) return kExitInterrupted;
  if (!round.failures.empty()) return round.failures.front().second;
  return RefusedIn(round).empty() ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
