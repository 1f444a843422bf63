// The functions of torch's stable C ABI that we call, found in the process at run time. Building needs no torch, and
// one binary serves torch 2.10 and later. tests/torch/abi_check.cc compares the list with torch's headers.
#pragma once

#include <cstddef>
#include <cstdint>

struct AtenTensorOpaque;
class TorchLibraryOpaque;
struct CUDAGuardOpaque;
struct StringOpaque;

namespace gemmsmith::aten {

using TensorHandle = AtenTensorOpaque*;
using LibraryHandle = TorchLibraryOpaque*;
using GuardHandle = CUDAGuardOpaque*;
using StringHandle = StringOpaque*;
using Value = uint64_t;  // StableIValue: a handle that its receiver owns, or the bytes of a number
using Kernel = void (*)(Value* stack, uint64_t inputs, uint64_t outputs);
using Error = int32_t;  // 0: success

inline constexpr uint64_t kTorchVersion = (uint64_t{2} << 56) | (uint64_t{10} << 48);  // whose ABI we speak

// X(name, result, parameters...)
// clang-format off
#define GEMMSMITH_TORCH_FUNCTIONS(X)                                                                                   \
  X(torch_library_impl, Error, LibraryHandle, const char*, Kernel, uint64_t)                                           \
  X(torch_get_const_data_ptr, Error, TensorHandle, const void**)                                                       \
  X(torch_get_mutable_data_ptr, Error, TensorHandle, void**)                                                           \
  X(torch_new_string_handle, Error, const char*, size_t, StringHandle*)                                                \
  X(aoti_torch_library_init_impl, Error, const char*, const char*, const char*, uint32_t, LibraryHandle*)              \
  X(aoti_torch_delete_library_object, Error, LibraryHandle)                                                            \
  X(aoti_torch_delete_tensor_object, Error, TensorHandle)                                                              \
  X(aoti_torch_get_dim, Error, TensorHandle, int64_t*)                                                                 \
  X(aoti_torch_get_sizes, Error, TensorHandle, int64_t**)                                                              \
  X(aoti_torch_get_strides, Error, TensorHandle, int64_t**)                                                            \
  X(aoti_torch_get_dtype, Error, TensorHandle, int32_t*)                                                               \
  X(aoti_torch_get_device_type, Error, TensorHandle, int32_t*)                                                         \
  X(aoti_torch_get_device_index, Error, TensorHandle, int32_t*)                                                        \
  X(aoti_torch_empty_strided, Error, int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t,               \
    TensorHandle*)                                                                                                     \
  X(aoti_torch_get_current_device_index, Error, int32_t*)                                                              \
  X(aoti_torch_dtype_float16, int32_t)                                                                                 \
  X(aoti_torch_dtype_bfloat16, int32_t)                                                                                \
  X(aoti_torch_device_type_cuda, int32_t)

// Of a torch with CUDA. mm_out is the original kernel, past the dispatcher: an override may call it.
#define GEMMSMITH_TORCH_CUDA_FUNCTIONS(X)                                                                              \
  X(aoti_torch_get_current_cuda_stream, Error, int32_t, void**)                                                        \
  X(aoti_torch_create_cuda_guard, Error, int32_t, GuardHandle*)                                                        \
  X(aoti_torch_delete_cuda_guard, Error, GuardHandle)                                                                  \
  X(aoti_torch_cuda_mm_out, Error, TensorHandle, TensorHandle, TensorHandle)
// clang-format on

struct TorchAbi {
#define GEMMSMITH_DECLARE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  GEMMSMITH_TORCH_FUNCTIONS(GEMMSMITH_DECLARE)
  GEMMSMITH_TORCH_CUDA_FUNCTIONS(GEMMSMITH_DECLARE)
#undef GEMMSMITH_DECLARE
  const char* (*torch_exception_get_what_without_backtrace)() = nullptr;  // null before torch 2.13
  int32_t float16 = 0, bfloat16 = 0, cuda = 0;                            // torch's numbers for them

  // Finds the torch of this process. Null, or what is wrong in one line.
  const char* Open();
};

// Opened before any kernel is registered; read by all of them.
extern TorchAbi torch_abi;

}  // namespace gemmsmith::aten
