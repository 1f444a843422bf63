#include "evaluate/verify/correctness.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/seconds.h"

namespace gemmsmith {

namespace {

// Calls that may overlap, in turn for other inputs and the same output, the normal ones last. A call that writes before
// it has waited for the one ahead of it is overwritten by that one. So is its share of the workspace.
Status PutChain(const TestSetup& setup, const PutGemm& put, int calls) {
  for (int left = calls; left > 0; --left)
    RETURN_IF_ERROR(put(left % 2 == 1 ? *setup.normal : setup.Of(InputKind::kBinary), Chaining::kProgrammatic));
  return OkStatus();
}

// The tests of one candidate, one after the other, up to the first that it fails.
class Examination {
 public:
  Examination(Verifier& verifier, const TestSetup& setup, const PutGemm& put,
              const std::function<void(std::string_view test)>& on_test)
      : verifier_(verifier), setup_(setup), put_(put), on_test_(on_test) {
    result_.verdict.baseline_max_abs_error = setup.baseline_max_abs_error;
  }

  Result<TestResult> Run() {
    for (const TestPlan& test : setup_.tests) {
      if (!Applies(test.id)) continue;
      name_ = Name(test.id);
      record_ = {.test = std::string(name_)};
      RETURN_IF_ERROR(RunTest(test));
      record_.passed = !result_.ended;
      if (setup_.is_untimed) result_.verdict.tests.push_back(record_);
      if (result_.ended) return result_;
    }
    result_.verdict.passed = true;
    return result_;
  }

 private:
  bool Applies(TestId test) const {
    if (test == TestId::kChain) return setup_.late != nullptr;
    if (test == TestId::kCertified) return setup_.compare_on_cpu != nullptr;
    return test != TestId::kBaselineBounded || BoundOfBaselines() > 0;
  }

  // The order of f16 sums decides how far they are off. One that splits K in four is off by half as much as one that
  // does not, and both are honest.
  double BoundOfBaselines() const {
    if (setup_.baseline_max_abs_error <= 0 || setup_.gemm.kind.accumulation == Accumulation::kF16) return 0;
    return BaselineBound(setup_.gemm, setup_.baseline_max_abs_error, setup_.normal->reference->largest);
  }

  Status RunTest(const TestPlan& test) {
    switch (test.id) {
      case TestId::kChain:
        return Chain();
      case TestId::kBaselineBounded:
        return WatchCall(*setup_.normal, BoundOfBaselines());
      case TestId::kUniform:
        return UniformBehindBinary();
      case TestId::kRepeat:
        return Repeat();
      case TestId::kCertified:
        return Certify();
      default:
        return WatchCall(setup_.Of(test.inputs), 0);
    }
  }

  Status Chain() {
    RETURN_IF_ERROR(Watch(*setup_.normal, 0, [this] { return PutChain(setup_, put_, ChainCalls(result_.call_ns)); }));
    if (result_.ended) return OkStatus();
    return Watch(setup_.late->inputs(), 0, [this] {
      const Status written = setup_.late->Write();
      return written.ok() ? put_(setup_.late->inputs(), Chaining::kProgrammatic) : written;
    });
  }

  // Neither has a negative number, so a kernel that knows inputs by their signs takes the second for the first. Nothing
  // stands between the calls that could overwrite what a multiprocessor still holds of the first.
  Status UniformBehindBinary() {
    const Inputs& uniform = setup_.Of(InputKind::kUniform);
    return Watch(uniform, 0, [&] {
      const Status binary = put_(setup_.Of(InputKind::kBinary), Chaining::kNone);
      return binary.ok() ? put_(uniform, Chaining::kNone) : binary;
    });
  }

  // The same call again and again, with whatever may lie between two calls of a program.
  Status Repeat() {
    const Inputs& normal = *setup_.normal;
    const auto call = [&] { return put_(normal, Chaining::kNone); };
    RETURN_IF_ERROR(CallAgain("first", call));
    RETURN_IF_ERROR(CallAgain("second", call));
    // A fault that depends on a launch's number may show at every other one only. Nothing fixes how many launches of
    // others stand between those of two tests.
    const auto call_twice = [&] {
      const Status first = call();
      return first.ok() ? call() : first;
    };
    if (!setup_.deterministic) RETURN_IF_ERROR(CallAgain("the second of two in a row", call_twice));
    if (setup_.is_untimed)
      RETURN_IF_ERROR(CallAgain("on another stream", [&] { return verifier_.OnAnotherStream(call); }));
    if (!result_.ended) RETURN_IF_ERROR(WatchCall(setup_.Of(InputKind::kOtherNormal), 0));
    RETURN_IF_ERROR(CallAgain("after other inputs", call));
    if (!setup_.put_other_shape) return OkStatus();
    return CallAgain("after another shape", [&] {
      RETURN_IF_ERROR(setup_.put_other_shape());
      return call();
    });
  }

  // By the baselines' errors from the same truth; where none ran, by what an honest kernel stays under.
  Status Certify() {
    RETURN_IF_ERROR(WatchCall(*setup_.normal, BoundOfBaselines()));
    if (result_.ended) return OkStatus();
    const Acceptance acceptance = AcceptanceOf(InputKind::kNormal, setup_.gemm, setup_.normal->reference->largest);
    ASSIGN_OR_RETURN(const CpuComparison comparison, setup_.compare_on_cpu(acceptance.Within(BoundOfBaselines())));
    record_.max_abs_error = comparison.max_abs_error;
    Watched watched;
    if (comparison.failures > 0) watched.wrong = comparison.Describe(setup_.gemm.shape);
    Conclude(name_, watched, result_);
    return OkStatus();
  }

  Status CallAgain(std::string_view which, const std::function<Status()>& call) {
    if (result_.ended) return OkStatus();
    RETURN_IF_ERROR(Watch(*setup_.normal, BoundOfBaselines(), call));
    if (result_.ended || !setup_.deterministic) return OkStatus();
    ASSIGN_OR_RETURN(const uint64_t bits, verifier_.Fingerprint(*setup_.output));
    if (!first_bits_) first_bits_ = bits;
    if (bits == *first_bits_) return OkStatus();
    Watched watched;
    watched.wrong = fmt::format("the call '{}' gave other bits than the first, where equal bits are claimed", which);
    Conclude(name_, watched, result_);
    return OkStatus();
  }

  // Unchained calls tell how long one takes.
  Status WatchCall(const Inputs& inputs, double max_abs_error) {
    ASSIGN_OR_RETURN(const double call_ns,
                     WatchedNs(inputs, max_abs_error, [&] { return put_(inputs, Chaining::kNone); }));
    if (call_ns > 0) result_.call_ns = result_.call_ns > 0 ? std::min(result_.call_ns, call_ns) : call_ns;
    return OkStatus();
  }

  Status Watch(const Inputs& inputs, double max_abs_error, const std::function<Status()>& call) {
    return WatchedNs(inputs, max_abs_error, call).status();
  }

  Result<double> WatchedNs(const Inputs& inputs, double max_abs_error, const std::function<Status()>& call) {
    on_test_(name_);
    const auto start = std::chrono::steady_clock::now();
    const CallBuffers buffers{&inputs, setup_.output, setup_.workspace};
    ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(setup_.gemm, buffers, max_abs_error, call));
    record_.seconds += SecondsSince(start);
    record_.bound = std::max(record_.bound, watched.element_bound);
    record_.max_abs_error = std::max(record_.max_abs_error, watched.max_abs_error);
    // An infinite error is no number for a record: the explanation tells it.
    if (inputs.kind == InputKind::kNormal && watched.crash.empty() && std::isfinite(watched.relative_error)) {
      Verdict& verdict = result_.verdict;
      verdict.max_abs_error = std::max(verdict.max_abs_error, watched.max_abs_error);
      verdict.relative_error = std::max(verdict.relative_error, watched.relative_error);
    }
    Conclude(name_, watched, result_);
    return watched.call_ns;
  }

  Verifier& verifier_;
  const TestSetup& setup_;
  const PutGemm& put_;
  const std::function<void(std::string_view test)>& on_test_;
  std::string_view name_;  // of the test that runs
  TestRecord record_;
  std::optional<uint64_t> first_bits_;
  TestResult result_;
};

}  // namespace

const Inputs& TestSetup::Of(InputKind kind) const {
  const Inputs* const found = inputs[size_t(kind)];
  GEMMSMITH_CHECK(found != nullptr, "no {} inputs", Name(kind));
  return *found;
}

int ChainCalls(double call_ns) {
  constexpr double kNs = 0.5e6;
  return int(std::clamp(kNs / std::max(call_ns, 1.0), 3.0, 8.0));
}

std::string_view StageOf(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kWrong:
      return "correctness";
    case OutcomeKind::kCheated:
      return "honesty";
    default:
      return "launch";
  }
}

// Wrong values come first: they are what can be learned from. Other damage is said in any case.
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

Result<TestResult> TestCandidate(Verifier& verifier, const TestSetup& setup, const PutGemm& put,
                                 const std::function<void(std::string_view test)>& on_test) {
  return Examination(verifier, setup, put, on_test).Run();
}

}  // namespace gemmsmith
