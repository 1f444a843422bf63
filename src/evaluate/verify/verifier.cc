#include "evaluate/verify/verifier.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gemmsmith {

namespace {

Acceptance AcceptanceAt(const Gemm& gemm, const CallBuffers& buffers, double max_abs_error) {
  const Inputs& inputs = *buffers.inputs;
  return AcceptanceOf(inputs.kind, gemm, inputs.reference->largest, buffers.maker).Within(max_abs_error);
}

std::string AllowedBy(const Acceptance& acceptance) {
  const std::string most = std::isinf(acceptance.most) ? "" : fmt::format(", at most {:.3g}", acceptance.most);
  return fmt::format(", allowed error {:.3g} and {:.2g} of what is expected{}", acceptance.fixed, acceptance.share,
                     most);
}

std::string OutsideOf(const char* name, uint64_t count) {
  return fmt::format("{} elements outside {} were written", count, name);
}

std::string WorkspaceDamageIn(const HarnessReport& report) {
  if (report.broken_workspace > 0) return OutsideOf("the workspace", report.broken_workspace);
  if (report.nonzero_workspace > 0)
    return fmt::format("the workspace was left with {} words that are not zero", report.nonzero_workspace);
  return "";
}

std::string DamageIn(const HarnessReport& report, const CallBuffers& buffers) {
  if (report.checksum_a != buffers.inputs->checksum_a) return "A was modified";
  if (report.checksum_b != buffers.inputs->checksum_b) return "B was modified";
  for (auto [name, count] : {std::pair{"A", report.broken_a}, {"B", report.broken_b}, {"C", report.broken_c}})
    if (count > 0) return OutsideOf(name, count);
  return WorkspaceDamageIn(report);
}

Inspection UntouchedIn(const CallBuffers& buffers) {
  Inspection inspection;
  inspection.a = buffers.inputs->a;
  inspection.b = buffers.inputs->b;
  inspection.c = buffers.output;
  inspection.workspace = buffers.workspace;
  return inspection;
}

Inspection InspectionOf(const Gemm& gemm, const CallBuffers& buffers, double max_abs_error) {
  Inspection inspection = UntouchedIn(buffers);
  inspection.reference = buffers.inputs->reference->values();
  inspection.acceptance = AcceptanceAt(gemm, buffers, max_abs_error);
  return inspection;
}

}  // namespace

Status Verifier::MakeEvents() {
  if (events_) return OkStatus();
  ASSIGN_OR_RETURN(Event first, gpu_.MakeEvent());
  ASSIGN_OR_RETURN(Event last, gpu_.MakeEvent());
  events_.emplace(std::move(first), std::move(last));
  return OkStatus();
}

Result<Watched> Verifier::Watch(const Gemm& gemm, const CallBuffers& buffers, double max_abs_error,
                                const std::function<Status()>& call) {
  RETURN_IF_ERROR(MakeEvents());
  RETURN_IF_ERROR(harness_.Poison(buffers.output->view()));
  RETURN_IF_ERROR(gpu_.Record(events_->first));
  Watched crashed;
  if (const Status called = call(); !called.ok()) {
    crashed.crash = called.message();
    return crashed;
  }
  // The report is emptied behind the call, so that no wild write of the call's stands in it.
  Status looked = gpu_.Record(events_->second);
  if (looked.ok()) looked = harness_.ResetReport();
  if (looked.ok()) looked = harness_.Inspect(InspectionOf(gemm, buffers, max_abs_error));
  Result<HarnessReport> report = looked.ok() ? harness_.ReadReport() : Result<HarnessReport>(looked);
  if (report.ok()) {
    ASSIGN_OR_RETURN(Watched watched, Conclude(gemm, buffers, max_abs_error, *report));
    ASSIGN_OR_RETURN(watched.call_ns, gpu_.ElapsedNs(events_->first, events_->second));
    return watched;
  }
  // The harness's own kernels stood behind the call: a lost context is the call's doing.
  if (gpu_.Synchronize().ok()) return report.status();
  crashed.crash = report.status().message();
  return crashed;
}

Result<uint64_t> Verifier::Fingerprint(const GuardedMatrix& matrix) {
  RETURN_IF_ERROR(harness_.ResetReport());
  RETURN_IF_ERROR(harness_.Inspect({.a = &matrix}));
  ASSIGN_OR_RETURN(const HarnessReport report, harness_.ReadReport());
  return report.checksum_a;
}

Result<std::string> Verifier::LookForDamage(const CallBuffers& buffers) {
  RETURN_IF_ERROR(harness_.ResetReport());
  RETURN_IF_ERROR(harness_.Inspect(UntouchedIn(buffers)));
  ASSIGN_OR_RETURN(const HarnessReport report, harness_.ReadReport());
  return DamageIn(report, buffers);
}

Result<std::string> Verifier::LookAtWorkspaces(std::span<const GuardedWorkspace* const> workspaces) {
  RETURN_IF_ERROR(harness_.ResetReport());
  for (const GuardedWorkspace* const workspace : workspaces)
    RETURN_IF_ERROR(harness_.Inspect({.workspace = workspace}));
  ASSIGN_OR_RETURN(const HarnessReport report, harness_.ReadReport());
  return WorkspaceDamageIn(report);
}

Result<Watched> Verifier::Conclude(const Gemm& gemm, const CallBuffers& buffers, double max_abs_error,
                                   const HarnessReport& report) {
  const Differences& differences = report.differences;
  const double reference_norm = std::sqrt(differences.reference_squares);
  const double error_norm = std::sqrt(differences.error_squares);
  Watched watched;
  watched.damage = DamageIn(report, buffers);
  watched.max_abs_error = differences.MaxAbsError();
  const Acceptance acceptance = AcceptanceAt(gemm, buffers, max_abs_error);
  watched.element_bound = acceptance.At(buffers.inputs->reference->largest);
  watched.relative_error = reference_norm > 0 ? error_norm / reference_norm : error_norm;
  if (differences.failures > 0) {
    ASSIGN_OR_RETURN(watched.wrong, Describe(gemm, buffers, differences));
    if (IsRounded(buffers.inputs->kind)) watched.wrong += AllowedBy(acceptance);
    return watched;
  }
  const double bound =
      RelativeBound(buffers.inputs->kind, gemm, differences.LargestReference(), reference_norm, buffers.maker);
  if (IsRounded(buffers.inputs->kind) && !(watched.relative_error <= bound))
    watched.wrong = fmt::format(
        "the relative error over all elements is {:.3g}, allowed {:.3g}; the largest error is {:.3g} at [{}, {}]",
        watched.relative_error, bound, watched.max_abs_error, differences.WorstIndex() / uint64_t(gemm.shape.n),
        differences.WorstIndex() % uint64_t(gemm.shape.n));
  return watched;
}

Result<std::string> Verifier::Describe(const Gemm& gemm, const CallBuffers& buffers, const Differences& differences) {
  const uint64_t index = differences.FirstFailure(), n = uint64_t(gemm.shape.n);
  const uint64_t row = index / n, column = index % n;
  const MatrixView& view = buffers.output->view();
  // Through the gathering kernel, which knows the element type.
  MatrixView element = view;
  element.data = static_cast<uint16_t*>(view.data) + row * uint64_t(view.stride) + column;
  ASSIGN_OR_RETURN(const DeviceMemory one, gpu_.Allocate(sizeof(float)));
  RETURN_IF_ERROR(harness_.Gather(element, one.as<float>(), 1, 1, 1, 1));
  RETURN_IF_ERROR(gpu_.Synchronize());
  std::array<float, 2> values{};
  auto* bytes = reinterpret_cast<uint8_t*>(values.data());
  RETURN_IF_ERROR(gpu_.CopyToHost({bytes, 4}, one.address()));
  RETURN_IF_ERROR(
      gpu_.CopyToHost({bytes + 4, 4}, buffers.inputs->reference->product.address() + index * sizeof(float)));
  return fmt::format("{} of {} elements are wrong, the first at [{}, {}]: got {}, expected {}", differences.failures,
                     uint64_t(gemm.shape.m) * n, row, column, values[0], values[1]);
}

}  // namespace gemmsmith
