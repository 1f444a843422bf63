// Exit codes; docs/command_line.md tells users what they mean.
#pragma once

#include <string_view>

#include "base/status.h"

namespace gemmsmith {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitLacking = 3;
inline constexpr int kExitNoCandidate = 4;
inline constexpr int kExitInterrupted = 130;

int ExitCodeOf(StatusCode code);

// Whole texts to standard output; a full disk is an IoError, found at once. A reader who has gone, as behind
// `| head`, has seen enough: that is none.
Status WriteOut(std::string_view text);
// "gemmsmith: MESSAGE" on one line of standard error, whatever control characters a message quotes.
void WriteError(std::string_view message);
// The same without the name: news for people that is no error.
void WriteNote(std::string_view message);

}  // namespace gemmsmith
