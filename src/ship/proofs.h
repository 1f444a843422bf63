// Writes the findings of certification into a catalogue: how far each entry is proven.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "catalogue/catalogue.h"
#include "certify/certificate_journal.h"

namespace gemmsmith {

struct ProofChanges {
  int raised = 0;     // to certified, or to memchecked
  int lowered = 0;    // refused since, and proven less far after that
  int withdrawn = 0;  // refused: the entry goes
};

// "304 kernels proven further, 0 withdrawn"
std::string Print(const ProofChanges& changes);

// Applies, in order, the certificates that match an entry's problem, plan and device. A refusal cancels earlier proofs;
// of the later ones the furthest counts. Locks the file, and rewrites it if something changed.
Result<ProofChanges> ApplyCertificates(const std::filesystem::path& catalogue,
                                       std::span<const Certificate> certificates);

}  // namespace gemmsmith
