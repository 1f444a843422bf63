#include "evaluate/verify/operands.h"

namespace gemmsmith {

namespace {

uint64_t AllocationElements(const Operand& operand, int64_t guard_elements) {
  return uint64_t(2 * guard_elements + operand.SpanBytes() / ByteSize(operand.type));
}

// A workspace as an operand of one line.
Operand Whole(uint64_t workspace_bytes) {
  const int64_t elements = int64_t(GuardedWorkspace::SizeFor(workspace_bytes) / 2);
  return {"workspace", ScalarType::kF16, 1, elements, elements};
}

}  // namespace

uint64_t GuardedMatrix::AllocationBytes(const Operand& operand) {
  return AllocationElements(operand, kGuardElements) * 2;
}

Result<GuardedMatrix> GuardedMatrix::Create(Gpu& gpu, const Operand& operand, bool lines_are_rows,
                                            int64_t guard_elements) {
  ASSIGN_OR_RETURN(DeviceMemory memory, gpu.Allocate(AllocationElements(operand, guard_elements) * 2));
  ASSIGN_OR_RETURN(GuardedMatrix matrix, Over(gpu, memory.address(), operand, lines_are_rows, guard_elements));
  matrix.memory_ = std::move(memory);
  return matrix;
}

Result<GuardedMatrix> GuardedMatrix::Over(Gpu& gpu, CUdeviceptr memory, const Operand& operand, bool lines_are_rows,
                                          int64_t guard_elements) {
  GuardedMatrix matrix;
  matrix.guard_elements_ = guard_elements;
  matrix.address_ = memory;
  matrix.size_bytes_ = AllocationElements(operand, guard_elements) * 2;
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
  GEMMSMITH_CHECK(size_bytes_ == other.size_bytes_, "{} bytes into {}", other.size_bytes_, size_bytes_);
  return gpu.Copy(address_, other.address_, size_bytes_);
}

uint64_t GuardedWorkspace::SizeFor(uint64_t bytes) {
  constexpr uint64_t kUnit = 16;
  return (bytes / kUnit + 1) * kUnit;
}

uint64_t GuardedWorkspace::AllocationBytes(uint64_t bytes) { return GuardedMatrix::AllocationBytes(Whole(bytes)); }

Result<GuardedWorkspace> GuardedWorkspace::Create(Gpu& gpu, uint64_t bytes, int64_t guard_elements) {
  GuardedWorkspace workspace;
  ASSIGN_OR_RETURN(workspace.matrix_, GuardedMatrix::Create(gpu, Whole(bytes), true, guard_elements));
  RETURN_IF_ERROR(workspace.Restore(gpu));
  return workspace;
}

Result<GuardedWorkspace> GuardedWorkspace::Over(Gpu& gpu, CUdeviceptr memory, uint64_t bytes) {
  GuardedWorkspace workspace;
  ASSIGN_OR_RETURN(workspace.matrix_, GuardedMatrix::Over(gpu, memory, Whole(bytes), true));
  RETURN_IF_ERROR(workspace.Restore(gpu));
  return workspace;
}

Status GuardedWorkspace::Restore(Gpu& gpu) const {
  RETURN_IF_ERROR(matrix_.PaintCanaries(gpu));
  return gpu.Fill8(CUdeviceptr(reinterpret_cast<uintptr_t>(data())), 0, size_bytes());
}

}  // namespace gemmsmith
