#include "constant_weights.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace gemmsmith::aten {

namespace {

using Ranges = std::vector<AddressRange>;

std::atomic<const Ranges*> current = nullptr;
std::mutex mutex;
// Never destroyed: kernels may be called until the process has ended.
std::vector<std::unique_ptr<const Ranges>>& all = *new std::vector<std::unique_ptr<const Ranges>>;

}  // namespace

void SetConstantWeights(const AddressRange* ranges, size_t count) {
  const std::lock_guard lock(mutex);
  all.push_back(std::make_unique<const Ranges>(ranges, ranges + count));
  current.store(count == 0 ? nullptr : all.back().get(), std::memory_order_release);
}

bool IsConstantWeight(const void* address) {
  const Ranges* const ranges = current.load(std::memory_order_acquire);
  if (ranges == nullptr) return false;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto after = std::upper_bound(ranges->begin(), ranges->end(), at,
                                      [](uintptr_t value, const AddressRange& range) { return value < range.begin; });
  return after != ranges->begin() && at < std::prev(after)->end;
}

}  // namespace gemmsmith::aten
