#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>

#include "base/files.h"
#include "base/seconds.h"
#include "base/text.h"
#include "campaign/interrupt.h"
#include "cli/exit.h"
#include "cli/instrument.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "cli/verify.h"
#include "cli/winners.h"
#include "evaluate/verify/memcheck.h"
#include "ship/certification_round.h"
#include "ship/closing_time.h"
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

}  // namespace

Result<std::vector<PlannedGemm>> PairsOf(const VerifyCommand& command) {
  if (!command.catalogue.empty()) {
    return EntriesToProve(command);
  }
  if (!command.winners) return PairsIn(command.pairs);
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  ASSIGN_OR_RETURN(const BestPlans best, WinnersIn(*archive));
  return best.All();
}

Result<int> VerifyList(const VerifyCommand& command, const std::vector<PlannedGemm>& pairs,
                       const std::vector<int>& gpus) {
  WatchForInterrupts();
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const Instrument instrument, OpenGpus(command.device));
  const std::string path = JournalOf(command).string();
  ASSIGN_OR_RETURN(CertificateJournal journal, CertificateJournal::Open(path));
  ClosingTime closing(command.limit_seconds);
  WatchCalls watch;
  if (command.memcheck)
    watch = [&](size_t lane, std::span<const Contender> contenders) {
      const auto begun = std::chrono::steady_clock::now();
      std::vector<MemcheckResult> results =
          RunMemcheckTogether(contenders, instrument.evaluator->device(), {.gpu_ordinal = gpus[lane]});
      closing.Took(SecondsSince(begun));
      return results;
    };
  CertificationRound round;
  {
    Progress progress("certifying", int64_t(pairs.size()));
    const LaneHooks hooks = {
        .is_over = [&] { return InterruptArrived() || closing.HasCome(SecondsSince(start)); },
        .on_begin = [&](size_t begun, const Gemm& gemm) { progress.Update(int64_t(begun), Print(gemm)); }};
    round = CertifyAll(pairs, journal, instrument.Evaluators(), *instrument.compiler, watch, command.seed, hooks);
  }
  for (const auto& [gemm, status] : round.failures)
    WriteNote(fmt::format("{} could not be judged: {}", Print(gemm), status.message()));
  if (!command.catalogue.empty()) {
    ASSIGN_OR_RETURN(const ProofChanges changes, ApplyCertificates(command.catalogue, journal.certificates()));
    WriteNote(fmt::format("{}: {}", command.catalogue.string(), Print(changes)));
  }
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(round, path) : PrintText(round, path)));
  RETURN_IF_ERROR(round.world);
  if (InterruptArrived()) return kExitInterrupted;
  if (!round.failures.empty()) return round.failures.front().second;
  return RefusedIn(round).empty() ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
