#include "harness/operands.h"

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
  GuardedMatrix matrix = Over(memory.address(), bytes, operand, lines_are_rows, kGuardBytes, 0);
  matrix.memory_ = std::move(memory);
  RETURN_IF_ERROR(matrix.PaintCanaries(gpu));
  return matrix;
}

GuardedMatrix GuardedMatrix::Over(CUdeviceptr memory, uint64_t bytes, const Operand& operand, bool lines_are_rows,
                                  uint64_t data_at, uint64_t pattern) {
  GEMMSMITH_CHECK(bytes >= data_at + uint64_t(operand.SpanBytes()), "{} bytes for a matrix of {} behind {}", bytes,
                  operand.SpanBytes(), data_at);
  GuardedMatrix matrix;
  matrix.guard_elements_ = int64_t(data_at / 2);
  matrix.address_ = memory;
  matrix.size_bytes_ = bytes / 2 * 2;
  matrix.pattern_ = pattern;
  matrix.view_ = {reinterpret_cast<uint16_t*>(memory) + matrix.guard_elements_,
                  operand.lines,
                  operand.line_length,
                  operand.stride,
                  lines_are_rows ? 1 : 0,
                  operand.type == ScalarType::kF16 ? ElementType::kF16 : ElementType::kBf16};
  return matrix;
}

Status GuardedMatrix::PaintCanaries(Gpu& gpu) const {
  GEMMSMITH_CHECK(pattern_ == 0, "a matrix whose canaries follow a pattern");
  return gpu.Fill16(address_, kCanary, size_bytes_ / 2);
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

GuardedWorkspace GuardedWorkspace::Over(CUdeviceptr memory, uint64_t bytes, uint64_t pattern) {
  GuardedWorkspace workspace;
  workspace.matrix_ = GuardedMatrix::Over(memory, AllocationBytes(bytes), Whole(bytes), true, kGuardBytes, pattern);
  return workspace;
}

Status GuardedWorkspace::Restore(Gpu& gpu) const {
  RETURN_IF_ERROR(matrix_.PaintCanaries(gpu));
  return gpu.Fill8(CUdeviceptr(reinterpret_cast<uintptr_t>(data())), 0, size_bytes());
}

}  // namespace gemmsmith
