#include "evaluate/isolate/guest_counters.h"

namespace gemmsmith {

namespace {

Counters None(const std::string& reason) {
  Counters counters;
  counters.lacks = "while it was counted: " + reason;
  return counters;
}

}  // namespace

Counters CountersFrom(GuestProcess& guest, GuestCall call, double limit_seconds,
                      const std::function<void()>& still_waiting) {
  std::optional<GuestAnswer> answer;
  for (const GuestWork work : {GuestWork::kLoad, GuestWork::kCountedCall}) {
    still_waiting();
    call.work = work;
    answer = guest.Call(call, limit_seconds);
    if (!answer) return None(guest.end().reason);
    if (!answer->failure.empty()) return None(answer->failure);
  }
  if (!answer->counters.observer.empty()) answer->counters.observer = "guest";
  return answer->counters;
}

}  // namespace gemmsmith
