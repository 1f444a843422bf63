#include "runtime/lt_product.h"

#include <fmt/format.h>

namespace gemmsmith {

namespace {

const Result<LtFunctions>& Functions() {
  static const Result<LtFunctions> functions = LtFunctions::OfProcess();
  return functions;
}

Failure LtFailure(const LtFunctions& lt, cublasStatus_t status, const char* call, gemmsmith_status otherwise) {
  if (status == CUBLAS_STATUS_SUCCESS) return Done();
  std::string reason = fmt::format("{}: {}", call, lt.cublasLtGetStatusName(status));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return Fail(GEMMSMITH_NOT_SUPPORTED, std::move(reason));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) return Fail(GEMMSMITH_OUT_OF_MEMORY, std::move(reason));
  return Fail(otherwise, std::move(reason));
}

}  // namespace

Result<std::unique_ptr<LtLibrary>> LtLibrary::Open() {
  const Result<LtFunctions>& functions = Functions();
  if (!functions.ok()) return functions.status();
  cublasLtHandle_t handle = nullptr;
  if (const cublasStatus_t status = functions->cublasLtCreate(&handle); status != CUBLAS_STATUS_SUCCESS)
    return Unavailable(fmt::format("cublasLtCreate: {}", functions->cublasLtGetStatusName(status)));
  return std::unique_ptr<LtLibrary>(new LtLibrary(*functions, handle));
}

LtLibrary::~LtLibrary() { functions_.cublasLtDestroy(handle_); }

Failure LtProduct::Make(const LtLibrary& library, const Request& request, std::unique_ptr<LtProduct>& product) {
  std::unique_ptr<LtProduct> made(new LtProduct(library, request));
  RETURN_FAILURE(made->Describe());
  RETURN_FAILURE(made->AskHeuristic());
  product = std::move(made);
  return Done();
}

LtProduct::~LtProduct() {
  for (cublasLtMatrixLayout_t layout : {first_, second_, addend_, result_})
    if (layout != nullptr) library_.functions_.cublasLtMatrixLayoutDestroy(layout);
}

Failure LtProduct::Describe() {
  const LtFunctions& lt = library_.functions_;
  const auto check = [&](cublasStatus_t status, const char* call) {
    return LtFailure(lt, status, call, GEMMSMITH_INTERNAL);
  };
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    return check(lt.cublasLtMatmulDescSetAttribute(&description_, attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  };
  constexpr const char* kSet = "cublasLtMatrixLayoutSetAttribute";
  const ColumnMajorProduct product =
      AsColumnMajor(request_.m, request_.n, request_.k, request_.a_is_column != 0, request_.b_is_column != 0);
  const cudaDataType half = request_.is_bf16 ? CUDA_R_16BF : CUDA_R_16F;
  const cudaDataType wide = request_.is_f32_result ? CUDA_R_32F : half;
  const auto lay = [&](cublasLtMatrixLayout_t& layout, cudaDataType type, const ColumnMajorProduct::Operand& operand,
                       int64_t leading, int64_t step) -> Failure {
    RETURN_FAILURE(check(lt.cublasLtMatrixLayoutCreate(&layout, type, operand.rows, operand.columns, leading),
                         "cublasLtMatrixLayoutCreate"));
    if (request_.batch == 1) return Done();
    const int32_t count = int32_t(request_.batch);
    RETURN_FAILURE(check(
        lt.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), kSet));
    return check(
        lt.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step),
        kSet);
  };
  RETURN_FAILURE(
      check(lt.cublasLtMatmulDescInit_internal(&description_, sizeof description_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
            "cublasLtMatmulDescInit"));
  RETURN_FAILURE(set(CUBLASLT_MATMUL_DESC_TRANSA, product.first.operation));
  RETURN_FAILURE(set(CUBLASLT_MATMUL_DESC_TRANSB, product.second.operation));
  const bool relu = request_.activation == GEMMSMITH_RELU, gelu = request_.activation == GEMMSMITH_GELU;
  const cublasLtEpilogue_t epilogue = request_.has_bias ? (relu   ? CUBLASLT_EPILOGUE_RELU_BIAS
                                                           : gelu ? CUBLASLT_EPILOGUE_GELU_BIAS
                                                                  : CUBLASLT_EPILOGUE_BIAS)
                                                        : (relu   ? CUBLASLT_EPILOGUE_RELU
                                                           : gelu ? CUBLASLT_EPILOGUE_GELU
                                                                  : CUBLASLT_EPILOGUE_DEFAULT);
  RETURN_FAILURE(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  if (request_.has_bias) RETURN_FAILURE(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, wide));
  RETURN_FAILURE(lay(first_, half, product.first, request_.ldb, request_.b_step));
  RETURN_FAILURE(lay(second_, half, product.second, request_.lda, request_.a_step));
  RETURN_FAILURE(lay(addend_, wide, product.result, request_.ldc, request_.c_step));
  return lay(result_, wide, product.result, request_.ldd, request_.d_step);
}

Failure LtProduct::AskHeuristic() {
  const LtFunctions& lt = library_.functions_;
  cublasLtMatmulPreference_t preference = nullptr;
  RETURN_FAILURE(LtFailure(lt, lt.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate",
                           GEMMSMITH_INTERNAL));
  const uint64_t workspace = request_.workspace_bytes;
  const uint32_t alignment = request_.pointer_alignment;
  lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                          sizeof workspace);
  // Sums are f32 and rounded once: no partial sums in the result's type.
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                                          sizeof schemes);
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment, sizeof alignment);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status = lt.cublasLtMatmulAlgoGetHeuristic(library_.handle_, &description_, first_, second_,
                                                                  addend_, result_, preference, 1, &found, &count);
  lt.cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_SUCCESS && count == 0)
    return Fail(GEMMSMITH_NOT_SUPPORTED, fmt::format("cuBLASLt has no algorithm for {}", request_.Print()));
  RETURN_FAILURE(LtFailure(lt, status, "cublasLtMatmulAlgoGetHeuristic", GEMMSMITH_INTERNAL));
  algorithm_ = found.algo;
  return Done();
}

Failure LtProduct::Run(const gemmsmith_operands& operands, cudaStream_t stream) const {
  const LtFunctions& lt = library_.functions_;
  // The bias is a part of the description, so each call of a product with one has a description of its own.
  cublasLtMatmulDescOpaque_t own;
  const cublasLtMatmulDescOpaque_t* description = &description_;
  if (request_.has_bias) {
    own = description_;
    description = &own;
    RETURN_FAILURE(LtFailure(lt,
                             lt.cublasLtMatmulDescSetAttribute(&own, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &operands.bias,
                                                               sizeof operands.bias),
                             "cublasLtMatmulDescSetAttribute", GEMMSMITH_INTERNAL));
  }
  const void* const addend = request_.beta_is_zero || operands.c == nullptr ? operands.d : operands.c;
  return LtFailure(
      lt,
      lt.cublasLtMatmul(library_.handle_, const_cast<cublasLtMatmulDescOpaque_t*>(description), &operands.alpha,
                        operands.b, first_, operands.a, second_, &operands.beta, addend, addend_, operands.d, result_,
                        &algorithm_, operands.workspace, request_.workspace_bytes, stream),
      "cublasLtMatmul", GEMMSMITH_LAUNCH_FAILED);
}

}  // namespace gemmsmith
