#include "gpu/cublaslt.h"

#include <gtest/gtest.h>

#include <vector>

namespace gemmsmith {
namespace {

// Element (row, column) of op(operand), as cuBLAS documents it.
double At(const std::vector<double>& data, const ColumnMajorProduct::Operand& operand, uint64_t row, uint64_t column) {
  if (operand.operation == CUBLAS_OP_T) std::swap(row, column);
  EXPECT_LT(row, operand.rows);
  EXPECT_LT(column, operand.columns);
  return data[column * operand.rows + row];
}

TEST(Cublaslt, TheColumnMajorProductIsTheRowMajorOne) {
  constexpr int m = 2, n = 3, k = 4;
  std::vector<double> a, b;
  for (int i = 0; i < m * k; ++i) a.push_back(i + 1);
  for (int i = 0; i < k * n; ++i) b.push_back(10 - i);
  for (const bool a_is_column : {false, true})
    for (const bool b_is_column : {false, true}) {
      const ColumnMajorProduct product = AsColumnMajor(m, n, k, a_is_column, b_is_column);
      ASSERT_EQ(product.result.rows, n);
      ASSERT_EQ(product.result.columns, m);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double expected = 0, sum = 0;
          for (int step = 0; step < k; ++step) {
            expected += a[size_t(a_is_column ? step * m + i : i * k + step)] *
                        b[size_t(b_is_column ? j * k + step : step * n + j)];
            sum +=
                At(b, product.first, uint64_t(j), uint64_t(step)) * At(a, product.second, uint64_t(step), uint64_t(i));
          }
          EXPECT_EQ(sum, expected) << i << "," << j << " of " << a_is_column << b_is_column;
        }
    }
}

}  // namespace
}  // namespace gemmsmith
