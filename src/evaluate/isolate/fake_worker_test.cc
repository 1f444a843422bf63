// The test program's main(): itself, or the worker that its tests talk to.
#include "evaluate/isolate/fake_worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/worker_loop.h"

namespace gemmsmith {
namespace {

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

[[noreturn]] void Hang() {
  while (true) ::pause();
}

void WriteBytes(int fd, std::string_view bytes) {
  if (::write(fd, bytes.data(), bytes.size()) < 0) std::_Exit(99);
}

Judgement Measured(const ProblemMessage& problem, const CandidateMessage& candidate) {
  Judgement judgement;
  Outcome& outcome = judgement.outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.verdict.passed = true;
  Timing timing;
  timing.contender = "ours";
  // So that a test sees that problem and candidate arrived whole.
  timing.median_ns = problem.gemm.shape.Volume() + double(problem.seed) + double(candidate.cubin.size());
  outcome.timings.push_back(timing);
  return judgement;
}

class FakeJudge : public Judge {
 public:
  explicit FakeJudge(int out) : out_(out) {}

  // The seed names what goes wrong.
  Status Prepare(const ProblemMessage& problem, const StepListener& on_step) override {
    on_step("reference");
    problem_ = problem;
    if (problem.seed == 1001) return Unavailable("too large for this GPU");
    if (problem.seed == 1002) std::_Exit(9);
    if (problem.seed == 1003) Hang();
    if (problem.seed == 1004) (void)WriteFrame(out_, FrameType::kJudged, "out of turn"), Hang();
    return OkStatus();
  }

  Result<Judgement> Evaluate(const CandidateMessage& candidate, const StepListener& on_step) override {
    on_step("first launch");
    const std::string& act = candidate.entry;
    if (act == "hang") Hang();
    if (act == "signal") ::signal(SIGSEGV, SIG_DFL), ::raise(SIGSEGV);
    if (act == "abort") std::fputs("CHECK failed: deliberately\n", stderr), std::abort();
    if (act == "exit") std::fputs("leaving\n", stderr), std::_Exit(7);
    if (act == "stop") ::raise(SIGSTOP);
    if (act == "close") ::close(out_), Hang();
    if (act == "world") return IoError("the harness failed");
    Misbehave(act, Encode(Measured(problem_, candidate)));
    if (act == "late") return AfterSteps(4, 0.25, on_step, candidate);
    if (act == "too_late") Sleep(1.2);
    if (act == "busy_for_ever") return AfterSteps(1000, 0.05, on_step, candidate);
    if (act == "flood") std::fputs(std::string(3 << 20, 'x').c_str(), stderr);
    if (act == "chatter") std::puts("a library says hello"), std::fflush(stdout);
    if (act == "slow") Sleep(0.003);
    Judgement judgement = Measured(problem_, candidate);
    if (act == "lost") {
      judgement.outcome.kind = OutcomeKind::kLaunchFailed;
      judgement.outcome.reason = "CUDA_ERROR_ILLEGAL_ADDRESS";
      judgement.worker_is_lost = true;
    }
    return judgement;
  }

 private:
  // What no honest worker writes.
  void Misbehave(const std::string& act, const std::string& payload) {
    std::string frame = EncodeFrame(FrameType::kJudged, payload);
    if (act == "garbage") WriteBytes(out_, std::string(4096, '\x5a')), Hang();
    if (act == "truncated") WriteBytes(out_, std::string_view(frame).substr(0, frame.size() - 1)), std::_Exit(0);
    if (act == "half") WriteBytes(out_, std::string_view(frame).substr(0, frame.size() / 2)), Hang();
    if (act == "damaged") frame[kFrameHeaderBytes] ^= 1, WriteBytes(out_, frame), Hang();
    if (act == "no_outcome") (void)WriteFrame(out_, FrameType::kJudged, "no outcome"), Hang();
    if (act == "huge") {
      frame = EncodeFrame(FrameType::kJudged, "");
      frame[kFrameHeaderBytes - 1] = '\x7f';
      WriteBytes(out_, frame), Hang();
    }
    if (act == "wrong_turn") (void)WriteFrame(out_, FrameType::kReady, ""), Hang();
  }

  Judgement AfterSteps(int steps, double seconds, const StepListener& on_step, const CandidateMessage& candidate) {
    for (int i = 0; i < steps; ++i) Sleep(seconds), on_step("timing");
    return Measured(problem_, candidate);
  }

  const int out_;
  ProblemMessage problem_;
};

}  // namespace

int RunFakeWorker(std::string_view start) {
  if (start == "exits") return std::fputs("no libcuda here\n", stderr), 5;
  if (start == "hangs") Hang();
  if (start == "prints") return std::puts("usage: program [options] and much more text than a frame has"), 0;
  const Result<int> out = TakeStandardOutput();
  if (!out.ok()) return 1;
  if (start == "refuses")
    return WriteFrame(*out, FrameType::kFailed, EncodeFailure(Unavailable("no driver"))).ok() ? 3 : 1;
  DieWithProgram();
  FakeJudge judge(*out);
  WorkerHello hello;
  hello.device = *FindDevice("h200");
  hello.setting.gpu_uuid = "GPU-fake";
  return ServeRequests(judge, hello, STDIN_FILENO, *out);
}

}  // namespace gemmsmith

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "fake_worker") return gemmsmith::RunFakeWorker(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
