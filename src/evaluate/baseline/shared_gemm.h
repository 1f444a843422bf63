// A shared object with the free-form ABI (docs/design.md section 3), named by the user and therefore trusted: it is
// loaded into the judge itself.
#pragma once

#include <memory>
#include <string>

#include "evaluate/time/ring.h"
#include "problem/gemm.h"

namespace gemmsmith {

class SharedGemm {
 public:
  // InvalidArgument with what is wrong: it does not load, lacks `gemm` or its descriptor, or the descriptor says
  // nothing. It stays loaded for the life of the process.
  static Result<std::unique_ptr<SharedGemm>> Open(const std::string& path);

  const GemmKind& kind() const { return kind_; }
  // Why it cannot solve this problem; empty where it can.
  std::string Refuses(const Gemm& gemm) const;
  // One call. A failure names the error of the CUDA runtime.
  Status Call(const Shape& shape, const CallAddresses& addresses, void* workspace, size_t workspace_bytes,
              void* stream) const;

 private:
  using Function = int (*)(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,
                           size_t workspace_bytes, void* stream);
  Function function_ = nullptr;
  GemmKind kind_;
};

// "gemm tn f16 f32": layout, types, accumulation.
Result<GemmKind> ParseDescriptor(const std::string& text);

}  // namespace gemmsmith
