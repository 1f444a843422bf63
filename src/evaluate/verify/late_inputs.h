// Inputs that the launch before writes: a chained call must wait for them.
#pragma once

#include <memory>

#include "evaluate/verify/reference.h"

namespace gemmsmith {

class LateInputs {
 public:
  // Upper bound of their GPU memory.
  static uint64_t BytesFor(const Gemm& gemm);
  // `normal` outlives it. A constant B is the normal one.
  static Result<std::unique_ptr<LateInputs>> Create(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm,
                                                    const Inputs& normal);

  const Inputs& inputs() const { return inputs_; }
  // They hold NaN. Some 20 us after a chained call may have begun, they hold the normal values.
  Status Write() const;

 private:
  LateInputs(HarnessKernels& harness, const Inputs& normal) : harness_(harness), normal_(normal), inputs_(normal) {}

  HarnessKernels& harness_;
  const Inputs& normal_;
  GuardedMatrix a_, b_;
  Inputs inputs_;
};

}  // namespace gemmsmith
