// System calls that a process gives up for good, with all its threads and whatever it starts: the second wall of the
// sandbox (base/sandbox.h), and the one around a process that already holds what it needs.
#pragma once

#include "base/status.h"

namespace gemmsmith {

enum class SystemCalls {
  // For compilers: they may start each other. No sockets (EPERM); no look into other processes; none of the calls that
  // mount, load, trace, or make namespaces.
  kBuild,
  // For a process that runs code of somebody else on a GPU that it opened before. Besides all that no program, process
  // or thread is started (the driver has its own by then), nobody is signalled but itself, no signal gets a handler and
  // no timer runs, and it cannot outlive its parent. Files are the concern of the sandbox: the driver may open its
  // devices again, for writing, whenever it likes.
  kGuest,
};

// Any other call that is forbidden ends the process with SIGSYS; under kGuest its name goes to standard error first,
// but where signals are blocked. Cannot be undone; Unavailable where the kernel has no seccomp.
Status ForbidSystemCalls(SystemCalls forbidden);

// The same as a program for the kernel's filter, for those who start others (bwrap --seccomp): a descriptor that can be
// opened anew, through /proc, for as long as this process lives. Made once a process.
Result<int> SystemCallFilter(SystemCalls forbidden);

}  // namespace gemmsmith
