#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "bench_problem.h"
#include "commands.h"
#include "library_calls.h"

namespace gemmsmith {

namespace {

double MillisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void Report(const char* what, std::vector<double>& ms) {
  if (ms.empty()) return;
  std::sort(ms.begin(), ms.end());
  fmt::print("{:<52} {:5} calls, median {:.3f} ms, 95 % {:.3f}, most {:.3f}\n", what, ms.size(), ms[ms.size() / 2],
             ms[ms.size() * 95 / 100], ms.back());
}

}  // namespace

Status TimeFirstCalls(const BenchOptions& options) {
  auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const OwnedContext context, OpenLibrary());
  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  ASSIGN_OR_RETURN(OwnedProduct product, Prepare(context.get(), problem));
  fmt::print("the first product of a process, of size 0: {:.1f} ms\n", MillisecondsSince(begin));
  std::vector<double> new_kernel, known_kernel, library;
  std::mt19937_64 random(options.seed);
  for (int64_t i = 0; i < options.count; ++i) {
    BenchProblem drawn = DrawProblem(random);
    begin = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(product, Prepare(context.get(), drawn.problem));
    const double first = MillisecondsSince(begin);
    if (!IsOurs(Explain(product.get()))) {
      library.push_back(first);
      continue;
    }
    new_kernel.push_back(first);
    drawn.problem.workspace_bytes = 16;  // another problem with the same kernel
    begin = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(product, Prepare(context.get(), drawn.problem));
    known_kernel.push_back(MillisecondsSince(begin));
  }
  Report("first call of a problem, its kernel perhaps not loaded", new_kernel);
  Report("first call of a problem, its kernel loaded", known_kernel);
  Report("first call of a problem that cuBLASLt serves", library);
  return OkStatus();
}

}  // namespace gemmsmith
