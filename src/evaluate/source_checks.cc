#include "evaluate/source_checks.h"

namespace gemmsmith {

namespace {

CallAddresses AddressesOf(const SourceOperands::Set& set) { return {set.a.data(), set.b.data(), set.c.data()}; }

class SourceChecks {
 public:
  SourceChecks(const SourceCheckSetup& setup, TestResult& tested,
               const std::function<void(std::string_view test)>& on_test)
      : setup_(setup), operands_(setup.operands), tested_(tested), on_test_(on_test) {}

  Status Run(Random& random) {
    RETURN_IF_ERROR(operands_.Draw(random, setup_.message.launch.workspace_bytes));
    Result<CandidateCall::Bound> full =
        setup_.code.Bind(operands_.full().gemm, AddressesOf(operands_.full()), operands_.workspace().data());
    if (!full.ok()) return Refuse(full.status());
    full_ = *std::move(full);
    const auto call = [this] { return setup_.code.Put(full_); };
    RETURN_IF_ERROR(Watch("unaligned", operands_.full(), call));
    if (tested_.ended == OutcomeKind::kLaunchFailed)
      tested_.reason = fmt::format(
          "test unaligned: with matrices at odd multiples of 16 bytes and no memory behind them: {}", tested_.reason);
    RETURN_IF_ERROR(Watch("prior_output", operands_.full(), [&] {
      const MatrixView& c = operands_.full().c.view();
      const Status filled = setup_.harness.Fill(c, Filling::kUniform, random.Next(), {.parameter = 1});
      return filled.ok() ? call() : filled;
    }));
    RETURN_IF_ERROR(Watch("prior_output", operands_.full(), [&] {
      const Status first = call();
      return first.ok() ? call() : first;
    }));
    if (setup_.code.IsChainable(full_))
      RETURN_IF_ERROR(Watch("late_inputs", operands_.full(), [this] {
        const Status written = operands_.WriteInputsLate();
        return written.ok() ? setup_.code.Put(full_, Chaining::kProgrammatic) : written;
      }));
    return setup_.message.source->half_recipe ? CheckHalf() : OkStatus();
  }

 private:
  Status CheckHalf() {
    if (tested_.ended) return OkStatus();
    const SourceOperands::Set& half = operands_.half();
    Result<CandidateCall::Bound> bound =
        setup_.code.BindOther(half.gemm, AddressesOf(half), operands_.workspace().data());
    if (!bound.ok()) return Refuse(bound.status());
    RETURN_IF_ERROR(Watch("half_shape", half, [&] { return setup_.code.Put(*bound); }));
    return Watch("half_shape", operands_.full(), [this] { return setup_.code.Put(full_); });
  }

  Status Refuse(const Status& status) {
    tested_.ended = OutcomeKind::kLaunchFailed;
    tested_.reason = status.message();
    return OkStatus();
  }

  // Damage is to these operands alone, which are drawn anew for the next source.
  Status Watch(std::string_view test, const SourceOperands::Set& set, const std::function<Status()>& call) {
    if (tested_.ended) return OkStatus();
    on_test_(test);
    const CallBuffers buffers{&set.inputs, &set.c, &operands_.workspace()};
    ASSIGN_OR_RETURN(const Watched watched, setup_.verifier.Watch(set.gemm, buffers, 0, call));
    Conclude(test, watched, tested_);
    return OkStatus();
  }

  const SourceCheckSetup& setup_;
  SourceOperands& operands_;
  TestResult& tested_;
  const std::function<void(std::string_view test)>& on_test_;
  CandidateCall::Bound full_;
};

}  // namespace

Status CheckSource(const SourceCheckSetup& setup, Random& random, TestResult& tested,
                   const std::function<void(std::string_view test)>& on_test) {
  return SourceChecks(setup, tested, on_test).Run(random);
}

}  // namespace gemmsmith
