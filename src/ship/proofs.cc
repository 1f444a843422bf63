#include "ship/proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "evaluate/outcome.h"
#include "ship/catalogue_lock.h"

namespace gemmsmith {

namespace {

// What certificates of one kernel come to.
struct Finding {
  std::optional<Proof> proof;  // nothing: refused

  void Take(const Certificate& certificate) {
    if (certificate.outcome != Name(OutcomeKind::kVerified)) return proof.reset();
    const Proof found = certificate.memchecked ? Proof::kMemchecked : Proof::kCertified;
    proof = std::max(proof.value_or(found), found);
  }
};

}  // namespace

std::string Print(const ProofChanges& changes) {
  return fmt::format("{} proven further, {} withdrawn", Plural(changes.raised, "kernel"), CountText(changes.withdrawn));
}

Result<ProofChanges> ApplyCertificates(const std::filesystem::path& path, std::span<const Certificate> certificates) {
  ASSIGN_OR_RETURN(const FileLock lock, LockCatalogue(path));
  ASSIGN_OR_RETURN(Catalogue catalogue, Catalogue::Read(path));
  std::map<std::pair<std::string, std::string>, Finding> findings;
  for (const Certificate& certificate : certificates)
    if (certificate.device == catalogue.device_key())
      findings[{certificate.problem, certificate.plan}].Take(certificate);
  ProofChanges changes;
  const std::map<Gemm, Entry> entries = catalogue.entries();
  for (const auto& [gemm, entry] : entries) {
    const auto found = findings.find({Print(gemm), Print(entry.plan)});
    if (found == findings.end()) continue;
    const std::optional<Proof> proof = found->second.proof;
    if (!proof) {
      catalogue.Withdraw(gemm);
      ++changes.withdrawn;
    } else if (*proof > entry.proof) {
      Entry proven = entry;
      proven.proof = *proof;
      catalogue.Put(std::move(proven));
      ++changes.raised;
    }
  }
  if (changes.raised + changes.withdrawn > 0) RETURN_IF_ERROR(WriteFileAtomic(path, catalogue.Print()));
  return changes;
}

}  // namespace gemmsmith
