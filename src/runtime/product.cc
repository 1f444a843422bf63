#include "runtime/product.h"

#include <fmt/format.h>

#include "runtime/runtime_device.h"

namespace gemmsmith {

Failure Product::CheckOperands(const gemmsmith_operands& operands) const {
  if (operands.size != sizeof operands)
    return Fail(GEMMSMITH_INVALID_ARGUMENT,
                "the operands were not set up by gemmsmith_operands_default() of this version");
  if (operands.a == nullptr || operands.b == nullptr || operands.d == nullptr)
    return Fail(GEMMSMITH_INVALID_ARGUMENT, "a, b or d is null");
  if (request_.alpha_is_one && operands.alpha != 1)
    return Fail(GEMMSMITH_INVALID_ARGUMENT, "alpha is not 1, and the problem says that it is");
  if (request_.beta_is_zero && operands.beta != 0)
    return Fail(GEMMSMITH_INVALID_ARGUMENT, "beta is not 0, and the problem says that it is");
  if (!request_.beta_is_zero && operands.beta != 0 && operands.c == nullptr)
    return Fail(GEMMSMITH_INVALID_ARGUMENT, "c is null, and beta is not 0");
  if (request_.has_bias && operands.bias == nullptr)
    return Fail(GEMMSMITH_INVALID_ARGUMENT, "bias is null, and the problem has one");
  if (request_.workspace_bytes > 0 && operands.workspace == nullptr)
    return Fail(GEMMSMITH_INVALID_ARGUMENT, "workspace is null, and the problem says that every call brings one");
  const auto bits = reinterpret_cast<uintptr_t>(operands.a) | reinterpret_cast<uintptr_t>(operands.b) |
                    reinterpret_cast<uintptr_t>(operands.d) |
                    (request_.beta_is_zero ? 0 : reinterpret_cast<uintptr_t>(operands.c));
  if ((bits & (request_.pointer_alignment - 1)) != 0)
    return Fail(
        GEMMSMITH_INVALID_ARGUMENT,
        fmt::format("a pointer is not aligned to the {} bytes that the problem promises", request_.pointer_alignment));
  const auto results = reinterpret_cast<uintptr_t>(operands.d) |
                       (request_.beta_is_zero ? 0 : reinterpret_cast<uintptr_t>(operands.c)) |
                       (request_.has_bias ? reinterpret_cast<uintptr_t>(operands.bias) : 0);
  const uintptr_t element_bytes = request_.is_f32_result ? 4 : 2;
  if ((results & (element_bytes - 1)) != 0)
    return Fail(GEMMSMITH_INVALID_ARGUMENT,
                fmt::format("c, d or bias is not aligned to its elements of {} bytes", element_bytes));
  return Done();
}

Failure Product::Run(gemmsmith_operands operands, CUstream stream) const {
  if (request_.IsEmpty()) return Done();
  if (!own_ && !by_library_) return NotOurs();
  RETURN_FAILURE(CheckOperands(operands));
  void* workspace = nullptr;
  if (own_ && own_->slots) {
    workspace = own_->slots->SlotFor(stream);
    if (workspace == nullptr) return without_workspace_ ? without_workspace_->Run(operands, stream) : NotOurs();
  }
  if (request_.is_swapped) std::swap(operands.a, operands.b);
  if (!own_) return by_library_->Run(operands, reinterpret_cast<cudaStream_t>(stream));
  const GemmArguments arguments = ArgumentsFor(own_->gemm, operands.a, operands.b, operands.d, workspace);
  const Driver& driver = device_->driver();
  GemmParameters parameters = own_->parameters;
  RETURN_FAILURE(FailIfNot(ReplaceAddresses(driver, own_->launch, arguments, parameters), GEMMSMITH_INVALID_ARGUMENT));
  void* pointers[] = {parameters.bytes.data()};
  const CUresult started =
      StartOn(stream, driver, own_->kernel->function(), own_->launch, own_->grid_x, pointers, own_->chaining);
  return FailIfNot(DriverStatus(started, "cuLaunchKernelEx"), GEMMSMITH_LAUNCH_FAILED);
}

}  // namespace gemmsmith
