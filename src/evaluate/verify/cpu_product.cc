#include "evaluate/verify/cpu_product.h"

#include <cblas.h>

#include <thread>

namespace gemmsmith {

void CpuProduct(int rows, int columns, int depth, const float* a, const float* b, float* c) {
  openblas_set_num_threads(int(std::thread::hardware_concurrency()));
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1.0f, a, depth, b, columns, 0.0f, c,
              columns);
}

}  // namespace gemmsmith
