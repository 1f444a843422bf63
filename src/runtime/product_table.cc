#include "runtime/product_table.h"

#include "base/hash.h"

namespace gemmsmith {

namespace {

constexpr size_t kFirstSlots = 256;

size_t HashOf(const Request& request) {
  return size_t(HashBytes(std::string_view(reinterpret_cast<const char*>(&request), sizeof request)).low);
}

}  // namespace

ProductTable::ProductTable() {
  all_.push_back(std::make_unique<Slots>(kFirstSlots));
  slots_.store(all_.back().get(), std::memory_order_release);
}

void ProductTable::Slots::Put(const Product* product) {
  size_t slot = HashOf(product->request()) & mask;
  while (at[slot].load(std::memory_order_relaxed) != nullptr) slot = (slot + 1) & mask;
  at[slot].store(product, std::memory_order_release);
}

const Product* ProductTable::Find(const Request& request) const {
  const Slots& slots = *slots_.load(std::memory_order_acquire);
  for (size_t slot = HashOf(request) & slots.mask;; slot = (slot + 1) & slots.mask) {
    const Product* const product = slots.at[slot].load(std::memory_order_acquire);
    if (product == nullptr || product->request() == request) return product;
  }
}

void ProductTable::Add(std::shared_ptr<const Product> product) {
  products_.push_back(std::move(product));
  if (products_.size() * 2 <= all_.back()->mask) {
    all_.back()->Put(products_.back().get());
    return;
  }
  auto larger = std::make_unique<Slots>((all_.back()->mask + 1) * 2);
  for (const auto& one : products_) larger->Put(one.get());
  slots_.store(larger.get(), std::memory_order_release);
  all_.push_back(std::move(larger));
}

}  // namespace gemmsmith
