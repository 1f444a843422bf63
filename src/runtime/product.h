// A problem with its kernel, chosen and loaded.
#pragma once

#include <memory>
#include <string>

#include "gpu/start_kernel.h"
#include "runtime/failure.h"
#include "runtime/lt_product.h"
#include "runtime/request.h"
#include "runtime/workspace_slots.h"

namespace gemmsmith {

class RuntimeDevice;

class Product : public std::enable_shared_from_this<Product> {
 public:
  const Request& request() const { return request_; }
  const std::string& explanation() const { return explanation_; }
  bool IsOurs() const { return own_ != nullptr; }
  // Allocates nothing and waits for nothing. Any number of threads at once.
  Failure Run(gemmsmith_operands operands, CUstream stream) const;

 private:
  friend class RuntimeDevice;
  // A kernel of ours, its grid, and its parameters but for the addresses.
  struct Own {
    std::shared_ptr<const Kernel> kernel;
    Launch launch;
    uint32_t grid_x = 0;
    Chaining chaining = Chaining::kNone;
    Gemm gemm;
    GemmParameters parameters;
    std::shared_ptr<WorkspaceSlots> slots;  // null: it needs no workspace
  };
  Failure CheckOperands(const gemmsmith_operands& operands) const;

  Request request_;
  std::shared_ptr<RuntimeDevice> device_;
  std::unique_ptr<Own> own_;                          // null: no kernel of ours serves it
  std::unique_ptr<LtProduct> by_library_;             // null: a kernel of ours serves it, or the library is left out
  std::shared_ptr<const Product> without_workspace_;  // where our kernel needs one: what serves when none is left
  std::string explanation_;
};

}  // namespace gemmsmith
