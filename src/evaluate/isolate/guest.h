// The process that runs a foreign candidate. It opens the GPU and the shared buffers, gives up system calls, loads the
// object, and calls its gemm() on the judge's request. It holds no secrets and decides nothing: the judge checks its
// answers.
#pragma once

namespace gemmsmith {

// Serves the judge on standard input and output until it closes. Called by the hidden verb "guest". Returns an exit
// code.
int RunGuest();

}  // namespace gemmsmith
