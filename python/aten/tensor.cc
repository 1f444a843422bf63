#include "tensor.h"

#include <algorithm>

namespace gemmsmith::aten {

void ThrowTorchError(const char* what) {
  if (torch_abi.torch_exception_get_what_without_backtrace != nullptr)
    throw std::runtime_error(torch_abi.torch_exception_get_what_without_backtrace());
  throw std::runtime_error(std::string(what) + ": torch printed the reason to stderr");
}

Tensor Tensor::Empty(int64_t rows, int64_t columns, const View& like) {
  const int64_t sizes[] = {rows, columns}, strides[] = {std::max<int64_t>(1, columns), 1};
  TensorHandle handle = nullptr;
  Check(torch_abi.aoti_torch_empty_strided(2, sizes, strides, like.type, like.device_type, like.device, &handle),
        "CUDA out of memory, or another failure to allocate the result of mm");
  return Tensor(reinterpret_cast<Value>(handle));
}

}  // namespace gemmsmith::aten
