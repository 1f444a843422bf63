// torch.matmul as a baseline, through libgemmsmith_torch.so where that was built (tools/torch_baseline).
#pragma once

#include <optional>
#include <string>

#include "evaluate/time/ring.h"
#include "evaluate/time/round_clock.h"
#include "problem/gemm.h"

namespace gemmsmith {

class TorchLibrary {
 public:
  // Opens nothing yet: torch takes a second and half a gigabyte of the GPU.
  TorchLibrary(int device, void* stream) : device_(device), stream_(stream) {}

  // Unavailable, with the reason and what to do, where there is no torch, it does not open, or it has no such product.
  Result<PutCall> Bind(const Gemm& gemm, const CallAddresses& addresses);
  // Once something was bound: "torch 2.11.0, cublaslt 13.1.0".
  std::string Version() const;

 private:
  struct Functions;
  Status Open();

  const int device_;
  void* const stream_;
  std::optional<Status> opened_;
  const Functions* functions_ = nullptr;
};

}  // namespace gemmsmith
