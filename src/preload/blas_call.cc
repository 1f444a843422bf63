#include "preload/scales.h"

namespace gemmsmith {

namespace {

gemmsmith_order OrderOf(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? GEMMSMITH_COLUMN : GEMMSMITH_ROW;
}

bool HasSettings(const RealCublas& real, cublasHandle_t handle) {
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int multiprocessors = 0;
  if (real.cublasGetMathMode(handle, &math) != CUBLAS_STATUS_SUCCESS ||
      real.cublasGetSmCountTarget(handle, &multiprocessors) != CUBLAS_STATUS_SUCCESS)
    return true;
  // TF32 concerns f32 operands, and kernels of ours never round a partial sum.
  const int mode = int(math) & ~int(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  return multiprocessors != 0 ||
         (mode != CUBLAS_DEFAULT_MATH && mode != CUBLAS_TENSOR_OP_MATH && mode != CUBLAS_TF32_TENSOR_OP_MATH);
}

}  // namespace

std::optional<Call> CallOf(const RealCublas& real, const BlasArguments& from) {
  const Sums sums = SumsOf(from.compute);
  gemmsmith_problem problem;
  gemmsmith_problem_default(&problem);
  if (sums == Sums::kOther || !SetTypes(from.a_type, from.b_type, from.c_type, problem)) return std::nullopt;
  problem.m = from.m, problem.n = from.n, problem.k = from.k, problem.batch = from.batch;
  problem.a_order = OrderOf(from.transa), problem.b_order = OrderOf(from.transb), problem.d_order = GEMMSMITH_COLUMN;
  problem.lda = from.lda, problem.ldb = from.ldb, problem.ldc = problem.ldd = from.ldc;
  problem.a_step = from.a_step, problem.b_step = from.b_step, problem.c_step = problem.d_step = from.c_step;
  Call call{.has_f16_sums = sums == Sums::kF16, .has_settings = HasSettings(real, from.handle)};
  gemmsmith_operands_default(&call.operands);
  call.operands.a = from.a, call.operands.b = from.b, call.operands.c = call.operands.d = from.c;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_DEVICE;
  real.cublasGetPointerMode(from.handle, &pointers);
  if (pointers == CUBLAS_POINTER_MODE_HOST && from.alpha != nullptr && from.beta != nullptr)
    call.operands.alpha = ScaleAt(from.alpha, sums), call.operands.beta = ScaleAt(from.beta, sums);
  else
    call.has_settings = true;
  cudaStream_t stream = nullptr;
  if (real.cublasGetStream(from.handle, &stream) != CUBLAS_STATUS_SUCCESS) call.has_settings = true;
  call.stream = reinterpret_cast<CUstream>(stream);
  return Checked(problem, call);
}

}  // namespace gemmsmith
