#include "evaluate/source_operands.h"

#include <utility>

#include "evaluate/baseline/baseline.h"

namespace gemmsmith {

namespace {

constexpr uint64_t kPromised = 16, kStep = 32;  // bytes
constexpr uint64_t kSteps = 8;                  // every alignment within 256 bytes that is an odd multiple of 16
constexpr uint64_t kSeedOfHalf = 1;

// Never 0, which stands for no pattern.
uint64_t DrawPattern(Random& random) { return random.Next() | 1; }

// A, B and C of a set, each by `place` from its memory, painted.
template <class Memory, class PlaceOne>
Status Place(HarnessKernels& harness, SourceOperands::Set& set, const PlaceOne& place, const Memory& a, const Memory& b,
             const Memory& c, Random& random) {
  const Task task = MakeTask(set.gemm);
  const Layout& layout = set.gemm.kind.layout;
  const auto over = [&](const Memory& memory, const Operand& operand, bool lines_are_rows) {
    const uint64_t at = place(memory.size_bytes(), uint64_t(operand.SpanBytes()));
    return GuardedMatrix::Over(memory.address(), memory.size_bytes(), operand, lines_are_rows, at, DrawPattern(random));
  };
  set.a = over(a, task.inputs[0], layout.a == Order::kRow);
  set.b = over(b, task.inputs[1], layout.b == Order::kRow);
  set.c = over(c, task.output, true);
  set.addresses = {set.a.data(), set.b.data(), set.c.data()};
  set.inputs.a = &set.a;
  set.inputs.b = &set.b;
  for (const GuardedMatrix* matrix : {&set.a, &set.b, &set.c}) RETURN_IF_ERROR(harness.Paint(*matrix));
  return OkStatus();
}

CUdeviceptr AddressOf(const GuardedMatrix& matrix) { return CUdeviceptr(reinterpret_cast<uintptr_t>(matrix.data())); }

// Where the elements may only be read.
const void* ReadOnly(const FencedMemory& memory, const GuardedMatrix& matrix) {
  return reinterpret_cast<const void*>(memory.read_only_address() + (AddressOf(matrix) - memory.address()));
}

Status CopyElements(Gpu& gpu, const GuardedMatrix& from, const GuardedMatrix& to) {
  return gpu.Copy(AddressOf(to), AddressOf(from), uint64_t(to.SpanBytes()));
}

}  // namespace

uint64_t LeastAlignedOffset(uint64_t allocated_bytes, uint64_t matrix_bytes, uint64_t steps) {
  const uint64_t last = (allocated_bytes - matrix_bytes) / kPromised;
  return ((last - 1) | 1) * kPromised - steps * kStep;
}

uint64_t LastOffset(uint64_t allocated_bytes, uint64_t matrix_bytes) {
  return (allocated_bytes - matrix_bytes) / kPromised * kPromised;
}

uint64_t SourceOperands::BytesFor(const Gemm& gemm) {
  constexpr uint64_t kGranule = uint64_t{2} << 20;
  const Task task = MakeTask(gemm);
  const uint64_t bytes = GuardedMatrix::AllocationBytes(task.inputs[0]) +
                         GuardedMatrix::AllocationBytes(task.inputs[1]) + GuardedMatrix::AllocationBytes(task.output);
  return 2 * bytes + 3 * kGranule + GuardedWorkspace::AllocationBytes(kBaselineWorkspaceBytes);
}

Result<std::unique_ptr<SourceOperands>> SourceOperands::Create(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm,
                                                               const Shape& half_shape, const Inputs& normal) {
  std::unique_ptr<SourceOperands> operands(new SourceOperands(gpu, harness, normal));
  operands->full_.gemm = gemm;
  operands->full_.inputs = normal;
  operands->half_.gemm = {half_shape, gemm.kind};
  RETURN_IF_ERROR(operands->Allocate());
  Random random(kSeedOfHalf);
  RETURN_IF_ERROR(operands->DrawHalf(random));
  RETURN_IF_ERROR(operands->JudgeHalf());
  return operands;
}

Status SourceOperands::Allocate() {
  const Task full = MakeTask(full_.gemm), half = MakeTask(half_.gemm);
  for (const auto& [memory, operand] : {std::pair(&a_memory_, &full.inputs[0]), std::pair(&b_memory_, &full.inputs[1]),
                                        std::pair(&c_memory_, &full.output)}) {
    ASSIGN_OR_RETURN(*memory, FencedMemory::Create(gpu_, kGuardBytes + uint64_t(operand->SpanBytes())));
  }
  for (const auto& [memory, operand] :
       {std::pair(&half_a_memory_, &half.inputs[0]), std::pair(&half_b_memory_, &half.inputs[1]),
        std::pair(&half_c_memory_, &half.output)}) {
    ASSIGN_OR_RETURN(*memory, gpu_.Allocate(GuardedMatrix::AllocationBytes(*operand)));
  }
  ASSIGN_OR_RETURN(workspace_memory_, gpu_.Allocate(GuardedWorkspace::AllocationBytes(kBaselineWorkspaceBytes)));
  return OkStatus();
}

// The same elements for every source, so that one product serves all.
Status SourceOperands::JudgeHalf() {
  ASSIGN_OR_RETURN(half_reference_, MultiplyOnGpu(gpu_, harness_, half_.gemm, half_.a, half_.b));
  half_.inputs.reference = &half_reference_;
  RETURN_IF_ERROR(harness_.ResetReport());
  RETURN_IF_ERROR(harness_.Inspect({.a = &half_.a, .b = &half_.b}));
  ASSIGN_OR_RETURN(const HarnessReport report, harness_.ReadReport());
  half_.inputs.checksum_a = report.checksum_a;
  half_.inputs.checksum_b = report.checksum_b;
  return OkStatus();
}

Status SourceOperands::DrawFull(const Offset& offset, Random& random) {
  RETURN_IF_ERROR(Place(harness_, full_, offset, a_memory_, b_memory_, c_memory_, random));
  full_.addresses.a = ReadOnly(a_memory_, full_.a);
  full_.addresses.b = ReadOnly(b_memory_, full_.b);
  RETURN_IF_ERROR(CopyElements(gpu_, *normal_.a, full_.a));
  return CopyElements(gpu_, *normal_.b, full_.b);
}

Status SourceOperands::DrawAtTheFence(Random& random) { return DrawFull(LastOffset, random); }

Status SourceOperands::DrawHalf(Random& random) {
  const auto between = [](uint64_t, uint64_t) { return kGuardBytes; };
  RETURN_IF_ERROR(Place(harness_, half_, between, half_a_memory_, half_b_memory_, half_c_memory_, random));
  RETURN_IF_ERROR(FillOperand(harness_, half_.a, 'A', InputKind::kNormal, half_.gemm, kSeedOfHalf));
  return FillOperand(harness_, half_.b, 'B', InputKind::kNormal, half_.gemm, kSeedOfHalf);
}

Status SourceOperands::Draw(Random& random, uint64_t workspace_bytes) {
  const Offset least_aligned = [&](uint64_t allocated_bytes, uint64_t matrix_bytes) {
    return LeastAlignedOffset(allocated_bytes, matrix_bytes, random.Below(kSteps));
  };
  RETURN_IF_ERROR(DrawFull(least_aligned, random));
  RETURN_IF_ERROR(DrawHalf(random));
  workspace_ = GuardedWorkspace::Over(workspace_memory_.address(), workspace_bytes, DrawPattern(random));
  RETURN_IF_ERROR(harness_.Paint(workspace_.matrix()));
  return gpu_.Fill8(AddressOf(workspace_.matrix()), 0, workspace_.size_bytes());
}

}  // namespace gemmsmith
