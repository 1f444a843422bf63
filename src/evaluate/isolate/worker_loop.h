// The worker's side of the pipe, whatever judges behind it.
#pragma once

#include "evaluate/isolate/messages.h"

namespace gemmsmith {

// Kills this process a second after standard input closes, even during a kernel that never ends. A worker must not
// outlive its program.
void DieWithProgram();

// Says hello, then serves requests from `in` until it ends. Returns the exit code of the process: 0 at a clean end, 1
// for a damaged request. Returns 3 when the GPU's context was lost; the answer was sent before.
int ServeRequests(Judge& judge, const WorkerHello& hello, int in, int out);

}  // namespace gemmsmith
