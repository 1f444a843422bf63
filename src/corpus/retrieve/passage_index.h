// Passages found by the words that they share with a question (BM25).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gemmsmith {

// Keeps hashes of words, not texts.
class PassageIndex {
 public:
  // Passages are numbered from 0. A word of the title counts as several of the text.
  void Add(std::string_view title, std::string_view text);
  size_t size() const { return lengths_.size(); }

  struct Hit {
    uint32_t passage = 0;
    double score = 0;
  };
  // The best that `accepts` takes, best first; of equal ones the earlier first. Passages without a word of the question
  // are none.
  std::vector<Hit> Find(std::string_view question, size_t count,
                        const std::function<bool(uint32_t passage)>& accepts) const;

 private:
  struct Posting {
    uint32_t passage = 0;
    float times = 0;
  };
  std::unordered_map<uint64_t, std::vector<Posting>> postings_;  // by the hash of a word
  std::vector<float> lengths_;                                   // in words
  double all_lengths_ = 0;
};

}  // namespace gemmsmith
