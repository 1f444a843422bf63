#include "runtime/request.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace gemmsmith {

namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 30, kMaxElements = int64_t{1} << 40;

struct StoredMatrix {
  char name;
  int64_t rows, columns;
  bool is_column;
  int64_t& leading;
  int64_t& step;
  bool is_written;

  int64_t line() const { return is_column ? rows : columns; }
  int64_t lines() const { return is_column ? columns : rows; }
};

// Sets packed leading dimensions. Extents are below 2^30 here, so nothing overflows before it is refused.
Status CheckMatrix(StoredMatrix matrix, int64_t batch) {
  if (matrix.leading == 0) matrix.leading = std::max<int64_t>(1, matrix.line());
  if (matrix.leading < matrix.line())
    return InvalidArgument(
        fmt::format("ld{} = {} is shorter than a line of {} elements", matrix.name, matrix.leading, matrix.line()));
  if (matrix.leading > kMaxElements || __int128(matrix.leading) * matrix.lines() > kMaxElements)
    return InvalidArgument(fmt::format("matrix {} is over 2^40 elements", matrix.name));
  if (batch <= 1) {
    matrix.step = 0;
    return OkStatus();
  }
  if (matrix.step < 0) return InvalidArgument(fmt::format("{}_step = {} is negative", matrix.name, matrix.step));
  if (matrix.step > kMaxElements || __int128(matrix.step) * batch > kMaxElements)
    return InvalidArgument(fmt::format("the matrices {} of the batch span over 2^40 elements", matrix.name));
  if (matrix.is_written && matrix.step < (matrix.lines() - 1) * matrix.leading + matrix.line())
    return InvalidArgument(fmt::format("{}_step = {} lets the results of a batch overlap", matrix.name, matrix.step));
  return OkStatus();
}

bool IsHalf(gemmsmith_type type) { return type == GEMMSMITH_F16 || type == GEMMSMITH_BF16; }
bool IsOrder(gemmsmith_order order) { return order == GEMMSMITH_ROW || order == GEMMSMITH_COLUMN; }

Status CheckValues(const gemmsmith_problem& problem) {
  for (const auto& [name, extent] :
       {std::pair{"m", problem.m}, {"n", problem.n}, {"k", problem.k}, {"batch", problem.batch}})
    if (extent < 0 || extent > kMaxExtent)
      return InvalidArgument(fmt::format("{} = {} is not from 0 to 2^30", name, extent));
  if (!IsOrder(problem.a_order) || !IsOrder(problem.b_order) || !IsOrder(problem.d_order))
    return InvalidArgument("an order is neither row nor column");
  if (!IsHalf(problem.ab_type)) return InvalidArgument("ab_type is neither f16 nor bf16");
  if (problem.cd_type != problem.ab_type && problem.cd_type != GEMMSMITH_F32)
    return InvalidArgument("cd_type is neither ab_type nor f32");
  if (problem.activation < GEMMSMITH_NO_ACTIVATION || problem.activation > GEMMSMITH_GELU)
    return InvalidArgument("an activation of another number");
  if (!std::has_single_bit(problem.pointer_alignment) || problem.pointer_alignment < 2)
    return InvalidArgument(
        fmt::format("pointer_alignment = {} is no power of two of at least 2 bytes", problem.pointer_alignment));
  for (const int64_t leading : {problem.lda, problem.ldb, problem.ldc, problem.ldd})
    if (leading < 0) return InvalidArgument("a leading dimension is negative");
  return OkStatus();
}

}  // namespace

uint32_t AlignmentOf(const gemmsmith_operands& operands) {
  auto bits = reinterpret_cast<uintptr_t>(operands.a) | reinterpret_cast<uintptr_t>(operands.b) |
              reinterpret_cast<uintptr_t>(operands.d) | kTmaAlignment;
  if (operands.beta != 0) bits |= reinterpret_cast<uintptr_t>(operands.c);
  return uint32_t(1) << std::countr_zero(bits);
}

Result<Request> MakeRequest(const gemmsmith_problem& problem) {
  if (problem.size != sizeof problem)
    return InvalidArgument("the problem was not set up by gemmsmith_problem_default() of this version");
  RETURN_IF_ERROR(CheckValues(problem));
  const bool swap = problem.d_order == GEMMSMITH_COLUMN;
  Request request{.m = problem.m,
                  .n = problem.n,
                  .k = problem.k,
                  .batch = problem.batch,
                  .lda = problem.lda,
                  .ldb = problem.ldb,
                  .ldc = problem.ldc,
                  .ldd = problem.ldd,
                  .a_step = problem.a_step,
                  .b_step = problem.b_step,
                  .c_step = problem.c_step,
                  .d_step = problem.d_step,
                  .workspace_bytes = problem.workspace_bytes,
                  .pointer_alignment = std::min<uint32_t>(problem.pointer_alignment, 256),
                  .a_is_column = problem.a_order == GEMMSMITH_COLUMN,
                  .b_is_column = problem.b_order == GEMMSMITH_COLUMN,
                  .is_bf16 = problem.ab_type == GEMMSMITH_BF16,
                  .is_f32_result = problem.cd_type == GEMMSMITH_F32,
                  .activation = uint8_t(problem.activation),
                  .has_bias = problem.has_bias != 0,
                  .alpha_is_one = problem.alpha_is_one != 0,
                  .beta_is_zero = problem.beta_is_zero != 0,
                  .constant_b = problem.constant_b != 0,
                  .is_swapped = swap,
                  .own_only = problem.own_only != 0};
  RETURN_IF_ERROR(CheckMatrix({'a', problem.m, problem.k, request.a_is_column != 0, request.lda, request.a_step, false},
                              problem.batch));
  RETURN_IF_ERROR(CheckMatrix({'b', problem.k, problem.n, request.b_is_column != 0, request.ldb, request.b_step, false},
                              problem.batch));
  RETURN_IF_ERROR(CheckMatrix({'d', problem.m, problem.n, swap, request.ldd, request.d_step, true}, problem.batch));
  if (request.beta_is_zero)
    request.ldc = request.ldd, request.c_step = request.d_step;
  else
    RETURN_IF_ERROR(CheckMatrix({'c', problem.m, problem.n, swap, request.ldc, request.c_step, false}, problem.batch));
  if (request.k == 0 && !request.IsEmpty()) return Unavailable("k = 0: fill d instead, there is nothing to multiply");
  if (!swap) return request;
  // D^T = B^T A^T: a matrix in column order is its own transpose in row order.
  std::swap(request.m, request.n);
  std::swap(request.lda, request.ldb);
  std::swap(request.a_step, request.b_step);
  std::swap(request.a_is_column, request.b_is_column);
  request.a_is_column ^= 1, request.b_is_column ^= 1;
  request.constant_b = 0;  // what the promise is about is our A now
  return request;
}

std::optional<Gemm> Request::AsGemm() const {
  if (batch != 1 || activation != GEMMSMITH_NO_ACTIVATION || has_bias || !alpha_is_one || !beta_is_zero ||
      is_f32_result || pointer_alignment < kTmaAlignment || lda > kMaxExtent || ldb > kMaxExtent || ldd > kMaxExtent)
    return std::nullopt;
  const Gemm packed{
      .shape = {int(m), int(n), int(k)},
      .kind = {.layout = {a_is_column ? Order::kColumn : Order::kRow, b_is_column ? Order::kColumn : Order::kRow},
               .type = is_bf16 ? ScalarType::kBf16 : ScalarType::kF16,
               .constant_b = constant_b != 0}};
  Gemm gemm = packed;
  if (lda != packed.LeadingA()) gemm.lda = int(lda);
  if (ldb != packed.LeadingB()) gemm.ldb = int(ldb);
  if (ldd != packed.LeadingC()) gemm.ldc = int(ldd);
  if (!WhyInvalid(gemm).empty()) return std::nullopt;
  return gemm;
}

std::string Request::Print() const {
  if (const std::optional<Gemm> gemm = AsGemm()) return gemmsmith::Print(*gemm);
  return fmt::format("{}x{}x{}{} {}{} {}{}{}{}", m, n, k, batch == 1 ? "" : fmt::format(" batch={}", batch),
                     is_bf16 ? "bf16" : "f16", is_f32_result ? " to f32" : "", alpha_is_one ? "" : "alpha ",
                     beta_is_zero ? "" : "beta ", has_bias ? "bias " : "",
                     activation == GEMMSMITH_RELU   ? "relu"
                     : activation == GEMMSMITH_GELU ? "gelu"
                                                    : "");
}

}  // namespace gemmsmith
