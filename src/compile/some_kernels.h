// Tests that compile many kernels take a share of them; GEMMSMITH_ONE_KERNEL_OF=1 takes all.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace gemmsmith {

inline size_t OneKernelOf(size_t usual) {
  const char* wanted = std::getenv("GEMMSMITH_ONE_KERNEL_OF");
  return wanted == nullptr ? usual : size_t(std::max(1, std::atoi(wanted)));
}

template <class T>
std::vector<T> OneOf(size_t many, const std::vector<T>& all, size_t first = 0) {
  std::vector<T> some;
  for (size_t i = first % many; i < all.size(); i += many) some.push_back(all[i]);
  return some;
}

}  // namespace gemmsmith
