#include "bench_gpu.h"

#include <algorithm>
#include <span>

#include "compile/compiler.h"

namespace gemmsmith {

Result<BenchGpu> BenchGpu::Open() {
  BenchGpu bench;
  ASSIGN_OR_RETURN(bench.gpu_, Gpu::Open(0));
  ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, MakeNvrtcCompiler());
  ASSIGN_OR_RETURN(const Compilation compiled,
                   compiler->Compile(Source{.text = std::string(kCheckKernels), .entry = "check"},
                                     bench.gpu_->identity().device.Architecture()));
  if (!compiled.succeeded) return Unavailable("the bench's kernels do not compile: " + compiled.log);
  const auto load = [&](const char* name, Kernel& kernel) -> Status {
    ASSIGN_OR_RETURN(kernel, bench.gpu_->Load(compiled.binary.cubin, name, 0));
    return OkStatus();
  };
  RETURN_IF_ERROR(load("fill", bench.fill_));
  RETURN_IF_ERROR(load("fill_f32", bench.fill_f32_));
  RETURN_IF_ERROR(load("check", bench.check_));
  RETURN_IF_ERROR(load("untouched", bench.untouched_));
  RETURN_IF_ERROR(load("nothing", bench.nothing_));
  ASSIGN_OR_RETURN(bench.report_, bench.gpu_->Allocate(sizeof(CheckReport)));
  RETURN_IF_ERROR(bench.gpu_->Fill8(bench.report_.address(), 0, sizeof(CheckReport)));
  return bench;
}

Status BenchGpu::StartOver(const Kernel& kernel, int64_t items, void** arguments) {
  constexpr int64_t kThreads = 256, kMostBlocks = 132 * 32;
  Launch launch;
  launch.block = {uint32_t(kThreads)};
  launch.grid = {uint32_t(std::clamp<int64_t>((items + kThreads - 1) / kThreads, 1, kMostBlocks))};
  return gpu_->StartRaw(kernel, launch, arguments);
}

Status BenchGpu::Fill(CUdeviceptr memory, int64_t words, uint64_t seed, int type) {
  void* arguments[] = {&memory, &words, &seed, &type};
  return StartOver(fill_, words, arguments);
}

Status BenchGpu::FillF32(CUdeviceptr memory, int64_t count, uint64_t seed) {
  void* arguments[] = {&memory, &count, &seed};
  return StartOver(fill_f32_, count, arguments);
}

Status BenchGpu::Check(CheckArguments arguments) {
  arguments.report = report_.address();
  const int64_t elements = arguments.samples > 0 ? arguments.samples : arguments.m * arguments.n * arguments.batch;
  void* pointers[] = {&arguments};
  return StartOver(check_, elements * 32, pointers);
}

Status BenchGpu::Untouched(UntouchedArguments arguments) {
  arguments.report = report_.address();
  void* pointers[] = {&arguments};
  return StartOver(untouched_, arguments.words, pointers);
}

Result<CheckReport> BenchGpu::TakeReport() {
  CheckReport report;
  RETURN_IF_ERROR(gpu_->Synchronize());
  RETURN_IF_ERROR(gpu_->CopyToHost({reinterpret_cast<uint8_t*>(&report), sizeof report}, report_.address()));
  RETURN_IF_ERROR(gpu_->Fill8(report_.address(), 0, sizeof(CheckReport)));
  return report;
}

}  // namespace gemmsmith
