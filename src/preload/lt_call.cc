#include "preload/scales.h"

namespace gemmsmith {

namespace {

// Attributes that an older library does not know have their default.
class Reader {
 public:
  explicit Reader(const RealLt& real) : real_(real) {}
  template <class T>
  T Of(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute, T otherwise) const {
    return Value(real_.cublasLtMatmulDescGetAttribute, description, attribute, otherwise);
  }
  template <class T>
  T Of(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, T otherwise) const {
    return Value(real_.cublasLtMatrixLayoutGetAttribute, layout, attribute, otherwise);
  }

 private:
  template <class Get, class Handle, class Attribute, class T>
  static T Value(Get get, Handle handle, Attribute attribute, T otherwise) {
    T value{};
    size_t written = 0;
    const cublasStatus_t status = get(handle, attribute, &value, sizeof value, &written);
    return status == CUBLAS_STATUS_SUCCESS && written == sizeof value ? value : otherwise;
  }

  const RealLt& real_;
};

// Anything that is not its default, but for operations, epilogue and bias.
bool HasSettings(const Reader& read, cublasLtMatmulDesc_t description) {
  for (const auto attribute : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                               CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
                               CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                               CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR})
    if (read.Of<const void*>(description, attribute, nullptr) != nullptr) return true;
  return read.Of<int32_t>(description, CUBLASLT_MATMUL_DESC_POINTER_MODE, -1) != CUBLASLT_POINTER_MODE_HOST ||
         read.Of<int32_t>(description, CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_N) != CUBLAS_OP_N ||
         read.Of<int32_t>(description, CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL) !=
             CUBLAS_FILL_MODE_FULL ||
         read.Of<int32_t>(description, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 0) != 0;
}

struct Matrix {
  cudaDataType type;
  int64_t rows, columns, leading, step;
  int32_t batch;
};

// nullopt: not simply columns in memory.
std::optional<Matrix> MatrixOf(const Reader& read, cublasLtMatrixLayout_t layout) {
  if (layout == nullptr ||
      read.Of<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL) != CUBLASLT_ORDER_COL ||
      read.Of<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 0) != 0 ||
      read.Of<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, 0) != 0)
    return std::nullopt;
  return Matrix{.type = cudaDataType(read.Of<uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_8I)),
                .rows = int64_t(read.Of<uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 0)),
                .columns = int64_t(read.Of<uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 0)),
                .leading = read.Of<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD, 0),
                .step = read.Of<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0),
                .batch = read.Of<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1)};
}

void SetEpilogue(uint32_t epilogue, gemmsmith_problem& problem, Call& call) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      problem.has_bias = 1;
      break;
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_GELU:
      break;
    default:
      call.other_epilogue = epilogue;
      return;
  }
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) problem.activation = GEMMSMITH_RELU;
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) != 0) problem.activation = GEMMSMITH_GELU;
}

}  // namespace

std::optional<Call> CallOf(const RealLt& real, const LtArguments& from) {
  const Reader read(real);
  const Sums sums = SumsOf(
      cublasComputeType_t(read.Of<int32_t>(from.description, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_64F)));
  const auto scale = read.Of<int32_t>(from.description, CUBLASLT_MATMUL_DESC_SCALE_TYPE, -1);
  const std::optional<Matrix> a = MatrixOf(read, from.a_layout), b = MatrixOf(read, from.b_layout),
                              c = MatrixOf(read, from.c_layout), d = MatrixOf(read, from.d_layout);
  if (!a || !b || !d || from.alpha == nullptr || from.beta == nullptr) return std::nullopt;
  if (sums == Sums::kOther || scale != (sums == Sums::kF16 ? CUDA_R_16F : CUDA_R_32F)) return std::nullopt;
  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  if (!SetTypes(a->type, b->type, d->type, problem)) return std::nullopt;
  const bool a_as_is = read.Of<int32_t>(from.description, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N) == CUBLAS_OP_N;
  const bool b_as_is = read.Of<int32_t>(from.description, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N) == CUBLAS_OP_N;
  problem.m = d->rows, problem.n = d->columns, problem.k = a_as_is ? a->columns : a->rows, problem.batch = d->batch;
  problem.a_order = a_as_is ? GEMMSMITH_COLUMN : GEMMSMITH_ROW;
  problem.b_order = b_as_is ? GEMMSMITH_COLUMN : GEMMSMITH_ROW;
  problem.d_order = GEMMSMITH_COLUMN;
  problem.lda = a->leading, problem.ldb = b->leading, problem.ldd = d->leading, problem.ldc = c ? c->leading : 0;
  problem.a_step = a->step, problem.b_step = b->step, problem.d_step = d->step, problem.c_step = c ? c->step : 0;
  Call call{.stream = reinterpret_cast<CUstream>(from.stream),
            .has_f16_sums = sums == Sums::kF16,
            .has_settings = HasSettings(read, from.description)};
  SetEpilogue(read.Of<uint32_t>(from.description, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT), problem,
              call);
  gemmsmith_operands_default(&call.operands);
  call.operands.a = from.a, call.operands.b = from.b, call.operands.c = from.c, call.operands.d = from.d;
  if (read.Of<int32_t>(from.description, CUBLASLT_MATMUL_DESC_POINTER_MODE, -1) == CUBLASLT_POINTER_MODE_HOST)
    call.operands.alpha = ScaleAt(from.alpha, sums), call.operands.beta = ScaleAt(from.beta, sums);
  return Checked(problem, call);
}

}  // namespace gemmsmith
