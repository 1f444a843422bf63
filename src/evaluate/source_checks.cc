#include "evaluate/source_checks.h"

namespace gemmsmith {

namespace {

// The call's fault, as far as the driver's words tell.
std::string_view CauseOf(std::string_view crash) {
  const auto says = [&](std::string_view error) { return crash.find(error) != std::string_view::npos; };
  if (says("MISALIGNED_ADDRESS")) return "takes more alignment than 16 bytes for granted: ";
  if (says("ILLEGAL_ADDRESS")) return "writes A or B, or goes beyond a matrix: ";
  return "";
}

class SourceChecks {
 public:
  SourceChecks(const SourceCheckSetup& setup, TestResult& tested,
               const std::function<void(std::string_view test)>& on_test)
      : setup_(setup), operands_(setup.operands), tested_(tested), on_test_(on_test) {}

  Status Run(Random& random) {
    RETURN_IF_ERROR(operands_.Draw(random, setup_.message.launch.workspace_bytes));
    RETURN_IF_ERROR(CheckFull("unaligned"));
    RETURN_IF_ERROR(CheckPriorOutput(random));
    RETURN_IF_ERROR(CheckHalf());
    if (tested_.ended) return OkStatus();
    RETURN_IF_ERROR(operands_.DrawAtTheFence(random));
    return CheckFull("fenced");
  }

 private:
  // Binds the call to the matrices where they now are.
  Status CheckFull(std::string_view test) {
    const SourceOperands::Set& full = operands_.full();
    Result<CandidateCall::Bound> bound = setup_.code.Bind(full.gemm, full.addresses, operands_.workspace().data());
    if (!bound.ok()) return Refuse(bound.status());
    full_ = *std::move(bound);
    return Watch(test, full, [this] { return setup_.code.Put(full_); });
  }

  Status CheckPriorOutput(Random& random) {
    const auto call = [this] { return setup_.code.Put(full_); };
    RETURN_IF_ERROR(Watch("prior_output", operands_.full(), [&] {
      const MatrixView& c = operands_.full().c.view();
      const Status filled = setup_.harness.Fill(c, Filling::kUniform, random.Next(), {.parameter = 1});
      return filled.ok() ? call() : filled;
    }));
    return Watch("prior_output", operands_.full(), [&] {
      const Status first = call();
      return first.ok() ? call() : first;
    });
  }

  Status CheckHalf() {
    if (tested_.ended || !setup_.message.source->half_recipe) return OkStatus();
    const SourceOperands::Set& half = operands_.half();
    Result<CandidateCall::Bound> bound = setup_.code.BindOther(half.gemm, half.addresses, operands_.workspace().data());
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
    if (tested_.ended == OutcomeKind::kLaunchFailed)
      tested_.reason = fmt::format("test {}: {}{}", test, CauseOf(tested_.reason), tested_.reason);
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
