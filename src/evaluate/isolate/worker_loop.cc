#include "evaluate/isolate/worker_loop.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "evaluate/isolate/frame.h"

namespace gemmsmith {

namespace {

struct Answer {
  FrameType type;
  std::string payload;
  bool worker_is_lost = false;
};

Answer Failure(const Status& status) { return {FrameType::kFailed, EncodeFailure(status)}; }

Answer PrepareProblem(Judge& judge, std::string_view payload, const StepListener& on_step) {
  const Result<ProblemMessage> problem = DecodeProblem(payload);
  if (!problem.ok()) return Failure(problem.status());
  const Status prepared = judge.Prepare(*problem, on_step);
  return prepared.ok() ? Answer{FrameType::kReady, ""} : Failure(prepared);
}

Answer EvaluateCandidates(Judge& judge, std::string_view payload, const StepListener& on_step) {
  const Result<std::vector<CandidateMessage>> candidates = DecodeCandidates(payload);
  if (!candidates.ok()) return Failure(candidates.status());
  const Result<Judgements> judgements = judge.Evaluate(*candidates, on_step);
  if (!judgements.ok()) return Failure(judgements.status());
  return {FrameType::kJudged, Encode(*judgements), judgements->worker_is_lost};
}

Answer RaceBaselines(Judge& judge, const StepListener& on_step) {
  const Result<Judgements> judgements = judge.RaceBaselines(on_step);
  if (!judgements.ok()) return Failure(judgements.status());
  return {FrameType::kJudged, Encode(*judgements), judgements->worker_is_lost};
}

}  // namespace

void DieWithProgram() {
  std::thread([] {
    pollfd program{STDIN_FILENO, 0, 0};
    while (::poll(&program, 1, -1) < 0 && errno == EINTR) {
    }
    // An idle worker sees the end itself and leaves in order.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    ::kill(::getpid(), SIGKILL);
  }).detach();
}

int ServeRequests(Judge& judge, const WorkerHello& hello, int in, int out) {
  const StepListener on_step = [out](const Step& step) { (void)WriteFrame(out, FrameType::kAlive, Encode(step)); };
  if (!WriteFrame(out, FrameType::kHello, Encode(hello)).ok()) return 1;
  while (true) {
    const Result<Frame> request = ReadFrame(in);
    if (!request.ok() && request.status().code() == StatusCode::kNotFound) return 0;
    Answer answer =
        Failure(request.ok() ? InvalidArgument("a worker serves problems, candidates and races") : request.status());
    if (request.ok() && request->type == FrameType::kProblem) answer = PrepareProblem(judge, request->payload, on_step);
    if (request.ok() && request->type == FrameType::kCandidates)
      answer = EvaluateCandidates(judge, request->payload, on_step);
    if (request.ok() && request->type == FrameType::kRace) answer = RaceBaselines(judge, on_step);
    if (!WriteFrame(out, answer.type, answer.payload).ok()) return 1;
    if (!request.ok()) return 1;
    if (answer.worker_is_lost) return 3;
    judge.TidyUp();
  }
}

}  // namespace gemmsmith
