// What a process holds: its GPUs, and every product that was asked for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/product_table.h"
#include "runtime/runtime_device.h"

namespace gemmsmith {

class Context {
 public:
  static Failure Make(std::string overlay, std::unique_ptr<Context>& context);

  // On the device of the request. Remembered: the same request is prepared once.
  Failure Prepare(const Request& request, std::shared_ptr<const Product>& product);
  // For the current device: its product, prepared by the first call; later ones take no lock. A request that leaves
  // cuBLASLt out is not prepared, and not remembered, while the stream is captured: null then.
  Failure Find(Request request, CUstream stream, const Product*& product);
  Failure Multiply(const Request& request, const gemmsmith_operands& operands, CUstream stream);

 private:
  Context(const Driver& driver, std::string overlay) : driver_(driver), overlay_(std::move(overlay)) {}
  Failure DeviceOf(int ordinal, RuntimeDevice*& device);  // under the lock

  const Driver& driver_;
  const std::string overlay_;
  std::mutex mutex_;
  std::map<int, std::shared_ptr<RuntimeDevice>> devices_;
  ProductTable products_;
};

}  // namespace gemmsmith
