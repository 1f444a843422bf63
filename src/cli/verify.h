// What `verify` does to one candidate, alone or in a list.
#pragma once

#include <optional>
#include <vector>

#include "archive/standings.h"
#include "cli/command.h"
#include "cli/instrument.h"

namespace gemmsmith {

struct Verification {
  Outcome outcome;
  bool memchecked = false;
};

// The candidate's tests, then memcheck where it is wanted and the tests were passed.
Result<Verification> VerifyCandidate(const VerifyCommand& command, const Gemm& gemm, const Subject& subject, int gpu,
                                     const Instrument& instrument);

// Those of the file or of the archive that the command names.
Result<std::vector<PlannedGemm>> PairsOf(const VerifyCommand& command);
// All that are not in the journal yet.
Result<int> VerifyList(const VerifyCommand& command, const std::vector<PlannedGemm>& pairs, int gpu,
                       const Instrument& instrument);

}  // namespace gemmsmith
