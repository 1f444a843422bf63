// A product of matrices by a kernel of libgemmsmith.so.
#pragma once

#include "tensor.h"

namespace gemmsmith::aten {

// What is read of a tensor is read once a call.
struct Operand {
  const Tensor& tensor;
  const View view;
  explicit Operand(const Tensor& of) : tensor(of), view(of) {}
};

// True: it is on the current stream. False: nothing happened, and torch's own kernel has to do it.
bool MultiplyByOurs(const Tensor& out, const Operand& a, const Operand& b);

// The kernel that MultiplyByOurs takes, or why it takes none.
std::string Explain(const Tensor& out, const Operand& a, const Operand& b);

// Calls of MultiplyByOurs, by their answer.
struct Calls {
  uint64_t ours, passed_on;
};
Calls CountCalls();

}  // namespace gemmsmith::aten
