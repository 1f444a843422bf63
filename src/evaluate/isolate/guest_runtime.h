// The CUDA runtime as a candidate finds it in its guest, where the guest answers a few of its functions itself.
#pragma once

#include <string>

#include "base/status.h"
#include "evaluate/isolate/observer.h"
#include "gpu/driver.h"

namespace gemmsmith {

class GuestRuntime {
 public:
  // For everybody, so that the candidate finds this one. Binds it to the context that is current.
  Status Open(const std::string& library);
  // From now on a candidate's questions for functions of the driver, and the machine code that it hands over, come to
  // these two, which outlive the process's last call.
  void AnswerFor(const Driver& driver, Observer& observer);
  // Without this the state of an earlier call would count for the next one.
  void ForgetError() { last_error_(); }
  std::string Explain(int error) const;

 private:
  int (*last_error_)() = nullptr;
  const char* (*name_of_)(int) = nullptr;
  const char* (*text_of_)(int) = nullptr;
};

}  // namespace gemmsmith
