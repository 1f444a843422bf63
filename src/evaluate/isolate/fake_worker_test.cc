// The test program's main(): itself, or the worker that its tests talk to.
#include "evaluate/isolate/fake_test_worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "base/subprocess.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/worker_loop.h"

namespace gemmsmith {
namespace {

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

[[noreturn]] void HangWorker() {
  while (true) ::pause();
}

void WriteBytes(int fd, std::string_view bytes) {
  if (::write(fd, bytes.data(), bytes.size()) < 0) std::_Exit(99);
}

Outcome Measured(const ProblemMessage& problem, const CandidateMessage& candidate) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.verdict.passed = true;
  Timing timing;
  timing.contender = "ours";
  // So that a test sees that problem and candidate arrived whole.
  timing.median_ns = problem.gemm.shape.Volume() + double(problem.seed) + double(candidate.cubin.size());
  if (candidate.source) timing.median_ns = double(candidate.source->recipe.steps.size());
  outcome.timings.push_back(timing);
  return outcome;
}

class FakeJudge : public Judge {
 public:
  explicit FakeJudge(int out) : out_(out) {}

  // The seed names what goes wrong.
  Status Prepare(const ProblemMessage& problem, const StepListener& on_step) override {
    on_step({"reference"});
    if (WithoutLayout(problem.gemm) != WithoutLayout(problem_.gemm)) layouts_.clear();
    problem_ = problem;
    layouts_.insert(problem.gemm.kind.layout);
    if (problem.seed == 1001) return Unavailable("too large for this GPU");
    if (problem.seed == 1002) std::_Exit(9);
    if (problem.seed == 1003) HangWorker();
    if (problem.seed == 1004) (void)WriteFrame(out_, FrameType::kJudged, "out of turn"), HangWorker();
    return OkStatus();
  }

  Result<Judgements> Evaluate(std::span<const CandidateMessage> candidates, const StepListener& on_step) override {
    for (const CandidateMessage& candidate : candidates)
      if (candidate.source && !problem_.clocks.Has(Clock::kDeviceCold)) return IoError("a source without the ring");
    for (const CandidateMessage& candidate : candidates)
      if (!layouts_.contains(candidate.layout)) return IoError("a layout that was not prepared");
    if (candidates[0].layout != problem_.gemm.kind.layout)
      return IoError("another layout than the problem's comes first");
    Judgements judgements;
    judgements.outcomes.resize(candidates.size());
    for (size_t i = 0; i < candidates.size() && !judgements.worker_is_lost; ++i) {
      on_step({"first launch", int32_t(i)});
      const std::string& act = candidates[i].entry;
      if (act == "fail") return IoError("the harness failed");
      if (act == "unfit" && candidates.size() > 1) {
        judgements.one_by_one = true;
        continue;
      }
      Act(candidates[i], {"timing", int32_t(i)}, on_step);
      judgements.outcomes[i] = Measured(problem_, candidates[i]);
      if (act != "lost") continue;
      judgements.outcomes[i]->kind = OutcomeKind::kLaunchFailed;
      judgements.outcomes[i]->reason = "CUDA_ERROR_ILLEGAL_ADDRESS";
      judgements.worker_is_lost = true;
    }
    if (!judgements.worker_is_lost) RaceTogether(candidates, judgements, on_step);
    if (problem_.counters) ReadCounters(candidates, judgements, on_step);
    return judgements;
  }

  // In nobody's place; the seed names what goes wrong.
  Result<Judgements> RaceBaselines(const StepListener& on_step) override {
    on_step({"device clock"});
    if (problem_.seed == 2001) return Unavailable("none of them is usable");
    if (problem_.seed == 2002) std::_Exit(9);
    Judgements judgements;
    Outcome& outcome = judgements.outcomes.emplace_back().emplace();
    outcome.kind = OutcomeKind::kMeasured;
    judgements.worker_is_lost = problem_.seed == 2003;
    if (judgements.worker_is_lost) outcome.kind = OutcomeKind::kLaunchFailed;
    for (const BaselineId& id : problem_.baselines.For(problem_.protocol, problem_.gemm.kind.layout))
      outcome.timings.push_back({.contender = Name(id), .median_ns = problem_.only_baselines ? 1.0 : 0.0});
    return judgements;
  }

 private:
  void Act(const CandidateMessage& candidate, const Step& timing, const StepListener& on_step) {
    const std::string& act = candidate.entry;
    if (act == "hang") HangWorker();
    if (act == "signal") ::signal(SIGSEGV, SIG_DFL), ::raise(SIGSEGV);
    if (act == "abort") std::fputs("CHECK failed: deliberately\n", stderr), std::abort();
    if (act == "exit") std::fputs("leaving\n", stderr), std::_Exit(7);
    if (act == "stop") ::raise(SIGSTOP);
    if (act == "close") ::close(out_), HangWorker();
    Judgements alone;
    alone.outcomes.emplace_back(Measured(problem_, candidate));
    Misbehave(act, Encode(alone));
    if (act == "late") TakeSteps(4, 0.25, timing, on_step);
    if (act == "too_late") Sleep(1.2);
    if (act == "busy_for_ever") TakeSteps(1000, 0.05, timing, on_step);
    if (act == "flood") std::fputs(std::string(3 << 20, 'x').c_str(), stderr);
    if (act == "chatter") std::puts("a library says hello"), std::fflush(stdout);
    if (act == "slow") Sleep(0.003);
  }

  // A failure in a race has no culprit until it happens to a candidate alone.
  void RaceTogether(std::span<const CandidateMessage> candidates, Judgements& judgements, const StepListener& on_step) {
    on_step({"device clock"});
    for (size_t i = 0; i < candidates.size(); ++i) {
      const std::string& act = candidates[i].entry;
      if (act == "exit_in_race") std::_Exit(8);
      if (act == "hang_in_race") HangWorker();
      if (act == "lost_in_race" && candidates.size() == 1) {
        judgements.outcomes[0]->kind = OutcomeKind::kLaunchFailed;
        judgements.worker_is_lost = true;
      } else if (act == "lost_in_race") {
        judgements = {std::vector<std::optional<Outcome>>(candidates.size()), true, true};
        return;
      }
      if (act == "forgets" || act == "lost_and_forgets") judgements.outcomes[i].reset();
      judgements.worker_is_lost = judgements.worker_is_lost || act == "lost_and_forgets";
    }
  }

  void ReadCounters(std::span<const CandidateMessage> candidates, Judgements& judgements, const StepListener& on_step) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!judgements.outcomes[i]) continue;
      on_step({std::string(kCountersStep), int32_t(i)});
      if (candidates[i].entry == "exit_in_profiler") std::_Exit(6);
      if (candidates[i].entry == "hang_in_profiler") HangWorker();
      judgements.outcomes[i]->counters.emplace().observer = "cupti";
    }
  }

  // Bytes that no honest worker writes.
  void Misbehave(const std::string& act, const std::string& payload) {
    std::string frame = EncodeFrame(FrameType::kJudged, payload);
    if (act == "garbage") WriteBytes(out_, std::string(4096, '\x5a')), HangWorker();
    if (act == "truncated") WriteBytes(out_, std::string_view(frame).substr(0, frame.size() - 1)), std::_Exit(0);
    if (act == "half") WriteBytes(out_, std::string_view(frame).substr(0, frame.size() / 2)), HangWorker();
    if (act == "damaged") frame[kFrameHeaderBytes] ^= 1, WriteBytes(out_, frame), HangWorker();
    if (act == "no_outcome") (void)WriteFrame(out_, FrameType::kJudged, "no outcome"), HangWorker();
    if (act == "huge") {
      frame = EncodeFrame(FrameType::kJudged, "");
      frame[kFrameHeaderBytes - 1] = '\x7f';
      WriteBytes(out_, frame), HangWorker();
    }
    if (act == "wrong_turn") (void)WriteFrame(out_, FrameType::kReady, ""), HangWorker();
  }

  static void TakeSteps(int steps, double seconds, const Step& step, const StepListener& on_step) {
    for (int i = 0; i < steps; ++i) Sleep(seconds), on_step(step);
  }

  const int out_;
  ProblemMessage problem_;
  std::set<Layout> layouts_;
};

}  // namespace

int RunFakeWorker(std::string_view start) {
  if (start == "exits") return std::fputs("no libcuda here\n", stderr), 5;
  if (start == "hangs") HangWorker();
  if (start == "prints") return std::puts("usage: program [options] and much more text than a frame has"), 0;
  const Result<int> out = SeparateStandardOutput();
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
