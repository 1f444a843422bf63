// Stands in front of a file of the peer for torch, and for calls of the CUDA runtime that the contract lacks
// (docs/free_form.md). README.md says what each stand-in does.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace peer {

static cudaStream_t present_stream;  // of this call
static int created_streams;

inline cudaStream_t CreatedStream() { return reinterpret_cast<cudaStream_t>(uintptr_t{0x40}); }

// The null stream, and the one stream that a file may create, stand for the stream of the call.
inline cudaStream_t StreamFor(cudaStream_t stream) {
  const bool stands =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread || stream == CreatedStream();
  return stands ? present_stream : stream;
}

// Ends the recording with this reason, whatever the file makes of the error.
inline cudaError_t Refuse(const std::string& what) {
  void* none = nullptr;
  return cudaGetDriverEntryPointByVersion(what.c_str(), &none, 13000, 0, nullptr);
}

}  // namespace peer

// Launches and memsets of the file go to peer_NAME, which passes them on to the recorder's NAME with the call's stream.
#define PEER_WRAPS(returned, name, ...)              \
  returned name(__VA_ARGS__) __asm__("peer_" #name); \
  returned peer_##name(__VA_ARGS__);                 \
  returned recorder_##name(__VA_ARGS__) __asm__(#name);

extern "C" {
PEER_WRAPS(unsigned, __cudaPushCallConfiguration, dim3 grid, dim3 block, size_t smem, CUstream_st* stream)
PEER_WRAPS(cudaError_t, cudaLaunchKernelExC, const cudaLaunchConfig_t* config, const void* function, void** arguments)
PEER_WRAPS(cudaError_t, cudaLaunchKernel, const void* function, dim3 grid, dim3 block, void** arguments, size_t smem,
           cudaStream_t stream)
PEER_WRAPS(cudaError_t, cudaLaunchCooperativeKernel, const void* function, dim3 grid, dim3 block, void** arguments,
           size_t smem, cudaStream_t stream)
PEER_WRAPS(cudaError_t, cudaMemsetAsync, void* address, int value, size_t bytes, cudaStream_t stream)

unsigned peer___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t smem, CUstream_st* stream) {
  return recorder___cudaPushCallConfiguration(grid, block, smem, peer::StreamFor(stream));
}
cudaError_t peer_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  cudaLaunchConfig_t in_stream = *config;
  in_stream.stream = peer::StreamFor(config->stream);
  return recorder_cudaLaunchKernelExC(&in_stream, function, arguments);
}
cudaError_t peer_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t smem,
                                  cudaStream_t stream) {
  return recorder_cudaLaunchKernel(function, grid, block, arguments, smem, peer::StreamFor(stream));
}
cudaError_t peer_cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t smem,
                                             cudaStream_t stream) {
  return recorder_cudaLaunchCooperativeKernel(function, grid, block, arguments, smem, peer::StreamFor(stream));
}
cudaError_t peer_cudaMemsetAsync(void* address, int value, size_t bytes, cudaStream_t stream) {
  return recorder_cudaMemsetAsync(address, value, bytes, peer::StreamFor(stream));
}

// What the contract lacks and a recipe does not need. The rest (events, graphs, limits, windows) is left undefined.
// A header of the toolkit defines some of these names for device code, so a label names them in the object file.
#define PEER_GIVES(name, ...)                          \
  cudaError_t peer_##name(__VA_ARGS__) __asm__(#name); \
  cudaError_t peer_##name(__VA_ARGS__)

PEER_GIVES(cudaSetDevice, int) { return cudaSuccess; }
PEER_GIVES(cudaMemGetInfo, size_t*, size_t*) { return peer::Refuse("cudaMemGetInfo"); }  // in a header of CUTLASS
PEER_GIVES(cudaDeviceSynchronize) { return cudaSuccess; }
PEER_GIVES(cudaStreamSynchronize, cudaStream_t) { return cudaSuccess; }
PEER_GIVES(cudaStreamCreateWithPriority, cudaStream_t* stream, unsigned, int) {
  *stream = peer::CreatedStream();
  return ++peer::created_streams == 1 ? cudaSuccess : peer::Refuse("second stream");
}
PEER_GIVES(cudaStreamCreateWithFlags, cudaStream_t* stream, unsigned) {
  return peer_cudaStreamCreateWithPriority(stream, 0, 0);
}
PEER_GIVES(cudaStreamCreate, cudaStream_t* stream) { return peer_cudaStreamCreateWithPriority(stream, 0, 0); }
PEER_GIVES(cudaStreamDestroy, cudaStream_t) { return --peer::created_streams, cudaSuccess; }
PEER_GIVES(cudaDeviceGetStreamPriorityRange, int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}
PEER_GIVES(cudaMalloc, void** address, size_t bytes) {
  *address = nullptr;
  return bytes == 0 ? cudaSuccess : peer::Refuse("cudaMalloc");
}
PEER_GIVES(cudaFree, void*) { return cudaSuccess; }
PEER_GIVES(cudaMemset, void* address, int value, size_t bytes) {
  return peer_cudaMemsetAsync(address, value, bytes, nullptr);
}
}

namespace c10 {

struct Half {
  uint16_t bits;
};
enum class ScalarType { Half };
inline std::ostream& operator<<(std::ostream& out, ScalarType) { return out << "Half"; }

struct TensorImpl {
  const void* data() const { return address; }
  void* mutable_data() const { return address; }
  void* address;
};

}  // namespace c10

namespace at {
using c10::Half;
using c10::ScalarType;
constexpr ScalarType kHalf = ScalarType::Half;
}  // namespace at

namespace torch {

using namespace at;
constexpr ScalarType kFloat16 = kHalf;

struct TensorOptions {
  ScalarType dtype() const { return kHalf; }
};
inline std::ostream& operator<<(std::ostream& out, const TensorOptions&) { return out << "Half"; }

struct Device {
  bool is_cuda() const { return true; }
  int index() const { return 0; }
};

// A packed matrix of f16 on the GPU.
class Tensor {
 public:
  Tensor(const void* data, int64_t rows, int64_t columns) : impl_{const_cast<void*>(data)}, sizes_{rows, columns} {}
  void* data_ptr() const { return impl_.address; }
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(impl_.address);
  }
  c10::TensorImpl* unsafeGetTensorImpl() { return &impl_; }
  int64_t size(int64_t dimension) const { return sizes_.at(size_t(dimension)); }
  const std::array<int64_t, 2>& sizes() const { return sizes_; }
  int64_t stride(int64_t dimension) const { return dimension == 0 ? sizes_[1] : 1; }
  int64_t numel() const { return sizes_[0] * sizes_[1]; }
  int64_t dim() const { return 2; }
  TensorOptions options() const { return {}; }
  ScalarType dtype() const { return kHalf; }
  ScalarType scalar_type() const { return kHalf; }
  Device device() const { return {}; }
  bool is_cuda() const { return true; }
  bool is_contiguous() const { return true; }

 private:
  c10::TensorImpl impl_;
  std::array<int64_t, 2> sizes_;
};

}  // namespace torch

namespace at {
using torch::Tensor;
namespace cuda {
struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
}  // namespace cuda
}  // namespace at
namespace c10 {
namespace cuda = at::cuda;
}

#define TORCH_CHECK(condition, ...) \
  if (!(condition)) throw std::runtime_error("TORCH_CHECK(" #condition ")")
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
