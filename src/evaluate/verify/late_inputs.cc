#include "evaluate/verify/late_inputs.h"

#include <vector>

namespace gemmsmith {

namespace {

constexpr int64_t kLeadInCycles = 40'000;  // 20 us: two launches are put behind it

}  // namespace

uint64_t LateInputs::BytesFor(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  const uint64_t a = GuardedMatrix::AllocationBytes(task.inputs[0]);
  return gemm.kind.constant_b ? a : a + GuardedMatrix::AllocationBytes(task.inputs[1]);
}

Result<std::unique_ptr<LateInputs>> LateInputs::Create(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm,
                                                       const Inputs& normal) {
  std::unique_ptr<LateInputs> late(new LateInputs(harness, normal));
  const Task task = MakeTask(gemm);
  const Layout& layout = gemm.kind.layout;
  ASSIGN_OR_RETURN(late->a_, GuardedMatrix::Create(gpu, task.inputs[0], layout.a == Order::kRow));
  late->inputs_.a = &late->a_;
  if (gemm.kind.constant_b) return late;
  ASSIGN_OR_RETURN(late->b_, GuardedMatrix::Create(gpu, task.inputs[1], layout.b == Order::kRow));
  late->inputs_.b = &late->b_;
  return late;
}

Status LateInputs::Write() const {
  std::vector<HarnessKernels::ElementCopy> copies{{normal_.a, inputs_.a}};
  if (inputs_.b != normal_.b) copies.push_back({normal_.b, inputs_.b});
  for (const HarnessKernels::ElementCopy& copy : copies) RETURN_IF_ERROR(harness_.Poison(copy.to->view()));
  RETURN_IF_ERROR(harness_.Spin(kLeadInCycles));
  return harness_.WriteLate(copies);
}

}  // namespace gemmsmith
