// What `verify` does to a list of candidates.
#pragma once

#include <vector>

#include "archive/standings.h"
#include "cli/command.h"

namespace gemmsmith {

// Those of the file, the archive or the catalogue that the command names.
Result<std::vector<PlannedGemm>> PairsOf(const VerifyCommand& command);
// All that are not in the journal yet, on these GPUs, which are those that the command names.
Result<int> VerifyList(const VerifyCommand& command, const std::vector<PlannedGemm>& pairs,
                       const std::vector<int>& gpus);

}  // namespace gemmsmith
