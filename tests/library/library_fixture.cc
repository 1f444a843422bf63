#include "library_fixture.h"

#include <algorithm>
#include <cmath>

namespace gemmsmith {

namespace {

int64_t Place(gemmsmith_order order, int64_t leading, int64_t row, int64_t column) {
  return order == GEMMSMITH_ROW ? row * leading + column : column * leading + row;
}

float ActivatedValue(gemmsmith_activation activation, float x) {
  if (activation == GEMMSMITH_RELU) return std::max(x, 0.0f);
  if (activation == GEMMSMITH_GELU) return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  return x;
}

}  // namespace

gemmsmith_status Library::Multiply(Case one, uint64_t seed) {
  gemmsmith_problem& p = one.problem;
  const auto leading = [](int64_t given, gemmsmith_order order, int64_t rows, int64_t columns) {
    return given != 0 ? given : order == GEMMSMITH_ROW ? columns : rows;
  };
  const int64_t lda = leading(p.lda, p.a_order, p.m, p.k), ldb = leading(p.ldb, p.b_order, p.k, p.n),
                ldc = leading(p.ldc, p.d_order, p.m, p.n), ldd = leading(p.ldd, p.d_order, p.m, p.n);
  const auto lines = [](gemmsmith_order order, int64_t rows, int64_t columns) {
    return order == GEMMSMITH_ROW ? rows : columns;
  };
  const int64_t a_size = lda * lines(p.a_order, p.m, p.k), b_size = ldb * lines(p.b_order, p.k, p.n),
                c_size = ldc * lines(p.d_order, p.m, p.n), d_size = ldd * lines(p.d_order, p.m, p.n);
  if (p.batch > 1) p.a_step = a_size, p.b_step = 0, p.c_step = c_size, p.d_step = d_size;
  const int in = p.ab_type == GEMMSMITH_F16 ? kFakeF16 : kFakeBf16;
  const int out = p.cd_type == GEMMSMITH_F32 ? kFakeF32 : in;
  Numbers a(in, a_size * p.batch, seed, one.shift_bytes), b(in, b_size, seed + 1, one.shift_bytes),
      c(out, c_size * p.batch, seed + 2, one.shift_bytes), d(out, d_size * p.batch, seed + 3, one.shift_bytes),
      before(out, d_size * p.batch, seed + 3), bias(out, std::max(p.m, p.n), seed + 4);
  gemmsmith_operands operands;
  gemmsmith_operands_default(&operands);
  operands.a = a.data(), operands.b = b.data(), operands.d = d.data();
  operands.c = one.beta == 0 ? nullptr : c.data();
  operands.bias = p.has_bias ? bias.data() : nullptr;
  operands.alpha = one.alpha, operands.beta = one.beta;
  const gemmsmith_status status = gemmsmith_multiply(context_, &p, &operands, nullptr);
  if (status != GEMMSMITH_OK) return status;
  std::vector<char> is_result(size_t(d.count()));
  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a.At(batch * p.a_step + Place(p.a_order, lda, i, k)) * b.At(Place(p.b_order, ldb, k, j));
        sum *= one.alpha;
        if (one.beta != 0) sum += one.beta * c.At(batch * p.c_step + Place(p.d_order, ldc, i, j));
        if (p.has_bias) sum += bias.At(p.d_order == GEMMSMITH_ROW ? j : i);
        const int64_t at = batch * p.d_step + Place(p.d_order, ldd, i, j);
        is_result[size_t(at)] = 1;
        const float expected = ActivatedValue(p.activation, sum);
        EXPECT_NEAR(d.At(at), expected, 0.02f * (1 + std::abs(expected))) << i << "," << j << " of batch " << batch;
        if (HasFailure()) return status;
      }
  for (int64_t at = 0; at < d.count(); ++at)
    EXPECT_TRUE(is_result[size_t(at)] || d.At(at) == before.At(at)) << "between the lines of d";
  return status;
}

}  // namespace gemmsmith
