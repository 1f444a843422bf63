#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "bench_problem.h"
#include "commands.h"
#include "library_calls.h"

namespace gemmsmith {

namespace {

constexpr uint64_t kOperandBytes = uint64_t{1} << 30, kResultBytes = uint64_t{1} << 31, kWorkspaceBytes = 32 << 20;
constexpr int64_t kGuardBytes = 4096;
constexpr int64_t kMostProducts = int64_t{1} << 32;  // checked of one result
constexpr uint64_t kResultSeed = 3;

struct Slabs {
  DeviceMemory a, b, c, d, bias, workspace;
};

CheckedMatrix Described(const PlacedMatrix& matrix, CUdeviceptr first) {
  return {.first = first,
          .row_step = matrix.is_column ? 1 : matrix.leading,
          .column_step = matrix.is_column ? matrix.leading : 1,
          .batch_step = matrix.batch > 1 ? matrix.step : 0,
          .type = matrix.type};
}

class Checker {
 public:
  Checker(BenchGpu& bench, gemmsmith_context* context) : bench_(bench), context_(context) {}

  Status Allocate() {
    Gpu& gpu = bench_.gpu();
    ASSIGN_OR_RETURN(slabs_.a, gpu.Allocate(kOperandBytes));
    ASSIGN_OR_RETURN(slabs_.b, gpu.Allocate(kOperandBytes));
    ASSIGN_OR_RETURN(slabs_.c, gpu.Allocate(kResultBytes));
    ASSIGN_OR_RETURN(slabs_.d, gpu.Allocate(kResultBytes));
    ASSIGN_OR_RETURN(slabs_.bias, gpu.Allocate(1 << 20));
    ASSIGN_OR_RETURN(slabs_.workspace, gpu.Allocate(kWorkspaceBytes));
    return OkStatus();
  }

  // What is wrong; empty: nothing. `explanation`: of the product that served it.
  Result<std::string> Check(const BenchProblem& problem, bool with_workspace, std::string& explanation) {
    gemmsmith_problem asked = problem.problem;
    if (with_workspace) asked.workspace_bytes = kWorkspaceBytes;
    ASSIGN_OR_RETURN(const OwnedProduct product, Prepare(context_, asked));
    explanation = Explain(product.get());
    const auto at = [&](const DeviceMemory& slab) { return slab.address() + kGuardBytes + problem.shift_bytes; };
    RETURN_IF_ERROR(FillOperands(problem));
    gemmsmith_operands operands;
    gemmsmith_operands_default(&operands);
    operands.a = reinterpret_cast<const void*>(at(slabs_.a));
    operands.b = reinterpret_cast<const void*>(at(slabs_.b));
    operands.c = reinterpret_cast<const void*>(at(slabs_.c));
    operands.d = reinterpret_cast<void*>(at(slabs_.d));
    operands.bias = problem.problem.has_bias != 0 ? slabs_.bias.as<const void>() : nullptr;
    operands.alpha = problem.alpha, operands.beta = problem.beta;
    operands.workspace = with_workspace ? slabs_.workspace.as<void>() : nullptr;
    RETURN_IF_ERROR(LibraryStatus(gemmsmith_run(product.get(), &operands, bench_.gpu().stream()), "gemmsmith_run"));
    RETURN_IF_ERROR(CheckResult(problem, at(slabs_.a), at(slabs_.b), at(slabs_.c), at(slabs_.d)));
    RETURN_IF_ERROR(CheckMemory(problem));
    ASSIGN_OR_RETURN(const CheckReport report, bench_.TakeReport());
    worst_ = std::max(worst_, report.worst);
    if (report.wrong > 0)
      return fmt::format("{} elements wrong, one is number {}, worst {:.3g} of what is allowed", report.wrong,
                         ~report.one_wrong_complement, report.worst);
    if (report.touched > 0) return fmt::format("{} words changed beside the result", report.touched);
    return std::string();
  }
  double worst() const { return worst_; }

 private:
  Status FillOperands(const BenchProblem& problem) {
    RETURN_IF_ERROR(FillMatrix(slabs_.a, problem, 'a', 1));
    RETURN_IF_ERROR(FillMatrix(slabs_.b, problem, 'b', 2));
    RETURN_IF_ERROR(FillMatrix(slabs_.c, problem, 'c', 4));
    const int64_t words = MatrixOf(problem, 'd').SpanBytes() / 2 + kGuardBytes + problem.shift_bytes / 2;
    RETURN_IF_ERROR(bench_.Fill(slabs_.d.address(), words, kResultSeed, GEMMSMITH_F16));
    if (problem.problem.has_bias == 0) return OkStatus();
    if (problem.problem.cd_type == GEMMSMITH_F32) return bench_.FillF32(slabs_.bias.address(), 20008, 5);
    return bench_.Fill(slabs_.bias.address(), 20008, 5, problem.problem.cd_type);
  }
  Status FillMatrix(const DeviceMemory& slab, const BenchProblem& problem, char name, uint64_t seed) {
    const PlacedMatrix matrix = MatrixOf(problem, name);
    const CUdeviceptr first = slab.address() + kGuardBytes + problem.shift_bytes;
    const int64_t elements = matrix.SpanBytes() / matrix.element_bytes();
    if (matrix.type == GEMMSMITH_F32) return bench_.FillF32(first, elements, seed);
    return bench_.Fill(first, elements, seed, matrix.type);
  }
  Status CheckResult(const BenchProblem& problem, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUdeviceptr d) {
    const gemmsmith_problem& p = problem.problem;
    const int64_t elements = p.m * p.n * p.batch;
    const int64_t samples = std::max<int64_t>(kMostProducts / p.k, 4096);
    return bench_.Check({.a = Described(MatrixOf(problem, 'a'), a),
                         .b = Described(MatrixOf(problem, 'b'), b),
                         .c = Described(MatrixOf(problem, 'c'), c),
                         .d = Described(MatrixOf(problem, 'd'), d),
                         .bias = p.has_bias != 0 ? slabs_.bias.address() : 0,
                         .m = p.m,
                         .n = p.n,
                         .k = p.k,
                         .batch = p.batch,
                         .samples = samples < elements ? samples : 0,
                         .seed = uint64_t(elements),
                         .alpha = problem.alpha,
                         .beta = problem.beta,
                         .bias_along_rows = p.d_order == GEMMSMITH_ROW,
                         .activation = p.activation,
                         .share_of_sum = ShareOfSum(p.k),
                         .share_of_result = RoundingOf(p.cd_type)});
  }
  Status CheckMemory(const BenchProblem& problem) {
    const PlacedMatrix matrix = MatrixOf(problem, 'd');
    return bench_.Untouched({.memory = slabs_.d.address(),
                             .words = matrix.SpanBytes() / 2 + kGuardBytes + problem.shift_bytes / 2,
                             .seed = kResultSeed,
                             .first_word = (kGuardBytes + problem.shift_bytes) / 2,
                             .word_count = matrix.element_bytes() / 2,
                             .lines = matrix.lines,
                             .line = matrix.line,
                             .leading = matrix.leading,
                             .batch = matrix.batch,
                             .step = std::max<int64_t>(matrix.step, 1)});
  }

  BenchGpu& bench_;
  gemmsmith_context* const context_;
  Slabs slabs_;
  double worst_ = 0;
};

}  // namespace

Status CheckProblems(BenchGpu& bench, const BenchOptions& options) {
  ASSIGN_OR_RETURN(const OwnedContext context, OpenLibrary());
  Checker checker(bench, context.get());
  RETURN_IF_ERROR(checker.Allocate());
  std::vector<BenchProblem> named;
  if (!options.problems.empty()) {
    ASSIGN_OR_RETURN(named, ReadProblems(options.problems));
  }
  const int64_t count = named.empty() ? options.count : int64_t(named.size());
  std::mt19937_64 random(options.seed);
  int64_t done = 0, ours = 0, general = 0, wrong = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (; done < count; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > options.seconds) break;
    const BenchProblem problem = !named.empty() ? named[size_t(done)]
                                 : options.own  ? DrawPlainProblem(random)
                                                : DrawProblem(random);
    std::string explanation;
    const Result<std::string> found = checker.Check(problem, done % 2 == 1, explanation);
    const bool is_ours = IsOurs(explanation);
    ours += is_ours;
    general += is_ours && IsGeneral(explanation);
    std::string why = found.ok() ? *found : found.status().message();
    if (why.empty()) continue;
    ++wrong;
    const Result<std::string> otherwise = checker.Check(problem, done % 2 == 0, explanation);
    if (otherwise.ok() && otherwise->empty())
      why += done % 2 == 0 ? "; right with a workspace" : "; right without workspace";
    fmt::print("{} ({}): {}\n", problem.Print(), is_ours ? "ours" : "cuBLASLt", why);
    std::fflush(stdout);
    if (!bench.gpu().Synchronize().ok()) return Unavailable("the GPU is lost");
  }
  fmt::print(
      "{} problems: {} served by kernels of ours, {} of them by kernels for any shape, {} by cuBLASLt; {} wrong; worst "
      "error {:.2f} of the allowed\n",
      done, ours, general, done - ours, wrong, checker.worst());
  return wrong == 0 ? OkStatus() : Unavailable("results are wrong");
}

}  // namespace gemmsmith
