// The same work for many items, on every core.
#pragma once

#include <cstddef>
#include <functional>

namespace gemmsmith {

// work(0) ... work(count - 1), in any order and several at once; returns when all are done.
void ForEachOnAllCores(size_t count, const std::function<void(size_t)>& work);

}  // namespace gemmsmith
