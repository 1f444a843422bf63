// Matrix products for inference (OpenBLAS), each on the thread that asks: threads are over problems.
#pragma once

namespace gemmsmith {

// Row-major matrices, a leading dimension each; the same bits for the same sizes and numbers.
struct DenseProduct {
  int rows, columns, depth;
  const float* a;  // [rows, depth]
  int lda;
  const float* b;  // [depth, columns], or [columns, depth] where it is transposed
  int ldb;
  bool b_is_transposed;
  float* c;  // [rows, columns]
  int ldc;
  bool adds = false;  // to what stands in c
};
void Multiply(const DenseProduct& product);

}  // namespace gemmsmith
