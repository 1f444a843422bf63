// The judge's side of a guest (guest.h): started in a sandbox, asked with time limits, ended at its first fault.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/guest_messages.h"

namespace gemmsmith {

// The command that runs this very program as a guest in a sandbox that sees the libraries it needs and one GPU. One
// that counts keeps the right to profile, if this process has it.
Result<std::vector<std::string>> SandboxedGuest(const std::string& gpu_uuid, bool counts = false);
// The toolkit's libraries that a guest opens. Unavailable without a CUDA runtime.
Result<GuestSetup> LibrariesForGuest();

// How a guest ended, and so its candidate.
struct GuestEnd {
  OutcomeKind kind = OutcomeKind::kLaunchFailed;  // kLaunchFailed, kTimedOut or kCheated
  std::string reason;
  bool operator==(const GuestEnd&) const = default;
};

class GuestProcess {
 public:
  // Until the guest has given up its system calls; nothing of the candidate's has run by then, so that any failure is
  // the environment's. It inherits the descriptors that the setup names.
  static Result<GuestProcess> Start(const std::vector<std::string>& command, const GuestSetup& setup,
                                    double limit_seconds);

  // "cupti" or "capture".
  const std::string& observer() const { return ready_.observer; }
  // Nothing where the guest has ended: end() then says how. Not to be asked again after that, nor after an answer that
  // says it is lost.
  std::optional<GuestAnswer> Call(const GuestCall& call, double limit_seconds);
  const GuestEnd& end() const { return end_; }

 private:
  explicit GuestProcess(PipedProcess process) : process_(std::move(process)) {}
  Result<Frame> Exchange(FrameType type, const std::string& payload, double limit_seconds);

  PipedProcess process_;
  GuestReady ready_;
  GuestEnd end_;
};

// The outcome of a candidate whose guest did not answer, from the error of the pipe, the exit code and the last output.
GuestEnd EndOf(const Status& error, int exit_code, const std::string& words, double limit_seconds);

}  // namespace gemmsmith
