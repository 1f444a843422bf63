// What the bench measures. Each prints a few lines and writes details, a JSON object a line, where a file is named.
#pragma once

#include <cstdint>
#include <string>

#include "bench_gpu.h"

namespace gemmsmith {

struct BenchOptions {
  int64_t count = 300;
  uint64_t seed = 1;
  double seconds = 300;
  std::string problems;  // a file of ReadProblem()'s lines; empty: drawn
  std::string details;   // a file; empty: none
  bool own = false;  // plain problems alone, each by a kernel of ours where one serves, expected to be faster or not
};

// Random problems, every element of the result (large ones: many) against sums in f64, twice with equal bits, and no
// byte beside the result changed. OK where all hold.
Status CheckProblems(BenchGpu& bench, const BenchOptions& options);
// The library beside cuBLASLt's first heuristic choice, in one interleaved race with operands that change.
Status RaceProblems(BenchGpu& bench, const BenchOptions& options);
// The host's time for a call that is prepared, beside an empty kernel's launch, cublasLtMatmul and cublasGemmEx.
Status TimeHost(BenchGpu& bench);
// The first call of a problem, with its kernel to be loaded and without.
Status TimeFirstCalls(const BenchOptions& options);
// Threads with streams of their own, some of them captured: results are right, and memory is as before.
Status RunThreads(BenchGpu& bench, const BenchOptions& options);

}  // namespace gemmsmith
