#include "evaluate/verify/operands.h"

namespace gemmsmith {

namespace {

uint64_t AllocationElements(const Operand& operand) {
  return uint64_t(2 * kGuardElements + operand.SpanBytes() / ByteSize(operand.type));
}

}  // namespace

uint64_t GuardedMatrix::AllocationBytes(const Operand& operand) { return AllocationElements(operand) * 2; }

Result<GuardedMatrix> GuardedMatrix::Create(Gpu& gpu, const Operand& operand, bool lines_are_rows) {
  GuardedMatrix matrix;
  ASSIGN_OR_RETURN(matrix.memory_, gpu.Allocate(AllocationBytes(operand)));
  matrix.view_ = {matrix.memory_.as<uint16_t>() + kGuardElements,
                  operand.lines,
                  operand.line_length,
                  operand.stride,
                  lines_are_rows ? 1 : 0,
                  operand.type == ScalarType::kF16 ? ElementType::kF16 : ElementType::kBf16};
  RETURN_IF_ERROR(matrix.PaintCanaries(gpu));
  return matrix;
}

Status GuardedMatrix::PaintCanaries(Gpu& gpu) const {
  return gpu.Fill16(memory_.address(), kCanary, memory_.size_bytes() / 2);
}

uint64_t GuardedWorkspace::SizeFor(uint64_t bytes) {
  constexpr uint64_t kUnit = 16;
  return (bytes / kUnit + 1) * kUnit;
}

Result<GuardedWorkspace> GuardedWorkspace::Create(Gpu& gpu, uint64_t bytes) {
  const int64_t elements = int64_t(SizeFor(bytes) / 2);
  const Operand operand{"workspace", ScalarType::kF16, 1, elements, elements};
  GuardedWorkspace workspace;
  ASSIGN_OR_RETURN(workspace.matrix_, GuardedMatrix::Create(gpu, operand, true));
  RETURN_IF_ERROR(workspace.Restore(gpu));
  return workspace;
}

Status GuardedWorkspace::Restore(Gpu& gpu) const {
  RETURN_IF_ERROR(matrix_.PaintCanaries(gpu));
  return gpu.Fill8(CUdeviceptr(reinterpret_cast<uintptr_t>(data())), 0, size_bytes());
}

}  // namespace gemmsmith
