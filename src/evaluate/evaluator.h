// Evaluate(problem, candidate) -> Outcome. The only judge; everything that is learned or published rests on it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/compiler.h"
#include "compile/shared_object.h"
#include "evaluate/baseline/baseline_set.h"
#include "evaluate/outcome.h"
#include "evaluate/setting.h"
#include "evaluate/verify/test_list.h"
#include "problem/gemm.h"
#include "program/subject.h"

namespace gemmsmith {

struct EvaluationRequest {
  Gemm gemm;
  Subject subject;
  Protocol protocol = Protocol::kScreen;
  ClockSet clocks = {Clock::kDevice};  // a candidate is timed on kDevice in any case
  uint64_t seed = 0;                   // of the inputs
  bool time = true;                // false: only the tests, all of them, without baselines; what passes is kVerified
  TestSet tests = TestSet::All();  // of those that would run, the ones that are wanted
  // Truth is the CPU's product of every element, and the baselines are judged by it too: seconds for a large problem.
  // Not to be timed: AutoTuning is not raced for.
  bool certify = false;
  BaselineSet baselines;
  bool counters = false;  // also reads the profiler's counters of what passes, after everything else
  // Of candidates that are judged together, single calls (offline, server, host) are timed of the fastest of each
  // layout alone: on the server's clock a call costs a millisecond of waiting.
  bool calls_of_fastest = false;
  // Races of the short protocol, and those in which AutoTuning is chosen, take few rounds: for a first look at many
  // problems. What is tested is the same.
  bool brief = false;

  // CHECKs that a plan is judged.
  const Plan& plan() const;
};

// What a candidate became before it may touch a GPU: legality, compilation, screening, resources and SASS facts.
// Either something to run or the Outcome that already ends it.
struct PreparedCandidate {
  std::optional<Outcome> ended;
  Compilation compilation;             // of a plan: its binary too
  std::optional<SharedObject> object;  // of a free-form source: built and screened
};
// Thread-safe; a Status only where the world failed. Free-form sources need `objects`: Unavailable without.
Result<PreparedCandidate> Prepare(const EvaluationRequest& request, const Device& device, Compiler& compiler,
                                  ObjectCompiler* objects = nullptr);

// InvalidArgument where a free-form source cannot be timed so. A source's calls are made in its own process, on
// operands that are shared with it for good: it has no others that were out of L2.
Status SourcesAreTimedOn(const ClockSet& clocks);

struct Contender {
  EvaluationRequest request;
  PreparedCandidate candidate;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // The device candidates are judged for.
  virtual const Device& device() const = 0;
  // Runs on the calling thread; one call at a time. A Status only where the world failed: no candidate, however it
  // fails, causes one.
  virtual Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate& candidate) = 0;
  // Several candidates for one problem, in any layouts where A and B are packed, in one protocol, with one seed: timed
  // in one race where the evaluator can, else one after the other. As many answers, in the same order.
  virtual std::vector<Result<Outcome>> EvaluateTogether(std::span<const Contender> contenders);
  // The request's baselines alone, on its clocks and in its protocol; its subject is ignored. The outcome is kMeasured
  // and has no times of ours: every contender is compared with the AutoTuning baselines that race. Unavailable where
  // the evaluator cannot.
  virtual Result<Outcome> RaceBaselines(const EvaluationRequest& request);
  // Device, driver and libraries of the judgement; the toolchain is filled in by whoever compiles.
  virtual Setting setting() const = 0;
};

struct IsolationOptions {
  int gpu_ordinal = 0;
  double candidate_limit_seconds = 10;  // a kernel that runs longer is killed, with its worker
  std::string worker_program;           // default: this very program; started with the hidden verb "worker"
};
// Judges in a child process that may crash or hang; takes the GPU's lock for as long as it lives and says so when it
// waits.
Result<std::unique_ptr<Evaluator>> MakeIsolatedEvaluator(const IsolationOptions& options);

// The other end: serves requests from standard input until it closes. Called by the hidden verb "worker".
int RunWorker(int gpu_ordinal);

}  // namespace gemmsmith
