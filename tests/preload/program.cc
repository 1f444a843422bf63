// A program that multiplies by cuBLAS and knows nothing of gemmsmith. Each word is a call; each prints a line: the
// word, whether the result is right, how many products cuBLAS did, and how many kernels were launched. With BY_DLSYM it
// finds cuBLAS by dlopen and dlsym, as JAX does; else it is linked with it, as torch is.
#include <cublasLt.h>
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake/driver.h"
#include "fake/numbers.h"
#include "fake_cublas.h"

extern "C" const char* WhichLibraryIsNext();

namespace {

#ifdef BY_DLSYM
void* Open(const char* name) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::printf("%s\n", dlerror()), std::exit(1);
  return library;
}
void* const cublas = Open("libcublas.so.13");
void* const cublas_lt = Open("libcublasLt.so.13");
#define SYMBOL_INNER(name) #name
#define SYMBOL(name) SYMBOL_INNER(name)
#define BLAS(Type, name) reinterpret_cast<Type*>(dlsym(cublas, SYMBOL(name)))
#define LT(Type, name) reinterpret_cast<Type*>(dlsym(cublas_lt, SYMBOL(name)))
#else
#define BLAS(Type, name) static_cast<Type*>(&::name)
#define LT(Type, name) static_cast<Type*>(&::name)
#endif
#define PLAIN_BLAS(name) BLAS(decltype(::name), name)
#define PLAIN_LT(name) LT(decltype(::name), name)

template <class Int>
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int, Int, Int, const void*,
                              const void*, cudaDataType, Int, const void*, cudaDataType, Int, const void*, void*,
                              cudaDataType, Int, cublasComputeType_t, cublasGemmAlgo_t);
template <class Int>
using BatchedEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int, Int, Int, const void*,
                                 const void*, cudaDataType, Int, long long, const void*, cudaDataType, Int, long long,
                                 const void*, void*, cudaDataType, Int, long long, Int, cublasComputeType_t,
                                 cublasGemmAlgo_t);

// A linear layer: y[tokens, out] = x[tokens, in] w[out, in]^T, as column-major y^T = w x^T.
constexpr int kOut = 64, kTokens = 32, kIn = 64;
constexpr int64_t kX = kTokens * kIn, kW = kOut * kIn, kY = kTokens * kOut;

struct Matrix {
  int type;
  std::vector<char> bytes;
  int64_t shift;
  Matrix(int fake_type, int64_t count, int64_t shift_bytes = 0)
      : type(fake_type), bytes(size_t(count * 4 + 64)), shift(shift_bytes) {
    for (int64_t i = 0; i < count; ++i) FakeWrite(data(), type, i, float(i * 7 % 13 - 6) / 8);
  }
  void* data() {
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(bytes.data()) + 15) / 16 * 16 + uintptr_t(shift));
  }
  float At(int64_t index) { return FakeRead(data(), type, index); }
};

struct Linear {
  cudaDataType type = CUDA_R_16F, y_type = CUDA_R_16F;
  float alpha = 1, beta = 0;
  int batch = 1;
  int64_t shift = 0;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  std::function<void(cublasHandle_t)> set_up = [](cublasHandle_t) {};
};

cublasHandle_t Handle() {
  static thread_local const cublasHandle_t handle = [] {
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cublasHandle_t made = nullptr;
    PLAIN_BLAS(cublasCreate)(&made);
    return made;
  }();
  return handle;
}

int FakeTypeOf(cudaDataType type) { return type == CUDA_R_32F ? kFakeF32 : type == CUDA_R_16BF ? kFakeBf16 : kFakeF16; }

// `call` gets the operands. True: the result is right.
bool IsRight(const Linear& how, const std::function<cublasStatus_t(cublasHandle_t, const void*, const void*, void*,
                                                                   const void*, const void*)>& call) {
  const cublasHandle_t handle = Handle();
  const int type = FakeTypeOf(how.type), y_type = FakeTypeOf(how.y_type);
  Matrix x(type, kX * how.batch, how.shift), w(type, kW * how.batch, how.shift), y(y_type, kY * how.batch, how.shift);
  Matrix before = y;
  const int scale_type = how.compute == CUBLAS_COMPUTE_16F ? kFakeF16 : kFakeF32;
  float alpha = 0, beta = 0;
  FakeWrite(&alpha, scale_type, 0, how.alpha), FakeWrite(&beta, scale_type, 0, how.beta);
  how.set_up(handle);
  if (call(handle, w.data(), x.data(), y.data(), &alpha, &beta) != CUBLAS_STATUS_SUCCESS) return false;
  for (int64_t one = 0; one < how.batch; ++one)
    for (int64_t i = 0; i < kTokens; ++i)
      for (int64_t j = 0; j < kOut; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < kIn; ++k) sum += x.At(one * kX + i * kIn + k) * w.At(one * kW + j * kIn + k);
        sum = how.alpha * sum + how.beta * before.At(one * kY + i * kOut + j);
        if (std::abs(y.At(one * kY + i * kOut + j) - sum) > 0.02f * (1 + std::abs(sum))) return false;
      }
  return true;
}

template <class Int>
bool ByGemmEx(GemmEx<Int>* function, const Linear& how = {}) {
  return IsRight(
      how, [&](cublasHandle_t handle, const void* w, const void* x, void* y, const void* alpha, const void* beta) {
        return function(handle, CUBLAS_OP_T, CUBLAS_OP_N, kOut, kTokens, kIn, alpha, w, how.type, kIn, x, how.type, kIn,
                        beta, y, how.y_type, kOut, how.compute, CUBLAS_GEMM_DEFAULT);
      });
}
template <class Int>
bool ByBatchedEx(BatchedEx<Int>* function, const Linear& how) {
  return IsRight(
      how, [&](cublasHandle_t handle, const void* w, const void* x, void* y, const void* alpha, const void* beta) {
        return function(handle, CUBLAS_OP_T, CUBLAS_OP_N, kOut, kTokens, kIn, alpha, w, how.type, kIn, kW, x, how.type,
                        kIn, kX, beta, y, how.y_type, kOut, kY, how.batch, how.compute, CUBLAS_GEMM_DEFAULT);
      });
}
bool ByHgemm(int batch) {
  return IsRight(
      {.batch = batch, .compute = CUBLAS_COMPUTE_16F},
      [&](cublasHandle_t handle, const void* w, const void* x, void* y, const void* alpha, const void* beta) {
        const auto half = [](const void* address) { return static_cast<const __half*>(address); };
        if (batch == 1)
          return PLAIN_BLAS(cublasHgemm)(handle, CUBLAS_OP_T, CUBLAS_OP_N, kOut, kTokens, kIn, half(alpha), half(w),
                                         kIn, half(x), kIn, half(beta), static_cast<__half*>(y), kOut);
        return PLAIN_BLAS(cublasHgemmStridedBatched)(handle, CUBLAS_OP_T, CUBLAS_OP_N, kOut, kTokens, kIn, half(alpha),
                                                     half(w), kIn, kW, half(x), kIn, kX, half(beta),
                                                     static_cast<__half*>(y), kOut, kY, batch);
      });
}

bool ByLt(bool has_scale_pointer = false, bool is_rows = false) {
  const Linear how;
  return IsRight(how, [&](cublasHandle_t, const void* w, const void* x, void* y, const void* alpha, const void* beta) {
    cublasLtMatmulDescOpaque_t description;
    PLAIN_LT(cublasLtMatmulDescInit_internal)(&description, sizeof description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      PLAIN_LT(cublasLtMatmulDescSetAttribute)(&description, attribute, &value, sizeof value);
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    const void* const somewhere = &how;
    if (has_scale_pointer) set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, somewhere);
    cublasLtMatrixLayout_t w_layout, x_layout, y_layout;
    const auto create = PLAIN_LT(cublasLtMatrixLayoutCreate);
    create(&w_layout, how.type, kIn, kOut, kIn);
    create(&x_layout, how.type, kIn, kTokens, kIn);
    create(&y_layout, how.y_type, kOut, kTokens, kOut);
    const int32_t rows = CUBLASLT_ORDER_ROW;
    if (is_rows) PLAIN_LT(cublasLtMatrixLayoutSetAttribute)(w_layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows);
    return PLAIN_LT(cublasLtMatmul)(nullptr, &description, alpha, w, w_layout, x, x_layout, beta, y, y_layout, y,
                                    y_layout, nullptr, nullptr, 0, nullptr);
  });
}

bool Plain() { return ByGemmEx<int>(BLAS(GemmEx<int>, cublasGemmEx)); }
bool Plain(const Linear& how) { return ByGemmEx<int>(BLAS(GemmEx<int>, cublasGemmEx), how); }

bool Captured() {
  const cublasHandle_t handle = Handle();
  char place = 0;
  void* const stream = &place;
  Matrix x(kFakeF16, kX), w(kFakeF16, kW), y(kFakeF16, kY), reference(kFakeF16, kY);
  const float one = 1, zero = 0;
  const auto multiply = [&](void* to) {
    return BLAS(GemmEx<int>, cublasGemmEx)(handle, CUBLAS_OP_T, CUBLAS_OP_N, kOut, kTokens, kIn, &one, w.data(),
                                           CUDA_R_16F, kIn, x.data(), CUDA_R_16F, kIn, &zero, to, CUDA_R_16F, kOut,
                                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  const auto set_stream = PLAIN_BLAS(cublasSetStream);
  set_stream(handle, static_cast<cudaStream_t>(stream));
  FakeBeginCapture(stream);
  const bool done = multiply(y.data()) == CUBLAS_STATUS_SUCCESS;
  const FakeGraph graph = FakeEndCapture(stream);
  set_stream(handle, nullptr);
  for (const auto& work : graph) work();
  if (!done || graph.size() != 1) return false;
  for (int64_t i = 0; i < kTokens; ++i)
    for (int64_t j = 0; j < kOut; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < kIn; ++k) sum += x.At(i * kIn + k) * w.At(j * kIn + k);
      if (std::abs(y.At(i * kOut + j) - sum) > 0.02f * (1 + std::abs(sum))) return false;
    }
  return true;
}

bool OfThreads() {
  std::vector<std::thread> threads;
  std::vector<char> right(8, 1);
  for (size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&right, i] {
      for (int call = 0; call < 25; ++call) right[i] = char(right[i] && Plain() && ByLt());
    });
  for (std::thread& thread : threads) thread.join();
  for (const char one : right)
    if (!one) return false;
  return true;
}

// Children that end by exit() or, as Python's multiprocessing does, by _exit().
bool OfChildren(bool abruptly) {
  bool right = true;
  for (int child = 0; child < 3; ++child) {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
      bool is_right = true;
      for (int call = 0; call < 5; ++call) is_right = is_right && Plain();
      if (abruptly) _exit(is_right ? 0 : 1);
      std::exit(is_right ? 0 : 1);
    }
    int status = 0;
    right = waitpid(pid, &status, 0) == pid && status == 0 && right;
  }
  return right;
}

const std::map<std::string, std::function<bool()>> kCalls = {
    {"plain", [] { return Plain(); }},
    {"plain_64", [] { return ByGemmEx<int64_t>(BLAS(GemmEx<int64_t>, cublasGemmEx_64)); }},
    {"batch_of_1", [] { return ByBatchedEx<int>(BLAS(BatchedEx<int>, cublasGemmStridedBatchedEx), {}); }},
    {"batch_of_1_64", [] { return ByBatchedEx<int64_t>(BLAS(BatchedEx<int64_t>, cublasGemmStridedBatchedEx_64), {}); }},
    {"lt", [] { return ByLt(); }},
    {"tf32_is_allowed",
     [] {
       return Plain({.set_up = [](cublasHandle_t h) { PLAIN_BLAS(cublasSetMathMode)(h, CUBLAS_TF32_TENSOR_OP_MATH); }});
     }},
    {"batch_of_3", [] { return ByBatchedEx<int>(BLAS(BatchedEx<int>, cublasGemmStridedBatchedEx), {.batch = 3}); }},
    {"batch_of_3_64",
     [] { return ByBatchedEx<int64_t>(BLAS(BatchedEx<int64_t>, cublasGemmStridedBatchedEx_64), {.batch = 3}); }},
    {"hgemm", [] { return ByHgemm(1); }},
    {"hgemm_batch", [] { return ByHgemm(2); }},
    {"f16_sums", [] { return Plain({.compute = CUBLAS_COMPUTE_16F}); }},
    {"f32_result", [] { return Plain({.y_type = CUDA_R_32F}); }},
    {"f32", [] { return Plain({.type = CUDA_R_32F, .y_type = CUDA_R_32F}); }},
    {"alpha", [] { return Plain({.alpha = 0.5f}); }},
    {"beta", [] { return Plain({.beta = 1}); }},
    {"unaligned", [] { return Plain({.shift = 8}); }},
    {"pedantic", [] { return Plain({.compute = CUBLAS_COMPUTE_32F_PEDANTIC}); }},
    {"pedantic_math",
     [] {
       return Plain({.set_up = [](cublasHandle_t h) { PLAIN_BLAS(cublasSetMathMode)(h, CUBLAS_PEDANTIC_MATH); }});
     }},
    {"some_multiprocessors",
     [] {
       return Plain({.set_up = [](cublasHandle_t h) {
         PLAIN_BLAS(cublasSetSmCountTarget)
         (h, 66);
       }});
     }},
    {"scales_on_device",
     [] {
       return Plain({.set_up = [](cublasHandle_t h) {
         PLAIN_BLAS(cublasSetPointerMode)(h, CUBLAS_POINTER_MODE_DEVICE);
       }});
     }},
    {"lt_scale_pointer", [] { return ByLt(true); }},
    {"lt_rows", [] { return ByLt(false, true); }},
    {"captured", Captured},
    {"threads", OfThreads},
    {"children", [] { return OfChildren(false); }},
    {"abrupt_children", [] { return OfChildren(true); }},
    {"next", [] { return std::string(WhichLibraryIsNext()) == "second"; }},
};

}  // namespace

int main(int count, char** words) {
#ifdef BY_DLSYM
  const auto cublas_calls = PLAIN_BLAS(FakeCublasCalls);
  const auto lt_calls = PLAIN_LT(FakeCublasLtCalls);
#else
  const auto cublas_calls = &FakeCublasCalls;
  const auto lt_calls = &FakeCublasLtCalls;
#endif
  for (int i = 1; i < count; ++i) {
    const cublasHandle_t handle = Handle();
    const int64_t calls = cublas_calls() + lt_calls(), launches = FakeLaunches();
    const bool is_right = kCalls.at(words[i])();
    std::printf("%s %s cublas=%d ours=%d\n", words[i], is_right ? "right" : "wrong",
                int(cublas_calls() + lt_calls() - calls), int(FakeLaunches() - launches));
    PLAIN_BLAS(cublasSetMathMode)(handle, CUBLAS_DEFAULT_MATH);
    PLAIN_BLAS(cublasSetSmCountTarget)(handle, 0);
    PLAIN_BLAS(cublasSetPointerMode)(handle, CUBLAS_POINTER_MODE_HOST);
  }
}
