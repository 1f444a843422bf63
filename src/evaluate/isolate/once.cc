#include "evaluate/isolate/once.h"

#include "base/files.h"
#include "evaluate/verify/reference.h"

namespace gemmsmith {

namespace {

Result<std::unique_ptr<HarnessKernels>> LoadHarness(Gpu& gpu) {
  ASSIGN_OR_RETURN(std::unique_ptr<Compiler> nvrtc, MakeNvrtcCompiler());
  const std::unique_ptr<Compiler> compiler = MakeCachedCompiler(std::move(nvrtc), HomeFolder() / "cache");
  return HarnessKernels::Load(gpu, *compiler);
}

}  // namespace

Result<BoundCall::Operand> BoundCall::MakeOperand(const gemmsmith::Operand& operand, bool lines_are_rows) const {
  Operand made;
  ASSIGN_OR_RETURN(made.memory, gpu_.Allocate(uint64_t(operand.SpanBytes())));
  made.view = {made.memory.as(),       operand.lines,
               operand.line_length,    operand.stride,
               lines_are_rows ? 1 : 0, operand.type == ScalarType::kF16 ? ElementType::kF16 : ElementType::kBf16};
  RETURN_IF_ERROR(gpu_.Fill8(made.memory.address(), 0, made.memory.size_bytes()));
  return made;
}

Status BoundCall::Fill(HarnessKernels& harness) {
  const ProblemMessage& problem = call_.problem;
  RETURN_IF_ERROR(FillView(harness, a_.view, 'A', InputKind::kNormal, problem.gemm, problem.seed));
  RETURN_IF_ERROR(FillView(harness, b_.view, 'B', InputKind::kNormal, problem.gemm, problem.seed));
  return gpu_.Fill8(workspace_.address(), 0, workspace_.size_bytes());
}

Result<std::unique_ptr<BoundCall>> BoundCall::Create(Gpu& gpu, HarnessKernels& harness, const SingleCall& call) {
  std::unique_ptr<BoundCall> bound(new BoundCall(gpu, call));
  const Gemm& gemm = call.problem.gemm;
  const Task task = MakeTask(gemm);
  ASSIGN_OR_RETURN(bound->a_, bound->MakeOperand(task.inputs[0], gemm.kind.layout.a == Order::kRow));
  ASSIGN_OR_RETURN(bound->b_, bound->MakeOperand(task.inputs[1], gemm.kind.layout.b == Order::kRow));
  ASSIGN_OR_RETURN(bound->c_, bound->MakeOperand(task.output, true));
  ASSIGN_OR_RETURN(bound->workspace_, gpu.Allocate(call.candidate.launch.workspace_bytes));
  RETURN_IF_ERROR(bound->Fill(harness));
  ASSIGN_OR_RETURN(bound->code_, CandidateCall::Load(gpu, call.candidate));
  ASSIGN_OR_RETURN(bound->bound_,
                   bound->code_->Bind(gemm, {bound->a_.memory.as(), bound->b_.memory.as(), bound->c_.memory.as()},
                                      bound->workspace_.as()));
  RETURN_IF_ERROR(gpu.Synchronize());
  return bound;
}

Result<std::string> RunOnce(int gpu_ordinal, std::span<const SingleCall> calls, int times) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Gpu> gpu, Gpu::Open(gpu_ordinal));
  ASSIGN_OR_RETURN(const std::unique_ptr<HarnessKernels> harness, LoadHarness(*gpu));
  for (const SingleCall& call : calls) {
    ASSIGN_OR_RETURN(const std::unique_ptr<BoundCall> bound, BoundCall::Create(*gpu, *harness, call));
    Status called;
    for (int i = 0; i < times && called.ok(); ++i) called = bound->Put();
    if (called.ok()) called = gpu->Synchronize();
    if (!called.ok()) return called.message();
  }
  return std::string();
}

Result<std::vector<std::string>> ArgumentsForOnce(const std::filesystem::path& folder,
                                                  std::span<const SingleCall> calls, int gpu_ordinal, int times) {
  std::vector<std::string> arguments = {"once"};
  for (const SingleCall& call : calls) {
    const std::filesystem::path file = folder / fmt::format("call-{}", arguments.size());
    RETURN_IF_ERROR(WriteFileAtomic(file, Encode(call)));
    arguments.push_back(file.string());
  }
  arguments.insert(arguments.end(), {"--gpu", std::to_string(gpu_ordinal), "--calls", std::to_string(times)});
  return arguments;
}

Result<OtherProcess> OtherProcessFor(const SingleCall& call, int gpu_ordinal, const std::filesystem::path& folder) {
  if (call.candidate.source) return Unavailable("Nsight Compute is asked for plans only");
  ASSIGN_OR_RETURN(std::vector<std::string> arguments, ArgumentsForOnce(folder, {&call, 1}, gpu_ordinal, 2));
  return OtherProcess{call.candidate.entry, std::move(arguments)};
}

}  // namespace gemmsmith
