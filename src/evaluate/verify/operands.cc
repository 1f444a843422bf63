#include "evaluate/verify/operands.h"

namespace gemmsmith {

namespace {

// A workspace as an operand of one line.
Operand Whole(uint64_t workspace_bytes) {
  const int64_t elements = int64_t(GuardedWorkspace::SizeFor(workspace_bytes) / 2);
  return {"workspace", ScalarType::kF16, 1, elements, elements};
}

}  // namespace

uint64_t GuardedMatrix::AllocationBytes(const Operand& operand) {
  return 2 * kGuardBytes + uint64_t(operand.SpanBytes());
}

Result<GuardedMatrix> GuardedMatrix::Create(Gpu& gpu, const Operand& operand, bool lines_are_rows) {
  const uint64_t bytes = AllocationBytes(operand);
  ASSIGN_OR_RETURN(DeviceMemory memory, gpu.Allocate(bytes));
  ASSIGN_OR_RETURN(GuardedMatrix matrix, Over(gpu, memory.address(), bytes, operand, lines_are_rows));
  matrix.memory_ = std::move(memory);
  return matrix;
}

Result<GuardedMatrix> GuardedMatrix::CanariesOver(Gpu& gpu, CUdeviceptr memory, uint64_t bytes) {
  return Over(gpu, memory, bytes, {"canaries", ScalarType::kF16, 1, 1, 1}, true, 0);
}

Result<GuardedMatrix> GuardedMatrix::Over(Gpu& gpu, CUdeviceptr memory, uint64_t bytes, const Operand& operand,
                                          bool lines_are_rows, uint64_t data_at) {
  GEMMSMITH_CHECK(bytes >= data_at + uint64_t(operand.SpanBytes()), "{} bytes for a matrix of {} behind {}", bytes,
                  operand.SpanBytes(), data_at);
  const auto guard_elements = int64_t(data_at / 2);
  GuardedMatrix matrix;
  matrix.guard_elements_ = guard_elements;
  matrix.address_ = memory;
  matrix.size_bytes_ = bytes / 2 * 2;
  matrix.view_ = {reinterpret_cast<uint16_t*>(memory) + guard_elements,
                  operand.lines,
                  operand.line_length,
                  operand.stride,
                  lines_are_rows ? 1 : 0,
                  operand.type == ScalarType::kF16 ? ElementType::kF16 : ElementType::kBf16};
  RETURN_IF_ERROR(matrix.PaintCanaries(gpu));
  return matrix;
}

Status GuardedMatrix::PaintCanaries(Gpu& gpu) const { return gpu.Fill16(address_, kCanary, size_bytes_ / 2); }

Status GuardedMatrix::CopyFrom(Gpu& gpu, const GuardedMatrix& other) const {
  const int64_t span = SpanElements();
  GEMMSMITH_CHECK(span == other.SpanElements(), "{} elements into {}", other.SpanElements(), span);
  const auto address_of = [](const GuardedMatrix& matrix) {
    return matrix.address_ + uint64_t(matrix.guard_elements_) * 2;
  };
  RETURN_IF_ERROR(gpu.Fill16(address_, kCanary, uint64_t(guard_elements_)));
  RETURN_IF_ERROR(gpu.Fill16(address_of(*this) + uint64_t(span) * 2, kCanary, uint64_t(elements_behind())));
  return gpu.Copy(address_of(*this), address_of(other), uint64_t(span) * 2);
}

uint64_t GuardedWorkspace::SizeFor(uint64_t bytes) {
  constexpr uint64_t kUnit = 16;
  return (bytes / kUnit + 1) * kUnit;
}

uint64_t GuardedWorkspace::AllocationBytes(uint64_t bytes) { return GuardedMatrix::AllocationBytes(Whole(bytes)); }

Result<GuardedWorkspace> GuardedWorkspace::Create(Gpu& gpu, uint64_t bytes) {
  GuardedWorkspace workspace;
  ASSIGN_OR_RETURN(workspace.matrix_, GuardedMatrix::Create(gpu, Whole(bytes), true));
  RETURN_IF_ERROR(workspace.Restore(gpu));
  return workspace;
}

Result<GuardedWorkspace> GuardedWorkspace::Over(Gpu& gpu, CUdeviceptr memory, uint64_t allocated, uint64_t bytes) {
  GuardedWorkspace workspace;
  ASSIGN_OR_RETURN(workspace.matrix_, GuardedMatrix::Over(gpu, memory, allocated, Whole(bytes), true));
  RETURN_IF_ERROR(workspace.Restore(gpu));
  return workspace;
}

Status GuardedWorkspace::Restore(Gpu& gpu) const {
  RETURN_IF_ERROR(matrix_.PaintCanaries(gpu));
  return gpu.Fill8(CUdeviceptr(reinterpret_cast<uintptr_t>(data())), 0, size_bytes());
}

}  // namespace gemmsmith
