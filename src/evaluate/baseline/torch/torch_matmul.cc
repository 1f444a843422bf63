// libgemmsmith_torch.so; built by tools/torch_baseline, apart from everything else.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

#include <string>

#include "base/exception_guard.h"
#include "evaluate/baseline/torch/gemmsmith_torch.h"

// From the library that torch brought; its headers need not be here.
extern "C" size_t cublasLtGetVersion(void);

namespace {

struct Bound {
  at::Tensor a, b, c;
};

gemmsmith::ExceptionGuard guarded;
std::string version_text;
int device_index = 0;

at::Tensor Matrix(const void* data, int64_t rows, int64_t columns, int64_t leading, bool is_row_major, bool is_bf16) {
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(device_index));
  const auto options = at::TensorOptions().device(device).dtype(is_bf16 ? at::kBFloat16 : at::kHalf);
  const int64_t row_stride = is_row_major ? leading : 1, column_stride = is_row_major ? 1 : leading;
  return at::for_blob(const_cast<void*>(data), {rows, columns})
      .strides({row_stride, column_stride})
      .options(options)
      .target_device(device)
      .make_tensor();
}

}  // namespace

extern "C" {

int gemmsmith_torch_abi(void) { return GEMMSMITH_TORCH_ABI; }

const char* gemmsmith_torch_version(void) {
  return guarded(
      [] {
        const size_t cublas = cublasLtGetVersion();
        version_text = std::string("torch ") + TORCH_VERSION + ", cublaslt " + std::to_string(cublas / 10000) + "." +
                       std::to_string(cublas / 100 % 100) + "." + std::to_string(cublas % 100);
        return version_text.c_str();
      },
      "torch " TORCH_VERSION);
}

int gemmsmith_torch_open(int device, void* stream) {
  return guarded(
      [&] {
        device_index = device;
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
        // As a program of torch's would have it: set once, not around every call.
        c10::cuda::setCurrentCUDAStream(
            c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), static_cast<c10::DeviceIndex>(device)));
        return 0;
      },
      1);
}

void* gemmsmith_torch_bind(const GemmsmithTorchGemm* gemm) {
  return guarded(
      [&]() -> void* {
        const bool is_bf16 = gemm->is_bf16 != 0;
        return new Bound{Matrix(gemm->a, gemm->m, gemm->k, gemm->lda, gemm->a_is_row_major != 0, is_bf16),
                         Matrix(gemm->b, gemm->k, gemm->n, gemm->ldb, gemm->b_is_row_major != 0, is_bf16),
                         Matrix(gemm->c, gemm->m, gemm->n, gemm->ldc, true, is_bf16)};
      },
      nullptr);
}

int gemmsmith_torch_call(void* bound) {
  return guarded(
      [&] {
        auto& gemm = *static_cast<Bound*>(bound);
        at::matmul_out(gemm.c, gemm.a, gemm.b);
        return 0;
      },
      1);
}

void gemmsmith_torch_close(void* bound) { delete static_cast<Bound*>(bound); }

const char* gemmsmith_torch_error(void) { return guarded.last_error().c_str(); }

}  // extern "C"
