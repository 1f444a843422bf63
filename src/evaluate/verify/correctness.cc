#include "evaluate/verify/correctness.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

namespace {

struct Test {
  std::string_view name;
  const Inputs* inputs;
  double max_abs_error;  // 0: only the bounds of the relative test
  int repetitions = 1;
  bool is_chain = false;
};

std::vector<Test> TestsOf(const TestBench& bench) {
  std::vector<Test> tests = {{"binary", bench.binary, 0}, {"relative", bench.normal, 0}};
  if (bench.chainable) tests.push_back({.name = "chain", .inputs = bench.normal, .max_abs_error = 0, .is_chain = true});
  if (!IsThorough(bench.protocol)) return tests;
  tests.push_back({"dense_binary", bench.dense_binary, 0});
  const double bound = bench.baseline_max_abs_error > 0
                           ? BaselineBound(bench.gemm, bench.baseline_max_abs_error, bench.normal->reference->largest)
                           : 0;
  if (bound > 0) tests.push_back({"baseline_bounded", bench.normal, bound});
  tests.push_back({"repeat", bench.normal, bound, 3});
  return tests;
}

// Calls that may overlap, in turn for other inputs and the same output, the normal ones last: what a call writes before
// it has waited for the one ahead of it is overwritten late, or its share of the workspace is.
Status PutChain(const TestBench& bench, const PutGemm& put, int calls) {
  for (int left = calls; left > 0; --left)
    RETURN_IF_ERROR(put(left % 2 == 1 ? *bench.normal : *bench.binary, Chaining::kProgrammatic));
  return OkStatus();
}

}  // namespace

int ChainCalls(double call_ns) {
  constexpr double kNs = 4e6;
  return int(std::clamp(kNs / std::max(call_ns, 1.0), 3.0, 8.0));
}

// Wrong values come first: they are what can be learned from. What else was touched is said in any case.
void Conclude(std::string_view test, const Watched& watched, TestResult& result) {
  result.touched_others = result.touched_others || !watched.damage.empty();
  if (!watched.crash.empty()) {
    result.ended = OutcomeKind::kLaunchFailed;
    result.reason = watched.crash;
  } else if (!watched.wrong.empty()) {
    result.ended = OutcomeKind::kWrong;
    result.reason = watched.damage.empty() ? watched.wrong : fmt::format("{}; {}", watched.wrong, watched.damage);
  } else if (!watched.damage.empty()) {
    result.ended = OutcomeKind::kCheated;
    result.reason = watched.damage;
  }
  if (!result.ended || *result.ended == OutcomeKind::kLaunchFailed) return;
  result.verdict.passed = false;
  result.verdict.test = test;
  result.verdict.explanation = result.reason;
  result.reason = fmt::format("test {}: {}", test, result.reason);
}

double BaselineBound(const Gemm& gemm, double baseline_max_abs_error, double largest_reference) {
  return std::max(1.1 * baseline_max_abs_error, baseline_max_abs_error + HalfUlp(gemm.kind.type, largest_reference));
}

Result<TestResult> TestCandidate(Verifier& verifier, const TestBench& bench, const PutGemm& put,
                                 const std::function<void(std::string_view test)>& on_test) {
  TestResult result;
  result.verdict.baseline_max_abs_error = bench.baseline_max_abs_error;
  for (const Test& test : TestsOf(bench)) {
    for (int i = 0; i < test.repetitions; ++i) {
      on_test(test.name);
      const Workplace place{test.inputs, bench.output, bench.workspace};
      ASSIGN_OR_RETURN(const Watched watched, verifier.Watch(bench.gemm, place, test.max_abs_error, [&] {
        return test.is_chain ? PutChain(bench, put, ChainCalls(result.call_ns)) : put(*test.inputs, Chaining::kNone);
      }));
      if (!test.is_chain && watched.call_ns > 0)
        result.call_ns = result.call_ns > 0 ? std::min(result.call_ns, watched.call_ns) : watched.call_ns;
      // An infinite error is no number for a record: the explanation tells it.
      if (test.inputs == bench.normal && watched.crash.empty() && std::isfinite(watched.relative_error)) {
        result.verdict.max_abs_error = std::max(result.verdict.max_abs_error, watched.max_abs_error);
        result.verdict.relative_error = std::max(result.verdict.relative_error, watched.relative_error);
      }
      Conclude(test.name, watched, result);
      if (result.ended) return result;
    }
  }
  result.verdict.passed = true;
  return result;
}

}  // namespace gemmsmith
