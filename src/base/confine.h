// The filter that takes system calls away from a sandbox (base/sandbox.h) for good.
#pragma once

#include "base/status.h"

namespace gemmsmith {

// For compilers, which may start each other. No sockets (EPERM); no look into other processes; none of the calls that
// mount, load, trace, or make namespaces. Any other call that is forbidden ends the process with SIGSYS.
//
// As a seccomp program for `bwrap --seccomp`. The descriptor can be reopened through /proc while this process lives. It
// is made once a process.
Result<int> SystemCallFilter();

}  // namespace gemmsmith
