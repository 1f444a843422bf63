#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "bench_problem.h"
#include "commands.h"
#include "library_calls.h"

namespace gemmsmith {

namespace {

constexpr size_t kThreads = 64, kStreams = 4;
constexpr int64_t kCallsBetweenCaptures = 500;
constexpr size_t kCapturedCalls = 8;

using Problems = std::vector<gemmsmith_problem>;

Problems SmallProblems() {
  Problems problems;
  for (int64_t i = 0; i < 48; ++i) {
    gemmsmith_problem& problem = problems.emplace_back();
    gemmsmith_problem_default(&problem);
    problem.m = 8 + i % 4 * 40, problem.n = 16 + i / 4 % 4 * 16, problem.k = 32 + i / 16 * 32;
    problem.b_order = i % 2 == 0 ? GEMMSMITH_COLUMN : GEMMSMITH_ROW;
  }
  return problems;
}

Result<Problems> ProblemsOf(const BenchOptions& options) {
  if (options.problems.empty()) return SmallProblems();
  ASSIGN_OR_RETURN(const std::vector<BenchProblem> read, ReadProblems(options.problems));
  Problems problems;
  for (const BenchProblem& one : read) problems.push_back(one.problem);
  return problems;
}

// Where the matrices of all problems lie: a and b are the same numbers for all, each thread has a result of each
// problem.
struct Room {
  uint64_t a_bytes = 0, b_bytes = 0, d_bytes = 0;

  explicit Room(const Problems& problems) {
    for (const gemmsmith_problem& problem : problems) {
      a_bytes = std::max(a_bytes, Bytes(problem.m, problem.k));
      b_bytes = std::max(b_bytes, Bytes(problem.k, problem.n));
      d_bytes = std::max(d_bytes, Bytes(problem.m, problem.n));
    }
  }
  static uint64_t Bytes(int64_t rows, int64_t columns) { return uint64_t(rows * columns * 2 + 255) / 256 * 256; }
};

// One thread with its streams and its results.
class Worker {
 public:
  Worker(const Driver& driver, CUcontext cuda, gemmsmith_context* library, const Problems& problems, CUdeviceptr inputs,
         CUdeviceptr results)
      : driver_(driver),
        cuda_(cuda),
        library_(library),
        problems_(problems),
        room_(problems),
        inputs_(inputs),
        results_(results) {}

  Status Run(int64_t calls) {
    RETURN_IF_CUDA_ERROR(driver_.cuCtxSetCurrent(cuda_));
    for (CUstream& stream : streams_) RETURN_IF_CUDA_ERROR(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int64_t i = 0; i < calls; ++i) {
      RETURN_IF_ERROR(Call(size_t(i) % problems_.size(), streams_[size_t(i) % kStreams]));
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
    const gemmsmith_problem& problem = problems_[shape];
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    operands.a = reinterpret_cast<const void*>(inputs_);
    operands.b = reinterpret_cast<const void*>(inputs_ + room_.a_bytes);
    operands.d = reinterpret_cast<void*>(results_ + shape * room_.d_bytes);
    return LibraryStatus(gemmsmith_multiply(library_, &problem, &operands, stream), "gemmsmith_multiply");
  }
  // The graph outlives the stream it was captured on.
  Status CaptureAndReplay() {
    CUstream stream = nullptr;
    RETURN_IF_CUDA_ERROR(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RETURN_IF_CUDA_ERROR(driver_.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (size_t i = 0; i < kCapturedCalls; ++i) RETURN_IF_ERROR(Call(i % problems_.size(), stream));
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
  const Problems& problems_;
  const Room room_;
  CUdeviceptr inputs_, results_;
  std::array<CUstream, kStreams> streams_{};
};

Status CheckResults(BenchGpu& bench, const Problems& problems, CUdeviceptr inputs, CUdeviceptr results) {
  const Room room(problems);
  for (size_t thread = 0; thread < kThreads; ++thread)
    for (size_t i = 0; i < problems.size(); ++i) {
      const gemmsmith_problem& problem = problems[i];
      const bool is_column = problem.b_order == GEMMSMITH_COLUMN;
      const CUdeviceptr result = results + (thread * problems.size() + i) * room.d_bytes;
      RETURN_IF_ERROR(
          bench.Check({.a = {.first = inputs, .row_step = problem.k, .column_step = 1, .type = problem.ab_type},
                       .b = {.first = inputs + room.a_bytes,
                             .row_step = is_column ? 1 : problem.n,
                             .column_step = is_column ? problem.k : 1,
                             .type = problem.ab_type},
                       .d = {.first = result, .row_step = problem.n, .column_step = 1, .type = problem.cd_type},
                       .m = problem.m,
                       .n = problem.n,
                       .k = problem.k,
                       .batch = 1,
                       .share_of_sum = ShareOfSum(problem.k),
                       .share_of_result = RoundingOf(problem.cd_type)}));
    }
  ASSIGN_OR_RETURN(const CheckReport report, bench.TakeReport());
  return report.wrong == 0 ? OkStatus() : Unavailable(fmt::format("{} elements are wrong", report.wrong));
}

}  // namespace

Status RunThreads(BenchGpu& bench, const BenchOptions& options) {
  Gpu& gpu = bench.gpu();
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  ASSIGN_OR_RETURN(const OwnedContext library, OpenLibrary());
  ASSIGN_OR_RETURN(const Problems problems, ProblemsOf(options));
  const Room room(problems);
  const uint64_t results_of_each = problems.size() * room.d_bytes;
  ASSIGN_OR_RETURN(const DeviceMemory inputs, gpu.Allocate(room.a_bytes + room.b_bytes));
  ASSIGN_OR_RETURN(const DeviceMemory results, gpu.Allocate(kThreads * results_of_each));
  RETURN_IF_ERROR(bench.Fill(inputs.address(), int64_t(room.a_bytes + room.b_bytes) / 2, 1, problems[0].ab_type));
  int ours = 0;
  for (const gemmsmith_problem& problem : problems) {
    ASSIGN_OR_RETURN(const OwnedProduct product, Prepare(library.get(), problem));
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
        const CUdeviceptr mine = results.address() + i * results_of_each;
        const Status done =
            Worker(*driver, gpu.context(), library.get(), problems, inputs.address(), mine).Run(calls_of_each);
        const std::lock_guard lock(mutex);
        if (!done.ok() && first_failure.ok()) first_failure = done;
      });
    for (std::thread& thread : threads) thread.join();
    return first_failure;
  };
  RETURN_IF_ERROR(run_all(int64_t(problems.size())));  // warm
  const uint64_t free_before = gpu.FreeBytes();
  RETURN_IF_ERROR(run_all(calls));
  const int64_t taken = int64_t(free_before) - int64_t(gpu.FreeBytes());
  RETURN_IF_ERROR(CheckResults(bench, problems, inputs.address(), results.address()));
  fmt::print(
      "{} threads x {} streams, {} calls of {} shapes ({} by kernels of ours), {} graphs: all results right, {} bytes "
      "of GPU memory taken\n",
      kThreads, kStreams, calls * int64_t(kThreads), problems.size(), ours,
      calls / kCallsBetweenCaptures * int64_t(kThreads), taken);
  return OkStatus();
}

}  // namespace gemmsmith
