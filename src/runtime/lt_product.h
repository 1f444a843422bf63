// A product by cuBLASLt, for what no kernel of ours serves. The library is found at run time: the one that the process
// has already, else the one that is installed.
#pragma once

#include <memory>

#include "gpu/cublaslt.h"
#include "runtime/failure.h"
#include "runtime/request.h"

namespace gemmsmith {

// One device's handle. Its primary context is current when it is opened.
class LtLibrary {
 public:
  static Result<std::unique_ptr<LtLibrary>> Open();
  ~LtLibrary();

 private:
  friend class LtProduct;
  LtLibrary(const LtFunctions& functions, cublasLtHandle_t handle) : functions_(functions), handle_(handle) {}
  const LtFunctions& functions_;
  cublasLtHandle_t handle_ = nullptr;
};

class LtProduct {
 public:
  // The first algorithm of its heuristic. The library outlives the product.
  static Failure Make(const LtLibrary& library, const Request& request, std::unique_ptr<LtProduct>& product);
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;
  ~LtProduct();

  // `operands` are those of the request: swapped where it is. Any number of threads at once.
  Failure Run(const gemmsmith_operands& operands, cudaStream_t stream) const;

 private:
  LtProduct(const LtLibrary& library, const Request& request) : library_(library), request_(request) {}
  Failure Describe();
  Failure AskHeuristic();

  const LtLibrary& library_;
  const Request request_;
  cublasLtMatmulDescOpaque_t description_{};
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, addend_ = nullptr, result_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace gemmsmith
