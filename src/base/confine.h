// Filters that take system calls away from a process, its threads and its children for good. They back the sandbox
// (base/sandbox.h) and confine a process that already holds all it needs.
#pragma once

#include "base/status.h"

namespace gemmsmith {

enum class SystemCalls {
  // For compilers: they may start each other. No sockets (EPERM); no look into other processes; none of the calls that
  // mount, load, trace, or make namespaces.
  kBuild,
  // For a process that runs foreign code on a GPU that it opened before. In addition it cannot start programs,
  // processes or threads; the driver has its own by then. It cannot signal others, handle signals, set timers or
  // outlive its parent. Files are left to the sandbox, because the driver may reopen its devices for writing.
  kGuest,
};

// Any other call that is forbidden ends the process with SIGSYS; under kGuest its name goes to standard error first,
// but where signals are blocked. Cannot be undone; Unavailable where the kernel has no seccomp.
Status ForbidSystemCalls(SystemCalls forbidden);

// The same filter as a seccomp program for `bwrap --seccomp`. The descriptor can be reopened through /proc while this
// process lives. It is made once a process.
Result<int> SystemCallFilter(SystemCalls forbidden);

}  // namespace gemmsmith
