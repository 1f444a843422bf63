#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "commands.h"
#include "library_calls.h"

namespace gemmsmith {

namespace {

constexpr size_t kThreads = 64, kStreams = 4, kShapes = 48;
constexpr uint64_t kMatrixBytes = 128 * 128 * 2;
constexpr int64_t kCallsBetweenCaptures = 500;

gemmsmith_problem ShapeOf(size_t i) {
  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  problem.m = 8 + int64_t(i % 4) * 40, problem.n = 16 + int64_t(i / 4 % 4) * 16, problem.k = 32 + int64_t(i / 16) * 32;
  problem.b_order = i % 2 == 0 ? GEMMSMITH_COLUMN : GEMMSMITH_ROW;
  return problem;
}

// One thread with its streams and its results.
class Worker {
 public:
  Worker(const Driver& driver, CUcontext cuda, gemmsmith_context* library, CUdeviceptr inputs, CUdeviceptr results)
      : driver_(driver), cuda_(cuda), library_(library), inputs_(inputs), results_(results) {}

  Status Run(int64_t calls) {
    RETURN_IF_CUDA_ERROR(driver_.cuCtxSetCurrent(cuda_));
    for (CUstream& stream : streams_) RETURN_IF_CUDA_ERROR(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int64_t i = 0; i < calls; ++i) {
      RETURN_IF_ERROR(Call(size_t(i) % kShapes, streams_[size_t(i) % kStreams]));
      if (i % kCallsBetweenCaptures == kCallsBetweenCaptures - 1) RETURN_IF_ERROR(CaptureAndReplay());
    }
    for (CUstream stream : streams_) {
      RETURN_IF_CUDA_ERROR(driver_.cuStreamSynchronize(stream));
      RETURN_IF_CUDA_ERROR(driver_.cuStreamDestroy(stream));
    }
    return OkStatus();
  }

 private:
  Status Call(size_t shape, CUstream stream) {
    const gemmsmith_problem problem = ShapeOf(shape);
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    operands.a = reinterpret_cast<const void*>(inputs_);
    operands.b = reinterpret_cast<const void*>(inputs_ + kMatrixBytes);
    operands.d = reinterpret_cast<void*>(results_ + shape * kMatrixBytes);
    return LibraryStatus(gemmsmith_multiply(library_, &problem, &operands, stream), "gemmsmith_multiply");
  }
  // The graph outlives the stream it was captured on.
  Status CaptureAndReplay() {
    CUstream stream = nullptr;
    RETURN_IF_CUDA_ERROR(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RETURN_IF_CUDA_ERROR(driver_.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (size_t shape = 0; shape < 8; ++shape) RETURN_IF_ERROR(Call(shape, stream));
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    RETURN_IF_CUDA_ERROR(driver_.cuStreamEndCapture(stream, &graph));
    RETURN_IF_CUDA_ERROR(driver_.cuStreamDestroy(stream));
    RETURN_IF_CUDA_ERROR(driver_.cuGraphInstantiateWithFlags(&executable, graph, 0));
    RETURN_IF_CUDA_ERROR(driver_.cuGraphDestroy(graph));
    RETURN_IF_CUDA_ERROR(driver_.cuGraphLaunch(executable, streams_[0]));
    RETURN_IF_CUDA_ERROR(driver_.cuStreamSynchronize(streams_[0]));
    RETURN_IF_CUDA_ERROR(driver_.cuGraphExecDestroy(executable));
    return OkStatus();
  }

  const Driver& driver_;
  CUcontext cuda_;
  gemmsmith_context* library_;
  CUdeviceptr inputs_, results_;
  std::array<CUstream, kStreams> streams_{};
};

Status CheckResults(BenchGpu& bench, CUdeviceptr inputs, CUdeviceptr results) {
  for (size_t thread = 0; thread < kThreads; ++thread)
    for (size_t shape = 0; shape < kShapes; ++shape) {
      const gemmsmith_problem problem = ShapeOf(shape);
      const bool is_column = problem.b_order == GEMMSMITH_COLUMN;
      const CUdeviceptr result = results + (thread * kShapes + shape) * kMatrixBytes;
      RETURN_IF_ERROR(
          bench.Check({.a = {.first = inputs, .row_step = problem.k, .column_step = 1, .type = GEMMSMITH_F16},
                       .b = {.first = inputs + kMatrixBytes,
                             .row_step = is_column ? 1 : problem.n,
                             .column_step = is_column ? problem.k : 1,
                             .type = GEMMSMITH_F16},
                       .d = {.first = result, .row_step = problem.n, .column_step = 1, .type = GEMMSMITH_F16},
                       .m = problem.m,
                       .n = problem.n,
                       .k = problem.k,
                       .batch = 1,
                       .share_of_sum = 0x1p-20,
                       .share_of_result = 0x1p-11 * 1.01}));
    }
  ASSIGN_OR_RETURN(const CheckReport report, bench.TakeReport());
  return report.wrong == 0 ? OkStatus() : Unavailable(fmt::format("{} elements are wrong", report.wrong));
}

}  // namespace

Status RunThreads(BenchGpu& bench, const BenchOptions& options) {
  Gpu& gpu = bench.gpu();
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  ASSIGN_OR_RETURN(const OwnedContext library, OpenLibrary());
  ASSIGN_OR_RETURN(const DeviceMemory inputs, gpu.Allocate(2 * kMatrixBytes));
  ASSIGN_OR_RETURN(const DeviceMemory results, gpu.Allocate(kThreads * kShapes * kMatrixBytes));
  RETURN_IF_ERROR(bench.Fill(inputs.address(), int64_t(kMatrixBytes), 1, GEMMSMITH_F16));
  int ours = 0;
  for (size_t shape = 0; shape < kShapes; ++shape) {
    ASSIGN_OR_RETURN(const OwnedProduct product, Prepare(library.get(), ShapeOf(shape)));
    ours += IsOurs(Explain(product.get()));
  }
  RETURN_IF_ERROR(gpu.Synchronize());
  const int64_t calls = options.count / int64_t(kThreads);
  std::mutex mutex;
  Status first_failure;
  const auto run_all = [&](int64_t calls_of_each) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        const CUdeviceptr mine = results.address() + i * kShapes * kMatrixBytes;
        const Status done = Worker(*driver, gpu.context(), library.get(), inputs.address(), mine).Run(calls_of_each);
        const std::lock_guard lock(mutex);
        if (!done.ok() && first_failure.ok()) first_failure = done;
      });
    for (std::thread& thread : threads) thread.join();
    return first_failure;
  };
  RETURN_IF_ERROR(run_all(int64_t(kShapes)));  // warm
  const uint64_t free_before = gpu.FreeBytes();
  RETURN_IF_ERROR(run_all(calls));
  const int64_t taken = int64_t(free_before) - int64_t(gpu.FreeBytes());
  RETURN_IF_ERROR(CheckResults(bench, inputs.address(), results.address()));
  fmt::print(
      "{} threads x {} streams, {} calls of {} shapes ({} by kernels of ours), {} graphs: all results right, {} bytes "
      "of GPU memory taken\n",
      kThreads, kStreams, calls * int64_t(kThreads), kShapes, ours, calls / kCallsBetweenCaptures * int64_t(kThreads),
      taken);
  return OkStatus();
}

}  // namespace gemmsmith
