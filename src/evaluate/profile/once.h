// A candidate's call in a process of its own, for tools that watch a whole process: Nsight Compute, compute-sanitizer.
#pragma once

#include "evaluate/isolate/messages.h"

namespace gemmsmith {

// Calls the candidate `calls` times on the problem's normal inputs and waits for the end. Every operand is an
// allocation of exactly its bytes, without canaries around it, so that a checker of accesses sees where it ends.
Status RunOnce(int gpu_ordinal, const SingleCall& call, int calls);

}  // namespace gemmsmith
