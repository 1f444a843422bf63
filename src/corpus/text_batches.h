// Which texts make a batch: texts of similar length, so that few positions are padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"

namespace gemmsmith {

// Passes over all texts, each in its own random order. A pass leaves out as many random texts as do not fill a batch;
// fewer texts than a batch are repeated. A batch depends on its number alone, so that a stopped run goes on exactly.
class TextBatches {
 public:
  // `lengths` has at least one.
  TextBatches(std::vector<size_t> lengths, int rows, const Random& random);
  // The texts of batch `number`, from 0.
  std::vector<size_t> At(int64_t number);
  int64_t batches_a_pass() const { return batches_; }

 private:
  void Order(int64_t pass);

  const std::vector<size_t> lengths_;
  const size_t rows_;
  const Random random_;
  const int64_t batches_;
  std::optional<int64_t> pass_;  // the one that stands in `texts_` and `begins_`
  std::vector<size_t> texts_;    // by length
  std::vector<size_t> begins_;   // where each batch begins in them, in the order of batches
};

}  // namespace gemmsmith
