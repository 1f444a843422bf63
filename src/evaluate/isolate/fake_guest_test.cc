#include "evaluate/isolate/fake_guest.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/confine.h"
#include "base/descriptors.h"
#include "base/subprocess.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/guest_messages.h"
#include "evaluate/isolate/messages.h"

namespace gemmsmith {
namespace {

[[noreturn]] void Hang() {
  while (true) ::pause();
}

[[noreturn]] void Send(int out, std::string_view bytes) {
  (void)WriteAll(out, bytes);
  Hang();
}

void ActFatally(std::string_view act) {
  if (act == "crash") ::signal(SIGSEGV, SIG_DFL), ::raise(SIGSEGV);
  if (act == "exit") std::fputs("all is well\n", stderr), std::_Exit(0);
  if (act == "hang") Hang();
  if (act == "shouts") std::fputs(std::string(3 << 20, 'x').c_str(), stderr), std::puts("and to the pipe");
  if (act != "forbidden") return;
  if (!ForbidSystemCalls(SystemCalls::kGuest).ok()) std::_Exit(98);
  ::execl("/bin/true", "true", nullptr);
}

void AnswerRubbish(std::string_view act, int out, const GuestAnswer& honest) {
  std::string frame = EncodeFrame(FrameType::kCalled, Encode(honest));
  if (act == "rubbish") Send(out, std::string(4096, '\x5a'));
  if (act == "half") Send(out, std::string_view(frame).substr(0, frame.size() / 2));
  if (act == "wrong_turn") Send(out, EncodeFrame(FrameType::kJudged, ""));
  if (act == "nonsense") Send(out, EncodeFrame(FrameType::kCalled, "not an answer"));
  if (act == "huge") Send(out, EncodeFrame(FrameType::kCalled, std::string(2 << 20, 'x')));
  if (act != "infinite") return;
  GuestAnswer answer = honest;
  answer.event_ns = -std::numeric_limits<double>::infinity();
  Send(out, EncodeFrame(FrameType::kCalled, Encode(answer)));
}

// Half a microsecond a call, by its own account.
GuestAnswer Answer(std::string_view act, const GuestSetup& setup, const GuestCall& call) {
  GuestAnswer answer;
  answer.event_ns = 500.0 * call.calls;
  answer.kernels = {{"kernel", double(call.calls)}};
  answer.observed_calls = call.calls;
  answer.counters.lacks = "no profiler in here";
  if (act == "counts") {
    answer.counters = {};
    answer.counters.observer = "cupti";
    answer.counters[Counter::kDuration] = 1500;
  }
  if (act == "fails") answer.failure = "gemm() returned cudaErrorInvalidValue (invalid argument)";
  if (act == "lost") answer.failure = "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS", answer.is_lost = true;
  if (act == "inherits") {
    const ssize_t count = ReadUpTo(setup.object_descriptor, 100, answer.failure);
    answer.failure.resize(size_t(std::max<ssize_t>(count, 0)));
  }
  return answer;
}

int ServeCalls(std::string_view act, const GuestSetup& setup, int out) {
  while (true) {
    const Result<Frame> frame = ReadFrame(STDIN_FILENO);
    if (!frame.ok()) return 0;
    const GuestAnswer answer = Answer(act, setup, *DecodeGuestCall(frame->payload));
    ActFatally(act);
    AnswerRubbish(act, out, answer);
    if (act == "answers_twice") (void)WriteFrame(out, FrameType::kCalled, Encode(answer));
    if (!WriteFrame(out, FrameType::kCalled, Encode(answer)).ok()) return 1;
  }
}

}  // namespace

int RunFakeGuest(std::string_view act) {
  if (act == "exits_early") return std::fputs("bwrap: no such device\n", stderr), 1;
  if (act == "mute") Hang();
  const Result<int> out = SeparateStandardOutput();
  const Result<Frame> frame = ReadFrame(STDIN_FILENO);
  if (!out.ok() || !frame.ok()) return 1;
  const Result<GuestSetup> setup = DecodeGuestSetup(frame->payload);
  if (!setup.ok()) return 2;
  if (act == "refuses")
    return WriteFrame(*out, FrameType::kFailed, EncodeFailure(Unavailable("no driver in here"))).ok() ? 3 : 1;
  if (!WriteFrame(*out, FrameType::kOpened, Encode(GuestReady{"capture"})).ok()) return 1;
  return ServeCalls(act, *setup, *out);
}

}  // namespace gemmsmith
