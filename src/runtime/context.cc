#include "runtime/context.h"

namespace gemmsmith {

namespace {

// A kernel cannot be loaded during a capture.
bool IsCaptured(const Driver& driver, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

Failure Context::Make(std::string overlay, std::unique_ptr<Context>& context) {
  const Result<const Driver*> driver = Driver::Open();
  RETURN_FAILURE(FailIfNot(driver.status(), GEMMSMITH_NO_DRIVER));
  context.reset(new Context(**driver, std::move(overlay)));
  return Done();
}

Failure Context::DeviceOf(int ordinal, RuntimeDevice*& device) {
  std::shared_ptr<RuntimeDevice>& known = devices_[ordinal];
  if (!known) RETURN_FAILURE(RuntimeDevice::Open(driver_, ordinal, overlay_, known));
  device = known.get();
  return Done();
}

Failure Context::Prepare(const Request& request, std::shared_ptr<const Product>& product) {
  const std::lock_guard lock(mutex_);
  if (const Product* const known = products_.Find(request)) {
    product = known->shared_from_this();
    return Done();
  }
  RuntimeDevice* device = nullptr;
  RETURN_FAILURE(DeviceOf(request.device, device));
  RETURN_FAILURE(device->Prepare(request, product));
  products_.Add(product);
  return Done();
}

Failure Context::Find(Request request, CUstream stream, const Product*& product) {
  CUdevice device = 0;
  if (driver_.cuCtxGetDevice(&device) != CUDA_SUCCESS)
    return Fail(GEMMSMITH_NO_DEVICE, "no CUDA context is current: call cudaSetDevice() first");
  request.device = uint8_t(device);
  product = products_.Find(request);
  if (product != nullptr || (request.own_only && IsCaptured(driver_, stream))) return Done();
  std::shared_ptr<const Product> prepared;
  RETURN_FAILURE(Prepare(request, prepared));
  product = prepared.get();  // the table keeps it
  return Done();
}

Failure Context::Multiply(const Request& request, const gemmsmith_operands& operands, CUstream stream) {
  const Product* product = nullptr;
  RETURN_FAILURE(Find(request, stream, product));
  return product == nullptr ? NotOurs() : product->Run(operands, stream);
}

}  // namespace gemmsmith
