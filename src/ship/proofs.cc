#include "ship/proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "outcome/outcome.h"
#include "ship/catalogue_lock.h"

namespace gemmsmith {

namespace {

// The combined certificates of one kernel.
struct Finding {
  std::optional<Proof> proof;  // nothing: refused
  bool was_refused = false;    // so what the entry is said to be was found before

  void Add(const Certificate& certificate) {
    if (certificate.outcome != Name(OutcomeKind::kVerified)) {
      was_refused = true;
      return proof.reset();
    }
    const Proof found = certificate.memchecked ? Proof::kMemchecked : Proof::kCertified;
    proof = std::max(proof.value_or(found), found);
  }
};

// With the words of today: parameters that came later stand as they are usual.
std::string PrintedAnew(const std::string& plan) {
  const Result<Plan> read = ParsePlan(plan);
  return read.ok() ? Print(*read) : plan;
}

}  // namespace

std::string Print(const ProofChanges& changes) {
  return fmt::format("{} proven further, {}{} withdrawn", Plural(changes.raised, "kernel"),
                     changes.lowered > 0 ? CountText(changes.lowered) + " less far than they were, " : "",
                     CountText(changes.withdrawn));
}

Result<ProofChanges> ApplyCertificates(const std::filesystem::path& path, std::span<const Certificate> certificates) {
  ASSIGN_OR_RETURN(const FileLock lock, LockCatalogue(path));
  ASSIGN_OR_RETURN(Catalogue catalogue, Catalogue::Read(path));
  std::map<std::pair<std::string, std::string>, Finding> findings;
  for (const Certificate& certificate : certificates)
    if (certificate.device == catalogue.device_key())
      findings[{certificate.problem, PrintedAnew(certificate.plan)}].Add(certificate);
  ProofChanges changes;
  const std::map<Gemm, Entry> entries = catalogue.entries();
  for (const auto& [gemm, entry] : entries) {
    const auto found = findings.find({Print(gemm), Print(entry.plan)});
    if (found == findings.end()) continue;
    const std::optional<Proof> proof = found->second.proof;
    if (!proof) {
      catalogue.Withdraw(gemm);
      ++changes.withdrawn;
    } else if (*proof > entry.proof || (found->second.was_refused && *proof < entry.proof)) {
      ++(*proof > entry.proof ? changes.raised : changes.lowered);
      Entry proven = entry;
      proven.proof = *proof;
      catalogue.Put(std::move(proven));
    }
  }
  if (changes.raised + changes.lowered + changes.withdrawn > 0)
    RETURN_IF_ERROR(WriteFileAtomic(path, catalogue.Print()));
  return changes;
}

}  // namespace gemmsmith
