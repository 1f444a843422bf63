// A product of matrices by a kernel of libgemmsmith.so.
#pragma once

#include "tensor.h"

namespace gemmsmith::aten {

// True: it is on the current stream. False: nothing happened, and torch's own kernel has to do it.
bool MultiplyByOurs(const Tensor& out, const Tensor& a, const Tensor& b);

// The kernel that MultiplyByOurs takes, or why it takes none.
std::string Explain(const Tensor& out, const Tensor& a, const Tensor& b);

// Calls of MultiplyByOurs, by their answer.
struct Calls {
  uint64_t ours, passed_on;
};
Calls CountCalls();

}  // namespace gemmsmith::aten
