#include "evaluate/verify/cpu_product.h"

#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace gemmsmith {

namespace {

// OpenBLAS starts a thread a core as soon as it is loaded, in every process of ours, workers and compilers among them.
// On a machine of 64 cores that is 64 processes of 64 threads. It is linked into this very library, and its own
// constructor comes behind all that have a priority.
[[gnu::constructor(101)]] void StartWithoutThreads() { ::setenv("OPENBLAS_NUM_THREADS", "1", 0); }

}  // namespace

void CpuProduct(int threads, int rows, int columns, int depth, const float* a, const float* b, float* c) {
  openblas_set_num_threads(threads);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1.0f, a, depth, b, columns, 0.0f, c,
              columns);
}

void CpuProductOneByOne(int rows, int columns, int depth, const float* a, const float* b, float* c) {
  std::vector<double> sums(static_cast<size_t>(columns));
  for (int row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int k = 0; k < depth; ++k)
      for (int column = 0; column < columns; ++column)
        sums[size_t(column)] += double(a[int64_t(row) * depth + k]) * double(b[int64_t(k) * columns + column]);
    for (int column = 0; column < columns; ++column) c[int64_t(row) * columns + column] = float(sums[size_t(column)]);
  }
}

}  // namespace gemmsmith
