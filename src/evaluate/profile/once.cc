#include "evaluate/profile/once.h"

#include <memory>

#include "base/files.h"
#include "evaluate/verify/reference.h"

namespace gemmsmith {

namespace {

struct PlainMatrix {
  DeviceMemory memory;
  MatrixView view;
};

Result<PlainMatrix> MakeMatrix(Gpu& gpu, const Operand& operand, bool lines_are_rows) {
  PlainMatrix matrix;
  ASSIGN_OR_RETURN(matrix.memory, gpu.Allocate(uint64_t(operand.SpanBytes())));
  matrix.view = {matrix.memory.as(),     operand.lines,
                 operand.line_length,    operand.stride,
                 lines_are_rows ? 1 : 0, operand.type == ScalarType::kF16 ? ElementType::kF16 : ElementType::kBf16};
  RETURN_IF_ERROR(gpu.Fill8(matrix.memory.address(), 0, matrix.memory.size_bytes()));
  return matrix;
}

Result<std::unique_ptr<HarnessKernels>> LoadHarness(Gpu& gpu) {
  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> nvrtc, MakeNvrtcCompiler());
  const std::unique_ptr<Compiler> compiler = MakeCachedCompiler(std::move(nvrtc), HomeFolder() / "cache");
  return HarnessKernels::Load(gpu, *compiler);
}

}  // namespace

Status RunOnce(int gpu_ordinal, const SingleCall& call, int calls) {
  const Gemm& gemm = call.problem.gemm;
  const Launch& launch = call.candidate.launch;
  ASSIGN_OR_RETURN(const std::unique_ptr<Gpu> gpu, Gpu::Open(gpu_ordinal));
  ASSIGN_OR_RETURN(const std::unique_ptr<HarnessKernels> harness, LoadHarness(*gpu));
  const Task task = MakeTask(gemm);
  ASSIGN_OR_RETURN(const PlainMatrix a, MakeMatrix(*gpu, task.inputs[0], gemm.kind.layout.a == Order::kRow));
  ASSIGN_OR_RETURN(const PlainMatrix b, MakeMatrix(*gpu, task.inputs[1], gemm.kind.layout.b == Order::kRow));
  ASSIGN_OR_RETURN(const PlainMatrix c, MakeMatrix(*gpu, task.output, true));
  ASSIGN_OR_RETURN(const DeviceMemory workspace, gpu->Allocate(launch.workspace_bytes));
  RETURN_IF_ERROR(gpu->Fill8(workspace.address(), 0, workspace.size_bytes()));
  RETURN_IF_ERROR(FillView(*harness, a.view, 'A', InputKind::kNormal, gemm, call.problem.seed));
  RETURN_IF_ERROR(FillView(*harness, b.view, 'B', InputKind::kNormal, gemm, call.problem.seed));
  ASSIGN_OR_RETURN(const Kernel kernel, gpu->Load(call.candidate.cubin, call.candidate.entry, launch.smem_bytes));
  ASSIGN_OR_RETURN(
      const GemmParameters parameters,
      gpu->ParametersFor(launch, ArgumentsFor(gemm, a.memory.as(), b.memory.as(), c.memory.as(), workspace.as())));
  RETURN_IF_ERROR(gpu->Synchronize());
  for (int i = 0; i < calls; ++i) RETURN_IF_ERROR(gpu->StartGemm(kernel, launch, parameters));
  return gpu->Synchronize();
}

}  // namespace gemmsmith
