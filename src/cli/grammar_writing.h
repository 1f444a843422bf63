// The options of optimize --proposer llm.
#pragma once

#include <optional>

#include "cli/command.h"
#include "cli/options.h"

namespace gemmsmith {

void AddWriting(Verb* verb, WritingCommand* writing);
// Options that do not go with the proposer.
std::optional<NoCommand> WrongWriting(const Verb* verb, const OptimizeCommand& command);

}  // namespace gemmsmith
