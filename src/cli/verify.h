// What `verify` does to a list of candidates.
#pragma once

#include <vector>

#include "archive/archive.h"
#include "archive/standings.h"
#include "cli/command.h"

namespace gemmsmith {

// Those of the file or the catalogue that the command names.
Result<std::vector<PlannedGemm>> PairsOf(const VerifyCommand& command);
// Of each problem the plan that was fastest on such a GPU; NotFound where none was timed on one.
Result<std::vector<PlannedGemm>> WinnersToVerify(const Archive& archive, const Device& device);
// All that are not in the journal yet, on these GPUs, which are those that the command names.
Result<int> VerifyList(const VerifyCommand& command, const std::vector<PlannedGemm>& pairs,
                       const std::vector<int>& gpus);

}  // namespace gemmsmith
