// A tensor of torch: its handle, and what a product wants to know of it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "torch_abi.h"

namespace gemmsmith::aten {

// Throws what torch said, for torch to pass on to Python.
[[noreturn]] void ThrowTorchError(const char* what);
inline void Check(Error error, const char* what) {
  if (error != 0) ThrowTorchError(what);
}

class Tensor {
 public:
  explicit Tensor(Value value) : handle_(reinterpret_cast<TensorHandle>(value)) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&&) = delete;
  ~Tensor() {
    if (handle_ != nullptr) torch_abi.aoti_torch_delete_tensor_object(handle_);
  }
  // A packed matrix of the type and on the device of `like`.
  static Tensor Empty(int64_t rows, int64_t columns, const class View& like);

  TensorHandle handle() const { return handle_; }
  Value Release() { return reinterpret_cast<Value>(std::exchange(handle_, nullptr)); }

 private:
  TensorHandle handle_;
};

// Borrowed: lives no longer than its tensor.
class View {
 public:
  explicit View(const Tensor& tensor) {
    const TensorHandle handle = tensor.handle();
    Check(torch_abi.aoti_torch_get_dim(handle, &dimensions), "get_dim");
    Check(torch_abi.aoti_torch_get_sizes(handle, &sizes), "get_sizes");
    Check(torch_abi.aoti_torch_get_strides(handle, &strides), "get_strides");
    Check(torch_abi.aoti_torch_get_dtype(handle, &type), "get_dtype");
    Check(torch_abi.aoti_torch_get_device_type(handle, &device_type), "get_device_type");
    Check(torch_abi.aoti_torch_get_device_index(handle, &device), "get_device_index");
  }
  bool IsLike(const View& other) const {
    return type == other.type && device_type == other.device_type && device == other.device;
  }

  int64_t dimensions = 0;
  int64_t *sizes = nullptr, *strides = nullptr;
  int32_t type = 0, device_type = 0, device = 0;
};

}  // namespace gemmsmith::aten
