#include "base/interrupt.h"

#include <signal.h>

#include "base/check.h"

namespace gemmsmith {

namespace {

volatile sig_atomic_t arrived = 0;

void OnSignal(int number) {
  if (arrived != 0) {
    signal(number, SIG_DFL);
    raise(number);  // and is gone as soon as this returns
  }
  arrived = 1;
}

}  // namespace

void WatchForInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  // Calls under way are restarted: an interrupt must not look like a failure of the disk or of a worker.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  GEMMSMITH_CHECK(sigaction(SIGINT, &action, nullptr) == 0 && sigaction(SIGTERM, &action, nullptr) == 0);
}

bool InterruptArrived() { return arrived != 0; }

}  // namespace gemmsmith
