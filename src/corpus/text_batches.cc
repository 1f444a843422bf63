#include "corpus/text_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gemmsmith {

TextBatches::TextBatches(std::vector<size_t> lengths, int rows, const Random& random)
    : lengths_(std::move(lengths)),
      rows_(size_t(rows)),
      random_(random),
      batches_(std::max<int64_t>(1, int64_t(lengths_.size() / rows_))) {}

std::vector<size_t> TextBatches::At(int64_t number) {
  if (const int64_t pass = number / batches_; pass_ != pass) Order(pass);
  const auto begin = texts_.begin() + long(begins_[size_t(number % batches_)]);
  return {begin, begin + long(rows_)};
}

void TextBatches::Order(int64_t pass) {
  Random random = random_.Fork(fmt::format("pass {}", pass));
  texts_.resize(std::max(lengths_.size(), rows_));
  for (size_t i = 0; i < texts_.size(); ++i) texts_[i] = i % lengths_.size();
  random.Shuffle(texts_);
  texts_.resize(size_t(batches_) * rows_);
  std::stable_sort(texts_.begin(), texts_.end(), [&](size_t a, size_t b) { return lengths_[a] < lengths_[b]; });
  begins_.clear();
  for (int64_t batch = 0; batch < batches_; ++batch) begins_.push_back(size_t(batch) * rows_);
  random.Shuffle(begins_);
  pass_ = pass;
}

}  // namespace gemmsmith
