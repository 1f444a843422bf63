// Products by their requests. Readers take no lock: a product is published by one store and never moves; a table that
// is full makes a larger one, and the old one stays for those who read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/product.h"

namespace gemmsmith {

class ProductTable {
 public:
  ProductTable();
  const Product* Find(const Request& request) const;  // null: not there
  // One call at a time. Each request once.
  void Add(std::shared_ptr<const Product> product);
  size_t size() const { return products_.size(); }

 private:
  struct Slots {
    explicit Slots(size_t count) : mask(count - 1), at(new std::atomic<const Product*>[count]()) {}
    void Put(const Product* product);
    const size_t mask;
    const std::unique_ptr<std::atomic<const Product*>[]> at;
  };
  std::atomic<const Slots*> slots_;
  std::vector<std::unique_ptr<Slots>> all_;  // the last one is in use
  std::vector<std::shared_ptr<const Product>> products_;
};

}  // namespace gemmsmith
