// The process that a candidate of somebody else's runs in: opens the GPU and the buffers that the judge shares, gives
// up what system calls it can do without, loads the object, and calls its gemm() when the judge says so. It holds
// nothing that must stay secret and decides nothing: what it says is checked by the judge.
#pragma once

namespace gemmsmith {

// Serves the judge on standard input and output until it closes. Called by the hidden verb "guest". Returns an exit
// code.
int RunGuest();

}  // namespace gemmsmith
