// For GPU tests of the families' kernels: launches under a watchdog, results by the verifier.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/all_cores.h"
#include "evaluate/gpu_test_compiler.h"
#include "evaluate/verify/verifier.h"
#include "program/emit.h"

namespace gemmsmith {

#define ASSERT_DONE(expression) ASSERT_TRUE((expression).ok())

// A kernel that hangs cannot be stopped from within. The process ends and names the plan.
class Watchdog {
 public:
  explicit Watchdog(std::string work)
      : work_(std::move(work)), thread_([this](std::stop_token stop) { Watch(stop); }) {}

 private:
  static constexpr double kPatienceSeconds = 120;  // under a sanitizer a launch of large tiles takes more than 30

  void Watch(const std::stop_token& stop) const {
    for (double waited = 0; waited < kPatienceSeconds; waited += 0.05) {
      if (stop.stop_requested()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    fmt::print(stderr, "hangs: {}\n", work_);
    std::abort();
  }
  const std::string work_;
  std::jthread thread_;
};

struct Pipeline {
  Gemm gemm;
  Plan plan;
  Compilation compilation;
};

class PipelineGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Gpu>> gpu = Gpu::Open(0);
    if (!gpu.ok()) GTEST_SKIP() << gpu.status().message();
    gpu_ = *std::move(gpu);
    if (gpu_->identity().device.compute_capability() != 90) GTEST_SKIP() << "no Hopper GPU";
    Result<std::unique_ptr<Compiler>> compiler = MakeCompilerOnAllCores();
    ASSERT_DONE(compiler);
    compiler_ = *std::move(compiler);
    Result<std::unique_ptr<HarnessKernels>> harness = HarnessKernels::Load(*gpu_, *compiler_);
    ASSERT_DONE(harness);
    harness_ = *std::move(harness);
  }

  void CompileAll(std::vector<Pipeline>& pipelines) {
    ForEachOnAllCores(pipelines.size(), [&](size_t at) {
      pipelines[at].compilation =
          *compiler_->Compile(Emit(pipelines[at].plan, pipelines[at].gemm), gpu_->identity().device.Architecture());
    });
  }

  // Launches the kernel, then calls `after` with the means to launch more. The result must then be right.
  using Again = std::function<Status(const std::function<Status()>& launch, const GuardedMatrix& c)>;
  void Run(const Pipeline& pipeline, Chaining chaining, int launches, const Again& after = {}) {
    SCOPED_TRACE(Print(pipeline.gemm) + " | " + Print(pipeline.plan));
    ASSERT_TRUE(pipeline.compilation.succeeded) << pipeline.compilation.log;
    const Gemm& gemm = pipeline.gemm;
    const Task task = MakeTask(gemm);
    Result<GuardedMatrix> a = GuardedMatrix::Create(*gpu_, task.inputs[0], gemm.kind.layout.a == Order::kRow);
    Result<GuardedMatrix> b = GuardedMatrix::Create(*gpu_, task.inputs[1], gemm.kind.layout.b == Order::kRow);
    Result<GuardedMatrix> c = GuardedMatrix::Create(*gpu_, task.output, true);
    ASSERT_TRUE(a.ok() && b.ok() && c.ok());
    ASSERT_DONE(FillOperand(*harness_, *a, 'A', InputKind::kNormal, gemm, 1));
    ASSERT_DONE(FillOperand(*harness_, *b, 'B', InputKind::kNormal, gemm, 1));
    const Result<Reference> reference = MakeReference(*gpu_, *harness_, gemm, *a, *b);
    ASSERT_DONE(reference);
    Inputs inputs{InputKind::kNormal, &*a, &*b, &*reference};
    ASSERT_DONE(harness_->ResetReport());
    ASSERT_DONE(harness_->Inspect({.a = &*a, .b = &*b}));
    const Result<HarnessReport> report = harness_->ReadReport();
    ASSERT_DONE(report);
    inputs.checksum_a = report->checksum_a, inputs.checksum_b = report->checksum_b;

    const Launch launch = LaunchFor(pipeline.plan, gemm);
    const Binary& binary = pipeline.compilation.binary;
    const Result<GuardedWorkspace> workspace = GuardedWorkspace::Create(*gpu_, launch.workspace_bytes);
    const Result<Kernel> kernel = gpu_->Load(binary.cubin, binary.entry, launch.smem_bytes);
    ASSERT_TRUE(workspace.ok() && kernel.ok());
    const Result<GemmParameters> parameters =
        gpu_->ParametersFor(launch, ArgumentsFor(gemm, a->data(), b->data(), c->data(), workspace->data()));
    ASSERT_DONE(parameters);
    const Watchdog watchdog(Print(gemm) + " | " + Print(pipeline.plan));
    Verifier verifier(*gpu_, *harness_);
    const auto start = [&] { return gpu_->StartGemm(*kernel, launch, *parameters, chaining); };
    const Result<Watched> watched = verifier.Watch(gemm, {&inputs, &*c, &*workspace}, 0, [&]() -> Status {
      for (int i = 0; i < launches; ++i) RETURN_IF_ERROR(start());
      return after ? after(start, *c) : OkStatus();
    });
    ASSERT_DONE(watched);
    ASSERT_EQ(watched->crash, "");
    EXPECT_EQ(watched->wrong, "");
    EXPECT_EQ(watched->damage, "");
  }

  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<HarnessKernels> harness_;
};

}  // namespace gemmsmith
