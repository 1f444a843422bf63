// What certification found, written into a catalogue: how far each entry is proven.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "catalogue/catalogue.h"
#include "evaluate/verify/certificate_journal.h"

namespace gemmsmith {

struct ProofChanges {
  int raised = 0;     // to certified, or to memchecked
  int lowered = 0;    // refused since, and proven less far after that
  int withdrawn = 0;  // refused: the entry goes
};

// "304 kernels proven further, 0 withdrawn"
std::string Print(const ProofChanges& changes);

// Of the certificates those that are of an entry's problem and plan on the catalogue's device, in their order: a
// refusal outweighs what was found before it, and of what passed since the last one the furthest proof counts. The file
// is written anew where something changed, and held meanwhile.
Result<ProofChanges> ApplyCertificates(const std::filesystem::path& catalogue,
                                       std::span<const Certificate> certificates);

}  // namespace gemmsmith
