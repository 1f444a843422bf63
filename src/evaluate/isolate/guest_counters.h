// The counters of a source, as a guest that was set up to count tells them.
#pragma once

#include <functional>

#include "evaluate/isolate/guest_process.h"

namespace gemmsmith {

// Loads the object and counts the call. A failing guest costs the source only its counters: they are absent, and
// `lacks` says why. `still_waiting` is called before each request, none of which may take longer than the limit. The
// observer is "guest", because only the guest's process vouches for the values.
Counters CountersFrom(GuestProcess& guest, GuestCall call, double limit_seconds,
                      const std::function<void()>& still_waiting);

}  // namespace gemmsmith
