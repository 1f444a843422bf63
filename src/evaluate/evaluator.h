// Evaluate(problem, candidate) -> Outcome. The only judge: everything that is learned or published rests on it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/compiler.h"
#include "compile/source_program.h"
#include "evaluate/prepared_source.h"
#include "outcome/judging_terms.h"
#include "outcome/outcome.h"
#include "outcome/setting.h"
#include "program/subject.h"

namespace gemmsmith {

struct EvaluationRequest : JudgingTerms {
  Subject subject;

  // CHECKs that the subject is a plan.
  const Plan& plan() const;
};

// A candidate before it may touch a GPU, after legality, compilation, screening, resources and the facts of its code:
// something to run, or the Outcome that ends it.
struct PreparedCandidate {
  std::optional<Outcome> ended;
  Compilation compilation;               // of a plan: its binary too
  std::optional<PreparedSource> source;  // of a free-form source
};
// Thread-safe. Returns a Status only for a failure of the environment. A free-form source needs `sources`: Unavailable
// without.
Result<PreparedCandidate> Prepare(const EvaluationRequest& request, const Device& device, Compiler& compiler,
                                  SourceCompiler* sources = nullptr);

struct Candidate {
  EvaluationRequest request;
  PreparedCandidate prepared;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // The device candidates are judged for.
  virtual const Device& device() const = 0;
  // Runs on the calling thread; one call at a time. Returns a Status only for a failure of the environment: no
  // candidate causes one, however it fails.
  virtual Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate& candidate) = 0;
  // Judges several candidates on the same terms; the layouts of packed A and B may differ. They are timed in one race
  // where the evaluator can, else one after the other. Returns an answer for each, in the same order.
  virtual std::vector<Result<Outcome>> EvaluateTogether(std::span<const Candidate> candidates);
  // Races the baselines of the request on its clocks and in its protocol; its subject is ignored. The outcome is
  // kMeasured without times of ours: it compares every baseline with the AutoTuning baselines of the race. Unavailable
  // where the evaluator cannot.
  virtual Result<Outcome> RaceBaselines(const EvaluationRequest& request);
  // Device, driver and libraries of the judgement. The caller that compiles fills in the toolchain.
  virtual Setting setting() const = 0;
};

struct IsolationOptions {
  int gpu_ordinal = 0;
  double candidate_limit_seconds = 10;  // a kernel that runs longer is killed, with its worker
  std::string worker_program;           // default: this very program; started with the hidden verb "worker"
};
// Judges in a child process that may crash or hang. Holds the GPU's lock for as long as it lives, and says so when it
// waits for it.
Result<std::unique_ptr<Evaluator>> MakeIsolatedEvaluator(const IsolationOptions& options);

// The worker's end: serves requests from standard input until it closes. Called by the hidden verb "worker".
int RunWorker(int gpu_ordinal);

}  // namespace gemmsmith
