#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "commands.h"
#include "gpu/cublas.h"
#include "library_calls.h"

namespace gemmsmith {

namespace {

constexpr int kCalls = 200, kRounds = 41;  // a batch fits the driver's queue

struct HostContender {
  const char* name;
  std::function<Status()> call;
  std::vector<double> us;
};

Result<double> MicrosecondsOf(Gpu& gpu, const std::function<Status()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) RETURN_IF_ERROR(call());
  const auto end = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(gpu.Synchronize());
  return std::chrono::duration<double, std::micro>(end - begin).count() / kCalls;
}

}  // namespace

Status TimeHost(BenchGpu& bench) {
  Gpu& gpu = bench.gpu();
  ASSIGN_OR_RETURN(const Driver* const driver, Driver::Open());
  ASSIGN_OR_RETURN(const OwnedContext context, OpenLibrary());
  ASSIGN_OR_RETURN(const DeviceMemory memory, gpu.Allocate(4 << 20));
  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  problem.m = problem.n = problem.k = 64;
  problem.b_order = GEMMSMITH_COLUMN;
  ASSIGN_OR_RETURN(const OwnedProduct own, Prepare(context.get(), problem));
  fmt::print("{}", Explain(own.get()));
  if (!IsOurs(Explain(own.get())))
    return Unavailable("64x64x64 has no kernel of ours: name a file by GEMMSMITH_KERNELS");
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = memory.as<void>();
  operands.b = memory.as<char>() + (1 << 20);
  operands.d = memory.as<char>() + (2 << 20);
  const Gemm gemm{.shape = {64, 64, 64}, .kind = {.layout = kTn}};
  const GemmBuffers buffers{.a = operands.a, .b = operands.b, .c = operands.d};
  ASSIGN_OR_RETURN(const std::unique_ptr<Cublas> cublas, Cublas::Open());
  ASSIGN_OR_RETURN(const std::unique_ptr<LtGemm> lt, LtGemm::Create(*cublas, gemm, 0, 1));
  if (lt->candidate_count() == 0) return Unavailable("cuBLASLt has no algorithm for 64x64x64");
  Launch bare;
  bare.block = {128};
  CheckArguments block;
  void* arguments[] = {&block};
  const CUfunction nothing = bench.nothing().function();
  std::vector<HostContender> contenders = {
      {"a bare launch of an empty kernel",
       [&] {
         return DriverStatus(StartOn(gpu.stream(), *driver, nothing, bare, 1, arguments, Chaining::kNone), "launch");
       },
       {}},
      {"gemmsmith_run",
       [&] { return LibraryStatus(gemmsmith_run(own.get(), &operands, gpu.stream()), "gemmsmith_run"); },
       {}},
      {"gemmsmith_multiply",
       [&] {
         return LibraryStatus(gemmsmith_multiply(context.get(), &problem, &operands, gpu.stream()),
                              "gemmsmith_multiply");
       },
       {}},
      {"cublasLtMatmul", [&] { return lt->Run(0, buffers, gpu.stream()); }, {}},
      {"cublasGemmEx", [&] { return cublas->GemmEx(gemm, buffers, gpu.stream()); }, {}}};
  for (int round = 0; round < kRounds; ++round)
    for (HostContender& one : contenders) {
      ASSIGN_OR_RETURN(const double us, MicrosecondsOf(gpu, one.call));
      if (round > 0) one.us.push_back(us);
    }
  for (HostContender& one : contenders) {
    std::sort(one.us.begin(), one.us.end());
    fmt::print("{:<34} {:6.2f} us a call (least {:.2f})\n", one.name, one.us[one.us.size() / 2], one.us.front());
  }
  return OkStatus();
}

}  // namespace gemmsmith
