// The tests that a candidate must pass before it is timed.
#pragma once

#include <array>

#include "evaluate/isolate/judge.h"
#include "evaluate/verify/certification.h"
#include "evaluate/verify/late_inputs.h"
#include "evaluate/verify/verifier.h"

namespace gemmsmith {

// Operands, tests and flags for the tests of one candidate.
struct TestSetup {
  Gemm gemm;
  std::vector<TestPlan> tests;
  std::array<const Inputs*, size_t(kLastInputKind) + 1> inputs{};  // by kind; null: no test needs them
  const Inputs* normal = nullptr;                                  // the ones that are timed
  double baseline_max_abs_error = 0;                               // 0: no baseline ran
  const GuardedMatrix* output = nullptr;
  const GuardedWorkspace* workspace = nullptr;
  const LateInputs* late = nullptr;         // null: the candidate cannot be chained
  bool deterministic = false;               // equal inputs give equal bits
  std::function<Status()> put_other_shape;  // a call of the same kernel for another shape; null: there is none
  // Looks at the output on the CPU; null: nothing is to be certified.
  std::function<Result<CpuComparison>(const Acceptance&)> compare_on_cpu;
  // Verdict::tests is wanted, and `repeat` calls on another stream too. Once a context has, kernels of all its graphs
  // take 0.17 us longer (H200, driver 580, November 2026), so not where times are taken.
  bool is_untimed = false;

  const Inputs& Of(InputKind kind) const;
};

// Puts one call of the candidate on the stream.
using PutGemm = std::function<Status(const Inputs& inputs, Chaining chaining)>;

struct TestResult {
  std::optional<OutcomeKind> ended;  // kLaunchFailed, kWrong or kCheated
  std::string reason;
  Verdict verdict;
  bool touched_others = false;  // inputs, canaries or the workspace must be restored
  double call_ns = 0;           // the shortest of the single calls, as Watched has it; 0: none came through
};

// How many calls the chain has: eight where they are short, fewer where they would take long.
int ChainCalls(double call_ns);

// The bound of a candidate's largest error: the baselines' error times 1.1, or plus half an output ulp.
double BaselineBound(const Gemm& gemm, double baseline_max_abs_error, double largest_reference);

// The stage in which a candidate ends so, once it runs.
std::string_view StageOf(OutcomeKind kind);

// Enters the verdict of one watched call, which may end the candidate.
void Conclude(std::string_view test, const Watched& watched, TestResult& result);

// `on_test` is told the name of each test before each of its calls.
Result<TestResult> TestCandidate(Verifier& verifier, const TestSetup& setup, const PutGemm& put,
                                 const std::function<void(std::string_view test)>& on_test);

}  // namespace gemmsmith
